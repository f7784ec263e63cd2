package clientprobe

import (
	"net/http"
	"strings"
	"time"

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
	{
		Info: probe.Info{
			ID: sendsSession, Rows: []string{"2511.basic.transports-064"},
			Does: "Looks for Mcp-Session-Id on all requests after initialize.", Accepts: "The ID that the server gave.",
		},
		Needs: []string{needsHTTP, needsSession},
		Watch: func(x *X, w *probe.Watch) {
			x.inSession(func(e *peer.Exchange, l *Line, greeting *peer.Message) {
				if greeting.Exchange.ResponseHeader.Get("Mcp-Session-Id") == "" {
					return
				}
				id := e.Header.Get("Mcp-Session-Id")
				w.Saw(e.Message)
				if id != l.Session {
					w.FaultOf(ofIncoming(e), "the request has %q as its Mcp-Session-Id, and not %q", id, l.Session)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "http/new-session-after-404", Rows: []string{"2511.basic.transports-068"},
			Does: "Answers a call with 404, as if the session had ended.", Accepts: "initialize without Mcp-Session-Id.",
		},
		Needs: []string{needsHTTP, needsSession}, In: []string{"expired"},
		Watch: func(x *X, w *probe.Watch) {
			expired := x.Marked("expired")
			if expired == nil {
				return
			}
			w.Nothing(probe.Unverified("the client ended with its session"))
			after := x.After(expired, nil)
			for _, m := range after {
				if m.Method != "initialize" {
					continue
				}
				w.Saw(m)
				if m.Exchange.Header.Get("Mcp-Session-Id") != "" {
					w.Fault(m, "", "initialize carries the ID of the session that has ended")
				}
				return
			}
			requests := x.After(expired, (*peer.Message).IsRequest)
			if len(requests) > 1 {
				w.FaultOf(probe.Of(expired, requests[0]), "the client goes on after 404, and opens no new session")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/delete", Rows: []string{"2511.basic.transports-069"},
			Does: "Looks for DELETE when the client ends.", Accepts: "One, with the ID of the session.",
		},
		Needs: []string{needsHTTP, needsSession}, In: []string{TheBase},
		Watch: func(x *X, w *probe.Watch) {
			for _, e := range x.at(http.MethodDelete) {
				if e.Header.Get("Mcp-Session-Id") != "" {
					w.Saw(nil)
					return
				}
			}
			requests := x.Requests()
			if !x.ByHand && !x.Ending.Late && x.Ending.Err == nil && len(requests) > 1 {
				w.FaultOf(probe.Of(requests[len(requests)-1]), "the client ended without DELETE for its session")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/delete-refused", Rows: []string{"2511.basic.transports-070"},
			Does: "Answers GET and DELETE with 405.", Accepts: "That the client does without.",
		},
		Needs: []string{needsHTTP, needsSession}, In: []string{"no-get"},
		Watch: func(x *X, w *probe.Watch) {
			for _, e := range x.at(http.MethodDelete) {
				w.Saw(e.Message)
			}
			for _, e := range x.at(http.MethodGet) {
				if e.Status == http.StatusMethodNotAllowed && len(x.Requests()) < 2 && len(x.Base.Requests()) > 1 && !x.ByHand {
					w.FaultOf([]probe.Blame{{Exchange: e}}, "after 405 for its GET the client went no further")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/version-header", Rows: []string{"2511.basic.transports-071", "2511.basic.lifecycle-016"},
			Does: "Looks for MCP-Protocol-Version on all requests after initialize.", Accepts: "A version.",
		},
		Needs: []string{needsHTTP, needsSession},
		Watch: func(x *X, w *probe.Watch) {
			x.inSession(func(e *peer.Exchange, _ *Line, _ *peer.Message) {
				w.Saw(e.Message)
				if e.Header.Get("MCP-Protocol-Version") == "" {
					w.FaultOf(ofIncoming(e), "the request has no MCP-Protocol-Version")
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "http/version-negotiated", Rows: []string{"2511.basic.transports-072"},
			Does: "Compares MCP-Protocol-Version with the answer to initialize.", Accepts: "The same version.",
		},
		Needs: []string{needsHTTP, needsSession},
		Watch: func(x *X, w *probe.Watch) {
			x.inSession(func(e *peer.Exchange, _ *Line, greeting *peer.Message) {
				if v := e.Header.Get("MCP-Protocol-Version"); v != "" {
					w.Saw(e.Message)
					if v != greeting.Text("result/protocolVersion") {
						w.FaultOf(ofIncoming(e), "the request says version %s, and %s was agreed on", v, greeting.Text("result/protocolVersion"))
					}
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "http/resumes", Rows: []string{"2511.basic.transports-056", "2506.basic.transports-002"},
			Does: "Breaks off a response after an event with an ID.", Accepts: "A GET with that ID as Last-Event-ID.",
		},
		Needs: []string{needsHTTP, needsSession}, In: []string{"resume"},
		Watch: func(x *X, w *probe.Watch) { x.watchResumption(w, false) },
	},
	{
		Info: probe.Info{
			ID: "http/polls", Rows: []string{"2511.basic.transports-029"},
			Does: "Ends the stream of a call before its answer.", Accepts: "A GET with the ID of the last event.",
		},
		Needs: []string{needsHTTP, needsSession, "polling"}, In: []string{"poll"},
		Watch: func(x *X, w *probe.Watch) { x.watchResumption(w, false) },
	},
	{
		Info: probe.Info{
			ID: "http/waits-before-polling", Rows: []string{"2511.basic.transports-031"},
			Does: "Ends a stream that says retry: 700, and looks when the client comes back.", Accepts: "Not before 700 ms.",
		},
		Needs: []string{needsHTTP, needsSession, "polling"}, In: []string{"poll", "resume"},
		Watch: func(x *X, w *probe.Watch) { x.watchResumption(w, true) },
	},
	{
		Info: probe.Info{
			ID: "http/falls-back-to-sse", Rows: []string{"2511.basic.transports-076", "2506.basic.transports-003", "26.basic.transports.http-099"},
			Does: "Refuses POSTs with 405, and opens the stream of HTTP+SSE on GET.", Accepts: "A GET for that stream after the POST.",
		},
		In: []string{"only-sse", "legacy-sse"},
		Watch: func(x *X, w *probe.Watch) {
			refused := x.Marked("refused")
			if refused == nil {
				return
			}
			if len(x.at(http.MethodGet)) > 0 {
				w.Saw(refused)
			} else if !x.ByHand {
				w.FaultOf(append(probe.Of(refused), probe.Blame{Exchange: refused.Exchange}), "the client did not try GET after 405")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "sse/posts-to-endpoint", Rows: []string{"2411.basic.transports-003", "2511.basic.transports-077"},
			Does: "Names an endpoint on the event stream, and looks where messages go.", Accepts: "That all go there.",
		},
		Needs: []string{needsWeb},
		Watch: func(x *X, w *probe.Watch) {
			if x.Transport != needsSSE && !x.Scenario.SSE || x.Scenario.Name == foreignEndpoint {
				return
			}
			opened := false
			for _, e := range x.Exchanges() {
				opened = opened || e.Method == http.MethodGet && len(e.Events) > 0
				if !opened || len(e.Body) == 0 {
					continue
				}
				w.Saw(e.Message)
				if !strings.Contains(e.URL, pathMessage+"?sessionId=session-") {
					w.FaultOf(ofIncoming(e), "the message was sent to %s, which is not the endpoint", e.URL)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "sse/foreign-endpoint", Rows: []string{"2411.basic.transports-005"},
			Does: "Names an endpoint at another origin.", Accepts: "That nothing is sent there.",
		},
		Needs: []string{needsSSE}, In: []string{foreignEndpoint},
		Watch: func(x *X, w *probe.Watch) {
			for _, e := range x.Log.Exchanges() {
				w.Saw(e.Message)
				if strings.HasPrefix(e.URL, x.Other) {
					w.FaultOf(ofIncoming(e), "a message was sent to another origin")
				}
			}
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

// inSession calls each with the requests that belong to a session: those after
// the answer to initialize. Sessions of versions that nobody speaks are left out.
func (x *X) inSession(each func(e *peer.Exchange, l *Line, greeting *peer.Message)) {
	if x.Scenario.Name == "unknown-version" || x.Scenario.SSE {
		return
	}
	for _, e := range x.Exchanges() {
		l := x.lineNumbered(e.Conn)
		if l == nil || !strings.HasPrefix(e.URL, x.Origin+pathMCP) {
			continue
		}
		var greeting *peer.Message
		for _, hello := range x.Requests("initialize") {
			if hello.Conn == e.Conn && hello.Exchange != e && hello.Exchange.Number < e.Number {
				greeting = x.Log.ResponseTo(hello)
			}
		}
		if greeting != nil && greeting.IsResult() && greeting.At <= e.At {
			each(e, l, greeting)
		}
	}
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

// watchResumption looks for the GET after a stream that broke off or ended: that
// it comes, or only when.
func (x *X) watchResumption(w *probe.Watch, when bool) {
	broken := x.Marked("broken")
	if broken == nil {
		return
	}
	w.Nothing(probe.Unverified("the client did not ask for the rest of the stream"))
	for _, e := range x.at(http.MethodGet) {
		if e.Header.Get("Last-Event-ID") != "event-1" {
			continue
		}
		w.Saw(broken)
		// A timer of the client may be a little fast.
		if when && e.At-broken.Exchange.Ended < 650*time.Millisecond {
			w.FaultOf([]probe.Blame{{Exchange: e}, {Exchange: broken.Exchange}}, "the client came back after %v, and not after 700 ms", e.At-broken.Exchange.Ended)
		}
		return
	}
	if !when && !x.ByHand && len(x.After(broken, nil)) > 0 {
		w.FaultOf([]probe.Blame{{Message: broken}, {Exchange: broken.Exchange}}, "the client did not ask for the rest of the stream")
	}
}
