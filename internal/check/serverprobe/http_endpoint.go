package serverprobe

import (
	"bytes"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

const originValidated = "http/origin-is-validated"

var httpEndpoint = []Probe{
	{
		Info: probe.Info{
			ID: "http/endpoint-takes-post", Rows: []string{"26.basic.transports.http-001", "2511.basic.transports-012", "2411.basic.transports-001"},
			Does:    "Looks at the status of each POST to the endpoint.",
			Accepts: "Any status but 405.",
			Mend:    "Let the one endpoint take the POST of every message.",
		},
		Watch: func(x *X, w *probe.Watch) {
			if x.Transport == needsStdio {
				w.Nothing(probe.NotApplicable("the server is spoken to over stdio"))
			}
			x.eachPost(func(e *peer.Exchange) {
				if e.Status == http.StatusMethodNotAllowed {
					w.FaultOf(ofExchange(e), "a POST was answered with status 405")
				} else if e.Status < 300 {
					w.Saw(e.Message)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: originValidated, Rows: []string{"26.basic.transports.http-002", "2511.basic.transports-013"},
			Does:    "Sends a request, and opens a stream, with the Origin header of a foreign page.",
			Accepts: "A refusal.",
			Mend:    "Compare the Origin header with the origins that may use the server, and refuse all others with status 403.",
		},
		Run: foreignOrigin,
	},
	{
		Info: probe.Info{
			ID: "http/foreign-origin-is-403", Rows: []string{"26.basic.transports.http-003", "2511.basic.transports-014"},
			Does:    "Sends a request with the Origin header of a foreign page.",
			Accepts: "Status 403.",
			Mend:    "Refuse foreign origins with status 403.",
			After:   []string{originValidated},
		},
		Needs: []string{needsHTTP},
		Run: func(x *X) probe.Finding {
			r := x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("Origin", foreign))
			if wantRefusal(r).Outcome == verdict.Fail {
				return probe.Unverified("the request was not refused").Explained(originValidated)
			}
			return wantStatus(r, http.StatusForbidden)
		},
	},
	{
		Info: probe.Info{
			ID: "http/refusal-is-an-error-without-id", Rows: []string{"26.basic.transports.http-004", "26.basic.transports.http-102", "2511.basic.transports-015", "2511.basic.transports-024"},
			Does:    "Looks at the bodies of refusals: of a foreign origin, of notifications.",
			Accepts: "Anything that is no JSON-RPC message, or an error; after a notification, one without an ID or with null.",
			After:   []string{originValidated},
		},
		Needs: []string{needsHTTP},
		Watch: watchRefusals,
	},
	{
		Info: probe.Info{
			ID: "http/accepted-notification-is-202", Rows: []string{"26.basic.transports.http-014", "2511.basic.transports-022"},
			Does:    "Posts a notification, and looks at the answers to all notifications and responses that were posted.",
			Accepts: "Status 202 without a body, or an error status.",
			Mend:    "Answer what needs no answer with status 202 and an empty body.",
		},
		Needs: []string{needsHTTP},
		Run:   postNotification,
	},
	{
		Info: probe.Info{
			ID: "http/refused-notification-is-error-status", Rows: []string{"26.basic.transports.http-015", "2511.basic.transports-023"},
			Does:    "Posts a notification whose params are text.",
			Accepts: "An error status; or 202, of a server that accepts it.",
			Mend:    "Answer a notification that can't be accepted with an HTTP error status, such as 400.",
		},
		Needs: []string{needsHTTP},
		Run: func(x *X) probe.Finding {
			bad := map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": "text"}
			r := x.Main.Do(x.Ctx, peer.Frame(bad).With("MCP-Protocol-Version", x.Revision))
			switch {
			case r.Exchange == nil || r.Exchange.Status == 0:
				return unanswered(r)
			case r.Exchange.Status >= 400:
				return probe.Pass(probe.OfReply(r)...)
			case slices.ContainsFunc(r.Exchange.Messages, (*peer.Message).IsError):
				return probe.Fail(append(probe.Of(r.Exchange.Messages...), probe.OfReply(r)...), "it was refused with an error, but with status %d", r.Exchange.Status)
			default:
				return probe.Unverified("the server accepts a notification whose params are text")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/answers-are-json-or-events", Rows: []string{"26.basic.transports.http-016", "2511.basic.transports-025", "2503.basic.transports-004"},
			Does:    "Looks at the Content-Type of each answer to a request.",
			Accepts: "application/json or text/event-stream, with a status of success.",
			Mend:    "Say with Content-Type whether the answer is application/json or text/event-stream.",
		},
		Needs: []string{needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			x.eachPost(func(e *peer.Exchange) {
				if e.Status >= 300 || !asksFor(e.Message) || !isWhole(e.Message) {
					return
				}
				if t := peer.MediaType(e.ResponseHeader); t != "application/json" && t != "text/event-stream" {
					w.FaultOf(ofExchange(e), "a request was answered with status %d and the Content-Type %q", e.Status, t)
					return
				}
				w.Saw(e.Message)
			})
		},
	},
	{
		Info: probe.Info{
			ID: "transports/utf-8", Rows: []string{"26.basic.transports.index-001", "2511.basic.transports-001"},
			Does:    "Looks at the bytes of each message.",
			Accepts: "UTF-8.",
			Mend:    "Encode messages in UTF-8.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				switch {
				case m.Batch != nil || m.Cut > 0:
				case utf8.Valid(m.Raw):
					w.Saw(m)
				default:
					w.Fault(m, "", "the message is not UTF-8")
				}
			}
		},
	},
}

// asksFor reports whether a message is a request, or a batch with one.
func asksFor(m *peer.Message) bool {
	if m == nil {
		return false
	}
	for _, item := range m.Items {
		if item.IsRequest() {
			return true
		}
	}
	return m.IsRequest()
}

// isWhole reports whether there is nothing wrong with the form of a message that
// was sent.
func isWhole(m *peer.Message) bool {
	params, has := m.Get("params")
	_, object := params.(map[string]any)
	return len(m.Items) > 0 || isWellFormed(m) && (object || !has)
}

func foreignOrigin(x *X) probe.Finding {
	if x.Transport == needsStdio {
		return probe.NotApplicable("the server is spoken to over stdio")
	}
	var seen []probe.Blame
	r := x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("Origin", foreign))
	switch {
	case r.Exchange == nil || r.Exchange.Status == 0:
		return unanswered(r)
	case r.Exchange.Status < 400:
		return probe.Fail(probe.OfReply(r), "it takes requests of pages from anywhere: that of %s was answered with status %d", foreign, r.Exchange.Status)
	}
	seen = append(seen, probe.OfReply(r)...)
	get := x.Main.peek((&peer.Out{HTTPMethod: http.MethodGet, URL: x.target.Site.URL}).With("Origin", foreign))
	if s := get.Exchange; s != nil && s.Status != 0 && s.Status < 300 && s.IsStream() {
		return probe.Fail(probe.OfReply(get), "it opens streams for pages from anywhere, such as %s", foreign)
	}
	return probe.Pass(seen...)
}

func watchRefusals(x *X, w *probe.Watch) {
	w.Nothing(probe.Unverified("no foreign origin and no notification was refused"))
	x.eachPost(func(e *peer.Exchange) {
		quiet := e.Message != nil && e.Message.Bad == nil && !asksFor(e.Message)
		if e.Status < 400 || !quiet && e.Header.Get("Origin") == "" {
			return
		}
		w.Saw(e.Message)
		for _, m := range e.Messages {
			switch {
			case m.Bad != nil:
			case !m.IsError():
				w.FaultOf([]probe.Blame{{Message: m, Exchange: e}}, "the body of the refusal is a message, but no error")
			case quiet && m.ID != nil && string(m.ID) != "null":
				w.FaultOf([]probe.Blame{{Message: m, Exchange: e, Pointer: "/id"}}, "the error has an ID, but nothing that was sent had one")
			}
		}
	})
}

// postNotification looks at all that was posted and wants no answer.
func postNotification(x *X) probe.Finding {
	x.Main.Do(x.Ctx, peer.Frame(x.Main.Notification("notifications/cancelled", map[string]any{"requestId": "parley-check-none"})))
	w := &probe.Watch{}
	x.eachPost(func(e *peer.Exchange) {
		m := e.Message
		if m == nil || m.Bad != nil || len(m.Items) > 0 || e.Status >= 300 || !isWhole(m) || !m.IsNotification() && !m.IsResponse() {
			return
		}
		body := len(bytes.TrimSpace(e.Text)) > 0 || len(e.Events) > 0
		switch {
		case e.Status != http.StatusAccepted:
			w.FaultOf(ofExchange(e), "it was accepted with status %d, not 202", e.Status)
		case body:
			w.FaultOf(ofExchange(e), "it was accepted with status 202, but with a body")
		default:
			w.Saw(m)
		}
	})
	w.Nothing(probe.Unverified("the server accepted no notification"))
	return w.Finding()
}
