package serverprobe

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// Streams that a client opens by GET, which belong to no request.
var httpStanding = []Probe{
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
