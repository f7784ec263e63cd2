package serverprobe

import (
	"context"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

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
