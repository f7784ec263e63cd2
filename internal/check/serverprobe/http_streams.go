package serverprobe

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// The tokens of calls that report progress on streams that are compared.
const (
	firstToken  = "parley-check-first"  //nolint:gosec // names a call's progress
	secondToken = "parley-check-second" //nolint:gosec // likewise
)

// tokenPath is where a request has its progress token.
const tokenPath = "params/_meta/progressToken" //nolint:gosec // a place in a message

var httpStreams = []Probe{
	{
		Info: probe.Info{
			ID: "http/stream-is-of-its-request", Rows: []string{"26.basic.transports.http-020", "2511.basic.transports-034"},
			Does:    "Runs two calls that report progress at a time, and looks at the streams of all requests.",
			Accepts: "On each stream only progress of its own request.",
			Mend:    "Send notifications about a request on the stream of that request.",
		},
		Needs: []string{needsHTTP},
		Run:   twoStreams,
	},
	{
		Info: probe.Info{
			ID: "http/answer-ends-the-stream", Rows: []string{"26.basic.transports.http-022", "2511.basic.transports-036"},
			Does:    "Calls a tool that is answered by an event stream, and waits until the stream ends.",
			Accepts: "An end soon after the answer, and nothing between.",
			Mend:    "End the event stream once the answer has been sent.",
		},
		Needs: []string{needsHTTP},
		Run: func(x *X) probe.Finding {
			calls := x.reporting()
			if len(calls) == 0 {
				return noReports()
			}
			r := x.report(x.Main, calls[len(calls)-1], firstToken)
			defer r.Stop()
			if r.Wait(x.Ctx); r.Response == nil || r.Response.Exchange != r.Exchange || !r.Exchange.IsStream() {
				return probe.Unverified("the answer did not come on an event stream").Explained(answersRequests)
			}
			if !r.Ended(x.Ctx) {
				return probe.Fail(probe.OfReply(r), "the event stream goes on after the answer")
			}
			if last := r.Exchange.Messages[len(r.Exchange.Messages)-1]; last != r.Response {
				return probe.Fail(probe.Of(r.Response, last), "a message came after the answer")
			}
			return probe.Pass(probe.OfReply(r)...)
		},
	},
	{
		Info: probe.Info{
			ID: "http/subscriptions-carry-changes-only", Rows: []string{"26.basic.transports.http-023", "26.server.utilities.logging-008"},
			Does:    "Listens for changes while a tool reports progress and logs.",
			Accepts: "No progress and no log messages on the stream of the subscription.",
			Mend:    "Send progress and log messages on the stream of the request that they are about.",
		},
		Needs: headersNeed,
		Run:   listenMeanwhile,
	},
	{
		Info: probe.Info{
			ID: "http/nothing-for-cancelled-requests", Rows: []string{"26.basic.transports.http-030"},
			Does:    "Breaks off the stream of a call that reports progress, goes on with other requests, and looks at what comes.",
			Accepts: "Nothing more about the call, on any stream.",
			Mend:    "Send nothing for a request whose stream was closed.",
		},
		Needs: headersNeed,
		Run:   breakOff,
	},
	{
		Info: probe.Info{
			ID: "http/stream-is-primed", Rows: []string{"2511.basic.transports-027"},
			Does:    "Looks at the first event of each stream that answers a request.",
			Accepts: "An event with an ID and without data.",
			Mend:    "Begin event streams with an event that has an ID and empty data.",
		},
		Needs: []string{needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no answer came as an event stream"))
			x.eachPost(func(e *peer.Exchange) {
				if !e.IsStream() || len(e.Events) == 0 {
					return
				}
				w.Saw(e.Message)
				if first := e.Events[0]; first.ID == "" || len(first.Data) > 0 {
					w.FaultOf(ofExchange(e), "the first event has no ID, or has data")
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "http/retry-before-early-end", Rows: []string{"2511.basic.transports-030"},
			Does:    "Looks for streams that the server ended before the answer.",
			Accepts: "An event with a retry field before the end.",
			Mend:    "Say with a retry field when to come back before you end a stream early.",
		},
		Needs: []string{needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.NotApplicable("the server ended no stream before the answer"))
			for _, e := range x.requestStreams() {
				if !x.endedEarly(e) || !x.expects(e.Message) {
					continue
				}
				w.Saw(e.Message)
				if !slices.ContainsFunc(e.Events, func(event *peer.Event) bool { return event.Retry != "" }) {
					w.FaultOf(ofExchange(e), "the stream ended before the answer, and no event has a retry field")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/stream-lasts-until-the-answer", Rows: []string{"2506.basic.transports-001", "2511.basic.transports-032"},
			Does:    "Looks for event streams that the server ended before the answer.",
			Accepts: "None; from 2025-11-25 on, those that are resumed and then have the answer.",
			Mend:    "Keep the event stream of a request open until its answer has been sent.",
			After:   []string{answersRequests},
		},
		Needs: []string{needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no answer came as an event stream"))
			for _, e := range x.requestStreams() {
				answer := x.Log.ResponseTo(e.Message)
				switch {
				case answer != nil && (answer.Exchange == e || x.Facts.Polling):
					w.Saw(e.Message)
				case x.endedEarly(e) && x.expects(e.Message):
					w.FaultOf(ofExchange(e), "the event stream ended before the answer")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/get-is-stream-or-405", Rows: []string{"2511.basic.transports-043"},
			Does:    "Opens a stream with GET in a session.",
			Accepts: "text/event-stream, or status 405.",
			Mend:    "Answer GET with an event stream, or with status 405.",
		},
		Needs: []string{needsHTTP, needsSession},
		Run: func(x *X) probe.Finding {
			c, err := x.Open(nil)
			if err != nil {
				return probe.Unverified("no session could be opened: %v", err).Explained(answersRequests)
			}
			x.Main.headOf(c.Stream)
			e := c.Stream.Exchange
			switch {
			case e == nil || e.Status == 0:
				// Some servers send the head with the first event.
				return probe.Unverified("no response to GET began in time")
			case e.Status < 300 && e.IsStream(), e.Status == http.StatusMethodNotAllowed:
				return probe.Pass(probe.Blame{Exchange: e})
			default:
				return probe.Fail([]probe.Blame{{Exchange: e}}, "GET was answered with status %d and the Content-Type %q", e.Status, peer.MediaType(e.ResponseHeader))
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/get-carries-no-answers", Rows: []string{"2511.basic.transports-046"},
			Does:    "Looks at what came on streams that GET has opened.",
			Accepts: "No responses.",
			Mend:    "Send the response to a request on the stream of its POST.",
		},
		Needs: []string{needsHTTP, needsSession},
		Watch: watchStanding(func(x *X, m *peer.Message) string {
			if m.IsResponse() {
				return "a response came on a stream that no request opened"
			}
			return ""
		}),
	},
	{
		Info: probe.Info{
			ID: "http/get-carries-no-progress", Rows: []string{"2511.basic.transports-045"},
			Does:    "Looks at what came on streams that GET has opened.",
			Accepts: "No progress of requests.",
			Mend:    "Send the progress of a request on the stream of its POST.",
		},
		Needs: []string{needsHTTP, needsSession},
		Watch: watchStanding(func(x *X, m *peer.Message) string {
			if _, ofTask := related(m, "params"); m.Method == "notifications/progress" && !ofTask {
				return "progress of a request came on a stream that the request did not open"
			}
			return ""
		}),
	},
}

// requestStreams are the exchanges in which requests are answered by event streams.
func (x *X) requestStreams() []*peer.Exchange {
	var all []*peer.Exchange
	x.eachPost(func(e *peer.Exchange) {
		if e.IsStream() && e.Message != nil && e.Message.IsRequest() {
			all = append(all, e)
		}
	})
	return all
}

// isEarly reports whether the server ended an event stream before the answer. The
// log is locked.
func isEarly(e *peer.Exchange) bool {
	return e.IsStream() && e.Done && !e.Aborted && e.Err == nil && !slices.ContainsFunc(e.Messages, (*peer.Message).IsResponse)
}

func (x *X) endedEarly(e *peer.Exchange) (early bool) {
	x.Log.Look(func() { early = isEarly(e) })
	return early
}

// headOf waits for the head of a response that may go on.
func (c *Conn) headOf(r *peer.Reply) {
	if r == nil || r.Exchange == nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.x.Ctx, c.Patience.ReplyOrDefault())
	defer cancel()
	c.Log.Await(ctx, func() bool { return r.Exchange.Status != 0 || r.Exchange.Done })
}

// watchStanding looks at the messages of streams that were opened by GET, and
// resume nothing. wrong says what is wrong with one, or "".
func watchStanding(wrong func(*X, *peer.Message) string) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.NotApplicable("the server opens no streams by GET"))
		x.eachExchange(func(e *peer.Exchange) {
			if e.Method == http.MethodGet && e.IsStream() && e.Header.Get("Last-Event-ID") == "" {
				w.Saw(nil)
			}
		})
		for _, m := range x.Received(nil) {
			e := m.Exchange
			if e == nil || e.Method != http.MethodGet || !e.IsStream() || e.Header.Get("Last-Event-ID") != "" {
				continue
			}
			w.Saw(m)
			if why := wrong(x, m); why != "" {
				w.Fault(m, "", "%s", why)
			}
		}
	}
}

// reporting are the calls whose progress came on their own streams, the longest
// first.
func (x *X) reporting() []Callable {
	took := map[string]time.Duration{}
	for _, m := range x.Received(nil) {
		if m.Method != "notifications/progress" || m.Exchange == nil || m.Exchange.Message == nil {
			continue
		}
		asked := m.Exchange.Message
		if answer := x.Log.ResponseTo(asked); asked.Method == "tools/call" && answer != nil {
			took[asked.Text("params/name")] = answer.At - asked.At
		}
	}
	all := slices.DeleteFunc(slices.Clone(x.Offer.Callable), func(c Callable) bool { _, ok := took[c.Name]; return !ok })
	slices.SortStableFunc(all, func(a, b Callable) int { return cmp.Compare(took[b.Name], took[a.Name]) })
	return all
}

func noReports() probe.Finding {
	return probe.Unverified("no tool that may be called reports progress")
}

// report begins a call with a progress token. The caller stops it.
func (x *X) report(c *Conn, tool Callable, token string, more ...string) *peer.Reply {
	meta := map[string]any{"progressToken": token}
	if len(more) > 0 {
		meta[mcp.MetaLogLevel] = more[0]
	}
	return c.Begin("tools/call", map[string]any{"name": tool.Name, "arguments": maps.Clone(tool.Arguments), "_meta": meta})
}

func isProgressOf(token string) func(*peer.Message) bool {
	return func(m *peer.Message) bool {
		return m.Method == "notifications/progress" && m.Text("params/progressToken") == token
	}
}

func twoStreams(x *X) probe.Finding {
	calls := x.reporting()
	if len(calls) == 0 {
		return noReports()
	}
	first := x.report(x.Main, calls[0], firstToken)
	defer first.Stop()
	first.For(x.Ctx, isProgressOf(firstToken))
	second := x.report(x.Main, calls[len(calls)-1], secondToken)
	defer second.Stop()
	second.Wait(x.Ctx)
	w := &probe.Watch{}
	known := map[string]*peer.Message{}
	for _, m := range x.Log.Messages() {
		if token, ok := m.Get(tokenPath); ok && m.Sent && m.IsRequest() {
			known[string(peer.Encode(token))] = m
		}
	}
	for _, m := range x.Received(nil) {
		token, _ := m.Get("params/progressToken")
		asked := known[string(peer.Encode(token))]
		if m.Method != "notifications/progress" || m.Exchange == nil || m.Exchange.Message == nil || asked == nil || asked.Object("params/task") != nil {
			continue
		}
		w.Saw(m)
		if own, _ := m.Exchange.Message.Get(tokenPath); !reflect.DeepEqual(own, token) && len(m.Exchange.Message.Items) == 0 {
			w.FaultOf([]probe.Blame{{Message: m, Pointer: "/params/progressToken"}, {Message: m.Exchange.Message}, {Message: asked}}, "progress of one request came on the stream of another one")
		}
	}
	w.Nothing(noReports())
	return w.Finding()
}

func listenMeanwhile(x *X) probe.Finding {
	calls := x.reporting()
	if len(calls) == 0 {
		return noReports()
	}
	all := map[string]any{"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true}
	listen := x.Main.Begin("subscriptions/listen", map[string]any{"notifications": all, "_meta": map[string]any{mcp.MetaLogLevel: "debug"}})
	defer listen.Stop()
	ack := listen.For(x.Ctx, func(m *peer.Message) bool {
		return m.Method == "notifications/subscriptions/acknowledged" || m.IsResponse()
	})
	switch {
	case ack == nil:
		return probe.Unverified("no subscription was acknowledged")
	case ack.IsError():
		return probe.NotApplicable("the server has no subscriptions")
	}
	r := x.report(x.Main, calls[len(calls)-1], secondToken+"-meanwhile", "debug")
	defer r.Stop()
	r.Wait(x.Ctx)
	x.Main.Quiet(x.Ctx)
	for _, m := range x.Received(nil) {
		if m.Exchange == listen.Exchange && (m.Method == "notifications/progress" || m.Method == "notifications/message") {
			return probe.Fail([]probe.Blame{{Message: listen.Sent}, {Message: m}}, "%s came on the stream of a subscription", m.Method)
		}
	}
	return probe.Pass(probe.Of(listen.Sent, ack)...)
}

func breakOff(x *X) probe.Finding {
	calls := x.reporting()
	if len(calls) == 0 {
		return noReports()
	}
	const token = "parley-check-broken-off" //nolint:gosec // names a call's progress
	r := x.report(x.Main, calls[0], token)
	if r.For(x.Ctx, isProgressOf(token)) == nil {
		r.Stop()
		return probe.Unverified("the call reported nothing this time").Explained(answersRequests)
	}
	r.Stop()
	if r.Wait(x.Ctx); r.Response != nil {
		return probe.Unverified("the call was over before it could be broken off")
	}
	other := x.report(x.Main, calls[len(calls)-1], secondToken+"-after")
	defer other.Stop()
	other.Wait(x.Ctx)
	x.Main.Quiet(x.Ctx)
	for _, m := range x.Received(nil) {
		if m.Exchange != r.Exchange && (isProgressOf(token)(m) || m.IsResponse() && x.Log.RequestOf(m) == r.Sent) {
			return probe.Fail(probe.Of(r.Sent, m), "a message about the request came after its stream was closed")
		}
	}
	return probe.Pass(probe.Of(r.Sent)...)
}
