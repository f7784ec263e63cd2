package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// batches judge arrays of messages, which one revision has.
var batches = []Probe{
	{
		Info: probe.Info{
			ID: "basic/accepts-batches", Rows: []string{"2503.basic-002", "2503.basic.transports-001"},
			Does:    "Sends an array of two pings and a notification.",
			Accepts: "An answer to each ping.",
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			first, second := x.Request(mcp.MethodPing, nil), x.Request(mcp.MethodPing, nil)
			c, err := x.Scratch()
			if err != nil {
				return unreachable(err)
			}
			note := c.Notification(mcp.NoteCancelled, map[string]any{"requestId": "parley-check-none"})
			r := c.Start(x.Ctx, peer.Frame([]any{first, note, second}))
			defer r.Stop()
			for _, asked := range []map[string]any{first, second} {
				answer := r.For(x.Ctx, func(m *peer.Message) bool {
					return m.IsResponse() && (string(m.ID) == string(peer.Encode(asked["id"])) || m.ID == nil || string(m.ID) == "null")
				})
				switch {
				case answer == nil:
					return probe.Fail(probe.OfReply(r), "not every request of the batch was answered")
				case answer.IsError():
					return probe.Fail(probe.Of(r.Sent, answer), "the batch was refused")
				}
			}
			return probe.Pass(probe.OfReply(r)...)
		},
	},
	{
		Info: probe.Info{
			ID: "basic/empty-batch", Rows: []string{"2503.basic-003"},
			Does:    "Sends an empty array, and one with nothing but a notification.",
			Accepts: "The error -32600 for the first, and nothing for the second.",
			After:   []string{"basic/accepts-batches"},
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			c, err := x.Scratch()
			if err != nil {
				return unreachable(err)
			}
			r := c.Do(x.Ctx, peer.Frame([]any{c.Notification("notifications/parley-unknown", nil)}))
			for _, m := range append(r.Before, r.Response) {
				if m != nil && (m.IsResponse() || m.Items != nil) {
					return probe.Fail(probe.Of(r.Sent, m), "the batch of a notification was answered")
				}
			}
			r = c.Do(x.Ctx, &peer.Out{Raw: []byte("[]")})
			if r.Response == nil && r.Exchange != nil && r.Exchange.Status >= 400 {
				return probe.Pass(probe.OfReply(r)...)
			}
			return wantError(r, codeInvalidRequest)
		},
	},
	{
		Info: probe.Info{
			ID: "stdio/single-messages", Rows: []string{"2511.basic.transports-005"},
			Does:    "Looks for arrays of messages.",
			Accepts: "None: each line is one message.",
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Batch == nil && m.Bad == nil }) {
				w.Saw(m)
				if _, ok := m.Value.([]any); ok {
					w.Fault(m, "", "the line is an array of messages")
				}
			}
		},
	},
}
