package serverprobe

import (
	"net/http"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

var httpStateless = []Probe{
	{
		Info: probe.Info{
			ID: "transports/no-requests-of-the-server", Rows: []string{"26.basic.transports.index-003", "26.basic.transports.http-021", "26.basic.transports.stdio-010", "26.basic.patterns.index-001", "26.architecture-006", "26.basic.patterns.mrtr-001"},
			Does:    "Looks for requests among the messages of the server.",
			Accepts: "None: questions to the client stand in results.",
			Mend:    "Ask the client by an InputRequiredResult.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				if isRequestOfServer(m) {
					w.Fault(m, "/method", "the server sent a request")
				} else if m.Bad == nil {
					w.Saw(m)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "transports/no-batches", Rows: []string{"26.basic.transports.http-013", "2506.changelog-001"},
			Does:    "Sends an array with a request in it.",
			Accepts: "Anything but an answer with a result.",
			Mend:    "Refuse arrays: a body is one message.",
		},
		Run: func(x *X) probe.Finding {
			if x.Stateless && x.Transport != needsHTTP {
				return probe.NotApplicable("the server is spoken to over %s", x.Transport)
			}
			one := x.simplest()
			one["id"] = "in-an-array"
			r := x.Main.Do(x.Ctx, peer.Frame([]any{one}))
			for _, m := range append(slices.Clone(r.Before), r.Response) {
				if m != nil && m.IsResult() {
					return probe.Fail(probe.Of(r.Sent, m), "the array was served as if there were batches")
				}
			}
			if r.Exchange != nil && r.Exchange.Status == 0 {
				return unanswered(r)
			}
			return probe.Pass(probe.OfReply(r)...)
		},
	},
	{
		Info: probe.Info{
			ID: "http/posted-response-is-refused", Rows: []string{"26.basic.transports.http-018"},
			Does:    "Posts a response to a request that the server never sent.",
			Accepts: "An error status.",
			Mend:    "Refuse responses: clients send none.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			r := x.Main.Do(x.Ctx, peer.Frame(map[string]any{"jsonrpc": "2.0", "id": "parley-check-none", "result": map[string]any{}}).With("MCP-Protocol-Version", x.Revision))
			switch {
			case r.Exchange == nil || r.Exchange.Status == 0:
				return unanswered(r)
			case r.Exchange.Status >= 400:
				return probe.Pass(probe.OfReply(r)...)
			case slices.ContainsFunc(r.Exchange.Messages, (*peer.Message).IsResult):
				return probe.Fail(probe.OfReply(r), "it was answered with a result")
			default:
				return probe.Unverified("it was dropped with status %d, which the page leaves open", r.Exchange.Status)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/get-and-delete-are-405", Rows: []string{"26.basic.transports.http-094"},
			Does:    "Sends GET and DELETE to a server without sessions.",
			Accepts: "Status 405.",
			Mend:    "Answer GET and DELETE with status 405.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			if x.serves(len(revision.All())) {
				return probe.NotApplicable("the server also has sessions")
			}
			f := wantStatus(x.Main.peek(&peer.Out{HTTPMethod: http.MethodGet}), http.StatusMethodNotAllowed)
			if f.Outcome != verdict.Pass {
				return f
			}
			return wantStatus(x.Main.peek(&peer.Out{HTTPMethod: http.MethodDelete}), http.StatusMethodNotAllowed)
		},
	},
	{
		Info: probe.Info{
			ID: "http/no-session-id", Rows: []string{"26.changelog-001"},
			Does:    "Looks at the headers of all answers to requests of this revision.",
			Accepts: "No Mcp-Session-Id.",
			Mend:    "Give requests of this revision no session.",
		},
		Needs: headersNeed,
		Watch: func(x *X, w *probe.Watch) {
			x.eachPost(func(e *peer.Exchange) {
				switch {
				case e.Message == nil || e.Message.Method == "initialize" || e.Header.Get("Mcp-Protocol-Version") != x.Revision: // of a session, if anything
				case e.ResponseHeader.Get("Mcp-Session-Id") != "":
					w.FaultOf(ofExchange(e), "the answer has a Mcp-Session-Id")
				default:
					w.Saw(e.Message)
				}
			})
		},
	},
	ignoredHeader("http/session-id-is-ignored", "26.basic.transports.http-095", "Mcp-Session-Id", "parley-check-none"),
	ignoredHeader("http/last-event-id-is-ignored", "26.basic.transports.http-096", "Last-Event-ID", "parley-check-1"),
	{
		Info: probe.Info{
			ID: "http/streams-do-not-resume", Rows: []string{"26.basic.transports.http-027"},
			Does:    "Sends GET with the Last-Event-ID of an event that came, or with an invented one.",
			Accepts: "Anything but messages.",
			Mend:    "Keep no events for clients that come back.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			id := "parley-check-1"
			x.eachPost(func(e *peer.Exchange) {
				for _, event := range e.Events {
					if event.ID != "" {
						id = event.ID
					}
				}
			})
			r := x.Main.Get(x.Ctx, http.Header{"Last-Event-Id": {id}, "Mcp-Protocol-Version": {x.Revision}})
			defer r.Stop()
			if r.Err != nil {
				return unanswered(r)
			}
			x.Main.headOf(r)
			if !r.Exchange.IsStream() {
				return probe.Pass(probe.Blame{Exchange: r.Exchange})
			}
			if m := x.Main.Await(x.Ctx, 0, x.Main.Patience.QuietOrDefault(), func(m *peer.Message) bool { return m.Exchange == r.Exchange }); m != nil {
				return probe.Fail([]probe.Blame{{Message: m, Exchange: r.Exchange}}, "a stream was resumed")
			}
			return probe.Pass(probe.Blame{Exchange: r.Exchange})
		},
	},
	{
		Info: probe.Info{
			ID: "http/streams-are-not-buffered", Rows: []string{"26.basic.transports.http-024"},
			Does:    "Looks at the headers of each event stream.",
			Accepts: "X-Accel-Buffering: no.",
			Mend:    "Set X-Accel-Buffering: no on event streams.",
		},
		Needs: headersNeed,
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no answer came as an event stream"))
			x.eachPost(func(e *peer.Exchange) {
				if !e.IsStream() {
					return
				}
				w.Saw(e.Message)
				if v := e.ResponseHeader.Get("X-Accel-Buffering"); v != "no" {
					w.FaultOf(ofExchange(e), "the X-Accel-Buffering of an event stream is %q", v)
				}
			})
		},
	},
}

// ignoredHeader is the probe of a header of older revisions.
func ignoredHeader(id, row, header, value string) Probe {
	return Probe{
		Info: probe.Info{
			ID: id, Rows: []string{row},
			Does:    "Sends a request with " + header + ", a header of older revisions.",
			Accepts: "A result; of a server that also has sessions, anything.",
			Mend:    "Ignore " + header + " on requests of this revision.",
		},
		Needs: headersNeed,
		Run: func(x *X) probe.Finding {
			f := wantResult(x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With(header, value)))
			if f.Outcome == verdict.Fail && x.serves(len(revision.All())) {
				return probe.NotApplicable("the server also has sessions")
			}
			return f
		},
	}
}
