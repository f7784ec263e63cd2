package clientprobe

import (
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const sendsSession = "http/session-id"

var transportsHTTP = []Probe{
	{
		Info: probe.Info{
			ID: "http/post", Rows: []string{"26.basic.transports.http-008", "2511.basic.transports-019", "26.basic.transports.http-007", "2511.basic.transports-018", "26.basic.transports.index-002", "2511.basic.utilities.tasks-017"},
			Does: "Looks at the HTTP method of what carries messages.", Accepts: "POST.",
		},
		Needs: []string{needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			for _, e := range x.Exchanges() {
				if len(e.Body) == 0 {
					continue
				}
				if e.Message != nil {
					w.Saw(e.Message)
				}
				if e.Method != http.MethodPost {
					w.FaultOf([]probe.Blame{{Exchange: e}}, "a message was sent with %s", e.Method)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/accept", Rows: []string{"26.basic.transports.http-009", "2511.basic.transports-020"},
			Does: "Looks at Accept of each POST.", Accepts: "application/json and text/event-stream, both.",
		},
		Needs: []string{needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Posts() {
				w.Saw(m)
				accept := m.Exchange.Header.Values("Accept")
				if !hasMedia(accept, "application/json") || !hasMedia(accept, "text/event-stream") {
					w.Fault(m, "", "Accept does not list application/json and text/event-stream")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/accept-of-get", Rows: []string{"2511.basic.transports-042"},
			Does: "Looks at Accept of each GET.", Accepts: "text/event-stream.",
		},
		Needs: []string{needsHTTP, needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, e := range x.at(http.MethodGet) {
				w.Saw(nil)
				if !hasMedia(e.Header.Values("Accept"), "text/event-stream") {
					w.FaultOf([]probe.Blame{{Exchange: e}}, "Accept of the GET does not list text/event-stream")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/both-bodies", Rows: []string{"26.basic.transports.http-017", "2511.basic.transports-026"},
			Does:    "Answers everything with bodies in one scenario, and everything with streams in another.",
			Accepts: "That the client goes on after either.",
		},
		Needs: []string{needsHTTP}, In: []string{"json", "sse"},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Sent((*peer.Message).IsResult) {
				if asked := x.Log.RequestOf(m); asked != nil && !x.foreign(asked) {
					x.carriesOn(w, m, "this form of answer")
					return
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/comments", Rows: []string{"26.basic.transports.http-026"},
			Does: "Sends comments and events without data in streams.", Accepts: "That the client goes on.",
			After: []string{"http/both-bodies"},
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"sse"},
		Watch: func(x *X, w *probe.Watch) { x.carriesOn(w, x.Marked("comment"), "comments in a stream") },
	},
	{
		Info: probe.Info{
			ID: "http/no-resumption", Rows: []string{"26.basic.transports.http-027"},
			Does: "Breaks off a stream whose events have IDs.", Accepts: "No request with Last-Event-ID.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			if broken := x.Marked("broken"); broken != nil {
				w.Saw(broken)
			}
			for _, e := range x.Exchanges() {
				if e.Header.Get("Last-Event-ID") != "" {
					w.FaultOf([]probe.Blame{{Exchange: e}}, "the client tries to resume a stream, which this revision does not have")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/repeats-with-new-id", Rows: []string{"26.basic.transports.http-101"},
			Does: "Breaks off the response to a call.", Accepts: "That the call is not repeated, or with another ID.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"broken-stream"},
		Watch: func(x *X, w *probe.Watch) { x.sameID(w, "broken", "the call whose response broke off") },
	},
	{
		Info: probe.Info{
			ID: "http/listens-with-new-id", Rows: []string{"26.basic.patterns.index-005"},
			Does: "Breaks off the stream of a subscription.", Accepts: "A new subscriptions/listen, with another ID.",
		},
		Needs: []string{needsHTTP, needsStateless}, In: []string{"lost-subscription"},
		Watch: func(x *X, w *probe.Watch) {
			lost := x.Marked("lost")
			if lost == nil || len(x.After(lost, is("subscriptions/listen"))) == 0 {
				w.Nothing(probe.Unverified("the client did not subscribe again while the scenario lasted"))
				return
			}
			x.sameID(w, "lost", "the subscription whose stream was lost")
		},
	},
}

// ofIncoming points at a request of the client.
func ofIncoming(e *peer.Exchange) []probe.Blame {
	if e.Message != nil {
		return []probe.Blame{{Message: e.Message}}
	}
	return []probe.Blame{{Exchange: e}}
}

// at are the requests to the endpoint with an HTTP method.
func (x *X) at(method string) []*peer.Exchange {
	var all []*peer.Exchange
	for _, e := range x.Exchanges() {
		if e.Method == method && strings.HasPrefix(e.URL, x.Origin+pathMCP) {
			all = append(all, e)
		}
	}
	return all
}

// sameID fails if a request that was marked is repeated with its ID.
func (x *X) sameID(w *probe.Watch, mark, what string) {
	asked := x.Marked(mark)
	if asked == nil {
		return
	}
	w.Saw(asked)
	for _, m := range x.After(asked, is(asked.Method)) {
		if m.Text("params/name") == asked.Text("params/name") && string(m.ID) == string(asked.ID) {
			w.FaultOf([]probe.Blame{{Message: m, Pointer: "/id"}, {Message: asked}}, "%s was repeated with the same ID", what)
		}
	}
}
