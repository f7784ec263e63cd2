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
			Does: "Refuses POSTs with 405, and opens the stream of HTTP+SSE on GET.", Accepts: "A GET for that stream after the POST; or none, of a client that does not want to support older servers.",
		},
		In: []string{"only-sse", "legacy-sse"},
		Watch: func(x *X, w *probe.Watch) {
			refused := x.Marked("refused")
			if refused == nil {
				return
			}
			w.Nothing(probe.Unverified("the client does not try GET after 405: it may not want to support older servers"))
			for _, e := range x.Exchanges() {
				switch {
				case e.Method != http.MethodGet || strings.Contains(e.URL, "/.well-known/"):
				case strings.HasPrefix(e.URL, x.Origin+pathMCP):
					w.Saw(refused)
				default:
					w.FaultOf([]probe.Blame{{Exchange: e}, {Exchange: refused.Exchange}}, "the client looks for the event stream elsewhere")
				}
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
