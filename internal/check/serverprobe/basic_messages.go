package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// errorHasCode is the probe that fails if an error has no integer as its code.
const errorHasCode = "basic/error-code-is-integer"

var basicMessages = []Probe{
	{
		Info: probe.Info{
			ID: answersRequests, Rows: []string{"26.basic.index-001", "2511.basic-001", "26.basic.transports.index-002"},
			Does:    "Looks for requests that got no answer, although the conversation went on.",
			Accepts: "A response with the ID of each request.",
			After:   []string{"basic/response-has-id-of-request"},
		},
		Watch: watchAnswers,
	},
	{
		Info: probe.Info{
			ID: "basic/response-has-id-of-request", Rows: []string{"26.basic.index-008", "2511.basic-011"},
			Does:    "Compares the ID of each response with those of the requests in flight.",
			Accepts: "The ID of a request, of the same type and digits; none, or null, for a message that could not be read.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				switch {
				case x.Log.RequestOf(m) != nil:
					w.Saw(m)
				case m.IsResult() || m.ID != nil && string(m.ID) != "null":
					w.Fault(m, "/id", "no request in flight has this ID")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/unknown-method", Rows: []string{"2511.basic-004", "26.basic.index-019"},
			Does:    "Sends a request with a method that does not exist.",
			Accepts: "The error -32601.",
			Mend:    "Answer methods that you do not know with the error -32601.",
		},
		Run: func(x *X) probe.Finding {
			return wantError(x.Call("parley/no-such-method", nil), -32601)
		},
	},
	{
		Info: probe.Info{
			ID: errorHasCode, Rows: []string{"26.basic.index-018", "2511.basic-018"},
			Does:    "Looks at the code of each error.",
			Accepts: "An integer.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				w.Saw(m)
				if _, ok := m.Code(); !ok {
					w.Fault(m, "/error/code", "the code of the error is not an integer")
				}
			}
		},
	},
}

// watchAnswers looks for requests without an answer. One that was followed by
// the end of its connection, or that the checker gave up, proves nothing.
func watchAnswers(x *X, w *probe.Watch) {
	for _, m := range x.Log.Messages() {
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
		if x.expects(m) {
			w.Fault(m, "", "no answer came to this request")
		}
	}
}

// expects reports whether a request is one that any server answers in time: it
// was well-formed and is not a subscription, and nobody cancelled it.
func (x *X) expects(m *peer.Message) bool {
	if m.Method == "subscriptions/listen" || m.Text("jsonrpc") != "2.0" {
		return false
	}
	for _, other := range x.Log.Messages() {
		if other.Sent && other.Method == "notifications/cancelled" && other.Conn == m.Conn {
			if id, ok := other.Get("params/requestId"); ok && string(peer.Encode(id)) == string(m.ID) {
				return false
			}
		}
	}
	return true
}
