package serverprobe

import (
	"context"
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

var httpSSE = []Probe{
	{
		Info: probe.Info{
			ID: "sse/endpoint-event", Rows: []string{"2411.basic.transports-002"},
			Does:    "Opens a stream and reads its first event.",
			Accepts: "An event of the type endpoint whose data is a URI.",
			Mend:    "Begin each stream with an endpoint event that says where messages are to be posted.",
		},
		Needs: []string{needsSSE},
		Run: func(x *X) probe.Finding {
			r := x.Main.Start(x.Ctx, &peer.Out{HTTPMethod: http.MethodGet, URL: x.target.Site.URL})
			defer r.Stop()
			x.Main.headOf(r)
			if r.Exchange == nil || !r.Exchange.IsStream() {
				return probe.Unverified("no second stream could be opened")
			}
			var first *peer.Event
			ctx, cancel := context.WithTimeout(x.Ctx, x.Main.Patience.ReplyOrDefault())
			defer cancel()
			x.Log.Await(ctx, func() bool {
				if len(r.Exchange.Events) > 0 {
					first = r.Exchange.Events[0]
				}
				return first != nil
			})
			blamed := []probe.Blame{{Exchange: r.Exchange}}
			switch {
			case first == nil:
				return probe.Fail(blamed, "no event came on the stream")
			case first.Name != "endpoint":
				return probe.Fail(blamed, "the first event has the type %q, not endpoint", first.Name)
			}
			if u, err := url.Parse(string(first.Data)); err != nil || u.String() == "" {
				return probe.Fail(blamed, "the data of the endpoint event is no URI: %q", first.Data)
			}
			return probe.Pass(blamed...)
		},
	},
	{
		Info: probe.Info{
			ID: "sse/message-events", Rows: []string{"2411.basic.transports-004"},
			Does:    "Looks at the type and the data of each event that carries a message.",
			Accepts: "The type message, or none, which means the same; JSON.",
			Mend:    "Send messages as events of the type message, with JSON as data.",
			After:   []string{"sse/endpoint-event"},
		},
		Needs: []string{needsSSE},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				switch {
				case m.Event == nil || m.Batch != nil || m.Cut > 0:
				case m.Event.Name != "" && m.Event.Name != "message":
					w.Fault(m, "", "the event has the type %q, not message", m.Event.Name)
				case m.Bad != nil:
					w.Fault(m, "", "the data of the event is not JSON: %v", m.Bad)
				default:
					w.Saw(m)
				}
			}
		},
	},
}
