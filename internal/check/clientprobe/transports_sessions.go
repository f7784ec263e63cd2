package clientprobe

import (
	"net/http"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// Sessions over HTTP, and streams that are resumed in them.
var transportsSessions = []Probe{
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
			Does: "Breaks off a response after an event with an ID.", Accepts: "A GET with that ID as Last-Event-ID; or none, of a client that does not wish to resume.",
		},
		Needs: []string{needsHTTP, needsSession}, In: []string{"resume"},
		Watch: func(x *X, w *probe.Watch) { x.watchResumption(w, false) },
	},
	{
		Info: probe.Info{
			ID: "http/polls", Rows: []string{"2511.basic.transports-029"},
			Does: "Ends the stream of a call before its answer.", Accepts: "A GET with the ID of the last event.",
		},
		Needs: []string{needsHTTP, needsSession, "polling"}, In: []string{scenarioPoll},
		Watch: func(x *X, w *probe.Watch) { x.watchResumption(w, false) },
	},
	{
		Info: probe.Info{
			ID: "http/waits-before-polling", Rows: []string{"2511.basic.transports-031"},
			Does: "Ends a stream that says retry: 700, and looks when the client comes back.", Accepts: "Not before 700 ms.",
		},
		Needs: []string{needsHTTP, needsSession, "polling"}, In: []string{scenarioPoll, "resume"},
		Watch: func(x *X, w *probe.Watch) { x.watchResumption(w, true) },
	},
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
	if !when && !x.ByHand && len(x.After(broken, nil)) > 0 && x.Scenario.Name == scenarioPoll {
		w.FaultOf([]probe.Blame{{Message: broken}, {Exchange: broken.Exchange}}, "the client did not ask for the rest of the stream")
	}
	for n, e := range x.at(http.MethodGet) {
		same := e.Header.Get("Mcp-Session-Id") == broken.Exchange.Header.Get("Mcp-Session-Id")
		if !when && same && n > 0 && e.At >= broken.Exchange.Ended {
			w.FaultOf([]probe.Blame{{Exchange: e}, {Exchange: broken.Exchange}}, "the client opens another stream, and does not say where the last one broke off")
		}
	}
}
