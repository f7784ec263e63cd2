package serverprobe

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// Probes that others name.
const (
	answersRequests = "basic/answers-requests"           // fails if requests get no answers
	answersWithID   = "basic/response-has-id-of-request" // fails if results have another ID
	errorsWithID    = "basic/error-has-id-of-request"    // fails if errors have another ID
	hasOutcome      = "basic/has-result-or-error"        // fails if an answer says nothing
	notBoth         = "basic/not-result-and-error"       // fails if an answer says both
)

// basePages are the probes of messages, versions and standard streams.
var basePages = [][]Probe{
	basicMessages, basicErrors, basicRequests, basicState, batches, meta, icons, schemaProbes,
	lifecycle, pings, discovery, versioning, standardStreams,
}

// basicMessages judge the form of messages, and who answers what.
var basicMessages = []Probe{
	{
		Info: probe.Info{
			ID: answersRequests, Rows: []string{"26.basic.patterns.index-003", "26.basic.index-001", "26.basic.transports.index-002", "2511.basic-001"},
			Does:    "Looks for requests that got no answer, although the conversation went on.",
			Accepts: "A response with the ID of each request; those that run a tool, a prompt or a resource may take longer than the check waits.",
			Mend:    "Answer each request, if need be with an error.",
			After:   []string{answersWithID, errorsWithID, hasOutcome, oneLine, onlyMessages, jsonrpcMember},
		},
		Watch: watchAnswers,
	},
	{
		Info: probe.Info{
			ID: "basic/answers-once", Rows: []string{"26.basic.patterns.index-003", "2511.basic-001"}, General: true,
			Does:    "Counts the answers to each request.",
			Accepts: "No more than one.",
			After:   []string{"http/get-carries-no-answers"},
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				switch asked := x.Log.RequestOf(m); {
				case asked == nil || string(m.ID) == "null" || x.isAmbiguous(asked):
				case x.Log.ResponseTo(asked) != m:
					w.FaultOf(probe.Of(asked, x.Log.ResponseTo(asked), m), "the request was answered more than once")
				default:
					w.Saw(m)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: answersWithID, Rows: []string{"26.basic.index-008", "2511.basic-011", "26.schema-023"}, General: true,
			Does:    "Compares the ID of each result with those of the requests in flight, after sending numbers and texts of many kinds as IDs.",
			Accepts: "The ID of a request, of the same type and digits.",
			Mend:    "Repeat the id of the request as it came: a string stays a string, a number a number.",
			After:   []string{"http/get-carries-no-answers"},
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResult) {
				if x.Log.RequestOf(m) != nil {
					w.Saw(m)
				} else {
					w.Fault(m, "/id", "no request in flight has this ID")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: errorsWithID, Rows: []string{"26.basic.index-016", "2511.basic-016"},
			Does:    "Compares the ID of each error with those of the requests in flight.",
			Accepts: "The ID of a request; none, or null, if the message had none that could be read.",
			Mend:    "Repeat the id of the request in its error.",
			After:   []string{answersNoNotification},
		},
		Watch: watchErrorIDs,
	},
	{
		Info: probe.Info{
			ID: "basic/ids-of-all-kinds", Rows: []string{"26.basic.index-008", "2511.basic-011"},
			Does:    "Sends requests whose IDs are zero, negative, large, empty, and beyond ASCII.",
			Accepts: "Answers with these IDs.",
			After:   []string{answersWithID, answersRequests, errorsWithID},
		},
		Run: sendIDs,
	},
	{
		Info: probe.Info{
			ID: hasOutcome, Rows: []string{"26.basic.index-009", "2511.basic-012", "2511.basic-013"},
			Does:    "Looks for responses that have neither a result nor an error.",
			Accepts: "One of the two.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				switch {
				case m.IsResponse():
					w.Saw(m)
				case m.Has("id") && !m.Has("method") && !m.Has("params"):
					w.Fault(m, "", "the response has no result, and no error")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: notBoth, Rows: []string{"2511.basic-014", "26.basic.index-002", "2511.basic-003"},
			Does:    "Looks for responses that have both a result and an error.",
			Accepts: "One of the two.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				w.Saw(m)
				if isBoth(m) {
					w.Fault(m, "", "the response has a result, and an error as well")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: jsonrpcMember, Rows: []string{"26.basic.index-002", "2511.basic-003"},
			Does:    "Looks at the member jsonrpc of all messages.",
			Accepts: `The string "2.0".`,
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				if _, ok := m.Value.(map[string]any); !ok {
					continue
				}
				w.Saw(m)
				if v, _ := m.Get("jsonrpc"); v != "2.0" {
					w.Fault(m, "/jsonrpc", `jsonrpc is not "2.0"`)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: answersNoNotification, Rows: []string{"26.basic.index-030", "2511.basic-020"},
			Does:    "Sends notifications that nobody knows, and one that comes too late.",
			Accepts: "No message that answers them; over HTTP a body is looked at by the rules of the transport.",
			Mend:    "Ignore notifications that you do not know, or can't handle.",
		},
		Run: notifyOddly,
	},
	{
		Info: probe.Info{
			ID: "basic/notification-without-id", Rows: []string{"26.basic.index-031", "2511.basic-021"},
			Does:    "Looks for an ID in notifications of the server.",
			Accepts: "None.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				switch {
				case m.IsNotification():
					w.Saw(m)
				case m.IsRequest() && isNote(m.Method):
					w.Fault(m, "/id", "the notification has an ID")
				}
			}
			w.Nothing(probe.NotApplicable("the server sent no notifications"))
		},
	},
}

const (
	jsonrpcMember         = "basic/jsonrpc-member"
	answersNoNotification = "basic/notification-is-not-answered"
)

// isNote reports whether a method is one of notifications.
func isNote(method string) bool { return strings.HasPrefix(method, "notifications/") }

// isFraction reports whether the JSON of a number is that of no integer.
func isFraction(number []byte) bool { return bytes.ContainsAny(number, ".eE") }

// watchAnswers looks for requests without an answer. What was sent over a
// connection that the checker has ended, or made the server end, proves nothing.
func watchAnswers(x *X, w *probe.Watch) {
	abused := map[int]bool{}
	for _, m := range x.Log.Messages() {
		if m.Sent && !isWellFormed(m) {
			abused[m.Conn] = true
		}
		if !m.Sent || !m.IsRequest() || m.Batch != nil {
			continue
		}
		if answer := x.Log.ResponseTo(m); answer != nil {
			w.Saw(answer)
			continue
		}
		if e := m.Exchange; e != nil && (e.Aborted || !e.Done || e.Status >= 300) {
			continue
		}
		if x.expects(m) && !x.isPending(m) && !abused[m.Conn] && !x.left[m.Conn] && !x.isBlamed(m) {
			w.Fault(m, "", "no answer came to this request")
		}
	}
}

// isWellFormed reports whether a message of the checker is one that no server
// may take offence at.
func isWellFormed(m *peer.Message) bool {
	return m.Batch != nil || m.IsResponse() || m.Bad == nil && m.Text("jsonrpc") == "2.0" && m.Method != "" && (m.ID == nil || m.ID[0] == '"' || m.ID[0] == '-' || m.ID[0] >= '0' && m.ID[0] <= '9')
}

// isPending reports whether the answer to a request may still come: it runs a
// tool, a prompt or a resource, which may take as long as they like, and may ask a
// person. The end of an HTTP response, or of the server's process, leaves no place
// for it.
func (x *X) isPending(m *peer.Message) bool {
	for _, c := range x.conns {
		if c.Number == m.Conn && c.Closed() && !x.left[m.Conn] {
			return false
		}
	}
	row := mcp.MethodNamed(m.Method)
	return row != nil && row.MayAsk && x.Transport != needsHTTP
}

// expects reports whether a request is one that any server answers in time: it
// was well-formed and is not a subscription, nobody cancelled it, and no other
// has its ID.
func (x *X) expects(m *peer.Message) bool {
	if m.Method == "subscriptions/listen" || !isWellFormed(m) || x.isAmbiguous(m) {
		return false
	}
	return !x.gaveUp(m, x.Log.Len())
}

// gaveUp reports whether the checker had cancelled a request of its own before
// the message with a number.
func (x *X) gaveUp(request *peer.Message, before int) bool {
	for _, m := range x.Log.Messages() {
		if !m.Sent || m.Method != mcp.NoteCancelled || m.Conn != request.Conn || m.Number > before {
			continue
		}
		if id, ok := m.Get("params/requestId"); ok && string(peer.Encode(id)) == string(request.ID) {
			return true
		}
	}
	return false
}

// isAmbiguous reports whether the checker has sent two requests with one ID.
func (x *X) isAmbiguous(m *peer.Message) bool {
	for _, other := range x.Log.Messages() {
		if other != m && other.Sent && other.Conn == m.Conn && other.IsRequest() && string(other.ID) == string(m.ID) {
			return true
		}
	}
	return false
}

// watchErrorIDs looks for errors that do not say what they are of. Over HTTP it
// shows in what they come.
func watchErrorIDs(x *X, w *probe.Watch) {
	for _, m := range x.Received((*peer.Message).IsError) {
		anonymous := m.ID == nil || string(m.ID) == "null"
		switch {
		case x.Log.RequestOf(m) != nil:
			w.Saw(m)
		case !anonymous:
			w.Fault(m, "/id", "no request in flight has this ID")
		case x.couldName(m):
			w.Fault(m, "/id", "the error does not have the ID of its request")
		}
	}
}

// couldName reports whether an error without an ID is of a request whose ID could
// be read: the only one without an answer, on an ordered connection.
func (x *X) couldName(m *peer.Message) bool {
	if e := m.Exchange; e != nil && x.Transport == needsHTTP {
		return e.Status < 300 && e.Message != nil && e.Message.IsRequest() && isWellFormed(e.Message)
	}
	var waiting *peer.Message
	for _, other := range x.Log.Messages() {
		if other == m {
			break
		}
		if !other.Sent || other.Conn != m.Conn || other.Batch != nil {
			continue
		}
		if !isWellFormed(other) || other.IsNotification() && other.Method != "notifications/initialized" {
			waiting = nil // it may be of this one
			continue
		}
		if answer := x.Log.ResponseTo(other); other.IsRequest() && answer == nil {
			waiting = other
		} else if other.IsRequest() {
			waiting = nil
		}
	}
	return waiting != nil
}

// ofRevision reports whether a response answers a request in the form of the
// revision: in stateless revisions the checker also sends older ones.
func (x *X) ofRevision(m *peer.Message) bool {
	asked := x.answered(m)
	return !x.Stateless || asked != nil && versionOf(asked) == x.Revision
}

// harmless is a request that any server answers.
func (x *X) harmless() map[string]any {
	if x.Stateless {
		return x.Request("server/discover", nil)
	}
	return x.Request("ping", nil)
}

func sendIDs(x *X) probe.Finding {
	var seen []probe.Blame
	for _, id := range []any{json.Number("0"), json.Number("-7"), json.Number("9007199254740991"), "", "parley-1", "Grüße ✓ 1"} {
		m := x.harmless()
		m["id"] = id
		r := x.Do(m)
		if r.Response == nil {
			return unanswered(r)
		}
		seen = append(seen, probe.Of(r.Sent, r.Response)...)
	}
	return probe.Pass(seen...)
}

// notifyOddly sends notifications that no server expects.
func notifyOddly(x *X) probe.Finding {
	from := x.Log.Len()
	unknown := x.Main.Notify("notifications/parley-unknown", nil)
	late := x.Do(x.Main.Notification("notifications/cancelled", map[string]any{"requestId": "parley-unknown", "reason": "check"}))
	for _, came := range x.Log.Since(from) {
		elsewhere := x.Transport == needsHTTP && came.Exchange != unknown.Exchange && came.Exchange != late.Exchange
		if came.Sent || came.Conn != x.Main.Number || elsewhere || !came.IsResponse() || x.Log.RequestOf(came) != nil {
			continue
		}
		if late.Exchange != nil {
			return probe.Unverified("the notification got a body over HTTP, which has rules of its own")
		}
		return probe.Fail(probe.Of(unknown.Sent, late.Sent, came), "the notification was answered")
	}
	return probe.Pass(probe.Of(unknown.Sent, late.Sent)...)
}
