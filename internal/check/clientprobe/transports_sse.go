package clientprobe

import (
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// The transport of the first revision, and the way back to it.
var transportsSSE = []Probe{
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
