package serverprobe

import (
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// pings judge ping, which only revisions with sessions have.
var pings = []Probe{
	{
		Info: probe.Info{
			ID: "ping/answered", Rows: []string{"2511.basic.utilities.ping-002"},
			Does:    "Pings the server, over stdio also before the handshake.",
			Accepts: "An empty result; it may have _meta.",
			Mend:    "Answer ping with {}.",
		},
		Needs: []string{needsSession},
		Run:   pingServer,
	},
	{
		Info: probe.Info{
			ID: "ping/no-parameters", Rows: []string{"2511.basic.utilities.ping-001"},
			Does:    "Looks at the params of the pings that the server sends.",
			Accepts: "None, but for _meta.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.pingsOfServer() {
				w.Saw(m)
				for name := range m.Object("params") {
					if name != "_meta" {
						w.Fault(m, "/params", "the ping has parameters")
					}
				}
			}
			w.Nothing(probe.NotApplicable("the server sent no pings"))
		},
	},
	{
		Info: probe.Info{
			ID: "ping/not-excessive", Rows: []string{"2511.basic.utilities.ping-007"},
			Does:    "Counts the pings that the server sends in each conversation.",
			Accepts: "No more than twenty within ten seconds.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			const most, span = 20, 10 * time.Second
			times := map[int][]time.Duration{}
			for _, m := range x.pingsOfServer() {
				w.Saw(m)
				times[m.Conn] = append(times[m.Conn], m.At)
				if all := times[m.Conn]; len(all) > most && m.At-all[len(all)-1-most] < span {
					w.Fault(m, "/method", "the server has sent more than %d pings in %v", most, span)
				}
			}
			w.Nothing(probe.NotApplicable("the server sent no pings"))
		},
	},
}

func (x *X) pingsOfServer() []*peer.Message {
	return x.Received(func(m *peer.Message) bool { return m.IsRequest() && m.Method == mcp.MethodPing })
}

func pingServer(x *X) probe.Finding {
	replies := []*peer.Reply{x.Call(mcp.MethodPing, nil)}
	if x.Transport == needsStdio {
		c, err := x.Open(&Opening{Silent: true})
		if err != nil {
			return unreachable(err)
		}
		defer c.Leave()
		replies = append(replies, c.Call(mcp.MethodPing, nil))
	}
	var seen []probe.Blame
	for _, r := range replies {
		if f := wantResult(r); f.Blamed == nil || r.Response.IsError() {
			return f
		}
		for name := range r.Response.Object("result") {
			if name != "_meta" && name != "resultType" {
				return probe.Fail(probe.OfReply(r), "the result is not empty")
			}
		}
		seen = append(seen, probe.Of(r.Sent, r.Response)...)
	}
	return probe.Pass(seen...)
}
