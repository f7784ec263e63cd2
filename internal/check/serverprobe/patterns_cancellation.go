package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var cancellationProbes = []Probe{
	{
		Info: probe.Info{
			ID: "cancellation/only-listen", Rows: []string{"26.basic.patterns.cancellation-003", "26.basic.patterns.cancellation-014"},
			Does:    "Looks for cancellations that the server sends.",
			Accepts: "None, but of requests of subscriptions/listen.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				w.Saw(m)
				if m.Method != mcp.NoteCancelled {
					continue
				}
				id, _ := m.Get("params/requestId")
				if request := x.requestWith(m, id); request == nil || request.Method != "subscriptions/listen" {
					w.Fault(m, "/params/requestId", "the server cancels what is no request of subscriptions/listen")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/has-request", Rows: []string{"2511.basic.utilities.cancellation-001", "2511.basic.utilities.cancellation-014"},
			Does:    "Cancels calls that ask something, and looks at the cancellations of the server.",
			Accepts: "A requestId that is a string or an integer, and a reason that is a string, if there is one.",
		},
		Needs: []string{needsSession},
		Watch: watchCancelled(func(_ *X, w *probe.Watch, m *peer.Message) {
			id, _ := m.Get("params/requestId")
			reason, given := m.Get("params/reason")
			if !isToken(id) {
				w.Fault(m, "/params/requestId", "the requestId is neither a string nor an integer")
			} else if _, ok := reason.(string); given && !ok {
				w.Fault(m, "/params/reason", "the reason is no string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "cancellation/own-requests", Rows: []string{"2511.basic.utilities.cancellation-002"},
			Does:    "Cancels calls that ask something, and looks at what the server cancels.",
			Accepts: "Requests of the server that the client has not answered.",
			After:   []string{"cancellation/has-request"},
		},
		Needs: []string{needsSession},
		Watch: watchCancelled(func(x *X, w *probe.Watch, m *peer.Message) {
			id, _ := m.Get("params/requestId")
			text := string(peer.Encode(id))
			for _, asked := range x.Received((*peer.Message).IsRequest) {
				if asked.Conn != m.Conn || string(asked.ID) != text || asked.Number > m.Number {
					continue
				}
				if answer := x.Log.ResponseTo(asked); answer != nil && answer.Number < m.Number-slack {
					w.FaultOf(probe.Of(asked, answer, m), "the request had been answered")
				}
				return
			}
			w.Fault(m, "/params/requestId", "the server has no request with this ID")
		}),
	},
	{
		Info: probe.Info{
			ID: "cancellation/ignored-if-invalid", Rows: []string{
				"26.basic.patterns.cancellation-020", "26.basic.patterns.cancellation-023",
				"2511.basic.utilities.cancellation-010", "2511.basic.utilities.cancellation-013",
			},
			Does:    "Cancels a request that has been answered, one that never was, and nothing, and asks something afterwards.",
			Accepts: "No message but the answer.",
		},
		Run: func(x *X) probe.Finding {
			done := x.Do(x.simplest())
			if done.Response == nil {
				return unanswered(done)
			}
			from := x.Log.Len()
			for _, params := range []map[string]any{
				{"requestId": done.Sent.ID, "reason": "too late"}, {"requestId": "parley-no-such-request"}, {},
			} {
				x.Main.Notify(mcp.NoteCancelled, params)
			}
			after := x.Do(x.simplest())
			for _, m := range x.Log.Since(from) {
				if !m.Sent && m.Conn == x.Main.Number && m.IsError() && m != after.Response && (m.ID == nil || string(m.ID) == "null" || string(m.ID) == string(done.Sent.ID)) && !refusedByHTTP(m) {
					return probe.Fail(probe.Of(m), "a cancellation was answered with an error")
				}
			}
			if after.Response == nil {
				return probe.Fail(probe.OfReply(after), "the conversation was over after the cancellations")
			}
			return probe.Pass(probe.OfReply(after)...)
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/no-response", Rows: []string{"26.basic.transports.stdio-014", "26.basic.patterns.cancellation-017", "2511.basic.utilities.cancellation-007"},
			Does:    "Cancels a call that takes long.",
			Accepts: "No answer to the call.",
		},
		Run: judgeCancelled(func(x *X, c *cancelled) probe.Finding {
			if answer := x.Log.ResponseTo(c.call.Sent); answer != nil {
				return probe.Fail(probe.Of(c.call.Sent, c.note, answer), "the call was answered although it was cancelled")
			}
			return probe.Pass(probe.Of(c.call.Sent, c.note)...)
		}),
	},
	{
		Info: probe.Info{
			ID: "cancellation/stops", Rows: []string{"26.basic.patterns.cancellation-015", "26.basic.transports.stdio-013", "2511.basic.utilities.cancellation-005"},
			Does:    "Cancels a call that takes long and reports progress.",
			Accepts: "No progress soon after the cancellation.",
			After:   []string{"cancellation/no-response"},
		},
		Run: judgeCancelled(func(x *X, c *cancelled) probe.Finding {
			if !c.tool.Reports {
				return probe.Unverified("no tool that takes long and may be called reports progress")
			}
			token, _ := c.call.Sent.Get("params/_meta/progressToken")
			for _, m := range x.Log.Since(c.settled) {
				if got, _ := m.Get("params/progressToken"); !m.Sent && m.Conn == c.call.Sent.Conn && m.Method == mcp.NoteProgress && got == token {
					return probe.Fail(probe.Of(c.call.Sent, c.note, m), "the call goes on after it was cancelled")
				}
			}
			return probe.Pass(probe.Of(c.call.Sent, c.note)...)
		}),
	},
	{
		Info: probe.Info{
			ID: "cancellation/late-answer", Rows: []string{"2511.basic.utilities.cancellation-009"},
			Does:    "Cancels a call that asks something, waits until the server cancels its question, and answers it all the same.",
			Accepts: "That nothing comes of it.",
		},
		Needs: []string{needsSession},
		Run:   runLateAnswer,
	},
}

// slack is how many messages may have passed each other on the wire.
const slack = 2

// refusedByHTTP reports whether a message came with a refusal of an HTTP request,
// which is no answer to the notification in it.
func refusedByHTTP(m *peer.Message) bool { return m.Exchange != nil && m.Exchange.Status >= 400 }

// requestWith returns the newest request of the checker with an ID before a
// message, or nil.
func (x *X) requestWith(before *peer.Message, id any) *peer.Message {
	var found *peer.Message
	for _, m := range x.Log.Messages() {
		if m.Sent && m.IsRequest() && m.Conn == before.Conn && m.Number < before.Number && string(m.ID) == string(peer.Encode(id)) {
			found = m
		}
	}
	return found
}

func watchCancelled(check func(*X, *probe.Watch, *peer.Message)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the server has cancelled nothing"))
		for _, m := range x.Received(func(m *peer.Message) bool { return m.Method == mcp.NoteCancelled }) {
			w.Saw(m)
			check(x, w, m)
		}
	}
}

// runLateAnswer answers a question that the server has taken back.
func runLateAnswer(x *X) probe.Finding {
	tools := x.did(func(d *Doing) bool { return asking(d) && !d.Asks[0].Needed })
	if len(tools) == 0 {
		return probe.Unverified("no tool that may be called asks anything")
	}
	c, err := x.Open(&Opening{Answer: func(*peer.Message) *peer.Out { return nil }})
	if err != nil {
		return probe.Unverified("no conversation could be opened for it: %v", err)
	}
	call := c.Begin("tools/call", tools[0].params())
	defer call.Stop()
	from := x.Log.Len()
	asked := c.Await(x.Ctx, 0, x.opts.Patience.ReplyOrDefault(), func(m *peer.Message) bool { return m.IsRequest() && m.Method == tools[0].Asks[0].Method })
	if asked == nil {
		return probe.Unverified("the server asked nothing this time")
	}
	c.Notify(mcp.NoteCancelled, map[string]any{"requestId": call.Sent.ID})
	note := c.Await(x.Ctx, from, x.opts.Patience.ReplyOrDefault(), func(m *peer.Message) bool { return m.Method == mcp.NoteCancelled })
	if note == nil {
		return probe.Unverified("the server did not take its question back")
	}
	from = x.Log.Len()
	answer := map[string]any{"jsonrpc": "2.0", "id": asked.ID, "result": answerTo(asked.Method, asked.Object("params"))}
	c.Do(x.Ctx, peer.Frame(answer))
	after := c.Call("ping", nil)
	for _, m := range x.Log.Since(from) {
		if !m.Sent && m.Conn == c.Number && m.IsError() && m != after.Response && string(m.ID) != string(call.Sent.ID) && !refusedByHTTP(m) {
			return probe.Fail(probe.Of(asked, note, m), "the late answer was answered with an error")
		}
	}
	if after.Response == nil {
		return probe.Fail(probe.Of(asked, note, after.Sent), "the conversation was over after the late answer")
	}
	return probe.Pass(probe.Of(asked, note, after.Response)...)
}
