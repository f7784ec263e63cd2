package clientprobe

import (
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

var utilitiesPing = []Probe{
	{
		Info: probe.Info{
			ID: "ping/no-params", Rows: []string{"2511.basic.utilities.ping-001"},
			Does: "Looks at pings of the client.", Accepts: "No params, or none but _meta.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("ping") {
				w.Saw(m)
				params := m.Object("params")
				_, meta := params["_meta"]
				if len(params) > 1 || len(params) == 1 && !meta {
					w.Fault(m, "/params", "the ping has parameters")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "ping/answer", Rows: []string{"2511.basic.utilities.ping-002"},
			Does: "Pings the client during calls.", Accepts: "An empty result.",
			After: []string{"basic/response-has-id-of-request", "basic/response-has-result-or-error"},
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, a := range x.Answers("ping") {
				w.Saw(a.Response)
				result := a.Response.Object("result")
				_, meta := result["_meta"]
				if a.Response.IsError() || result == nil || len(result) > 1 || len(result) == 1 && !meta {
					w.FaultOf(probe.Of(a.Response, a.Request), "the ping was not answered with an empty result")
				}
			}
			if x.Scenario.Name == batchesName {
				return // who can't read a batch may have no stream any more
			}
			for _, m := range x.Sent(is("ping")) {
				if done := x.Marked("completed"); done != nil && m.Number > done.Number {
					continue // whether that is answered is another rule's matter
				}
				if x.Log.ResponseTo(m) == nil && len(x.After(m, (*peer.Message).IsRequest)) > 0 {
					w.Fault(m, "", "the ping was not answered")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "ping/not-excessive", Rows: []string{"2511.basic.utilities.ping-007"},
			Does: "Counts the pings of the client.", Accepts: "At most ten within a second.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			pings := x.Requests("ping")
			for n, m := range pings {
				w.Saw(m)
				if n >= 10 && m.At-pings[n-10].At < time.Second {
					w.FaultOf(probe.Of(pings[n-10], m), "eleven pings came within a second")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "ping/silence-is-failure", Rows: []string{"2511.basic.utilities.ping-008"},
			Does:    "Answers no ping, and all other requests.",
			Accepts: "That the client gives the connection up. One that goes on after three pings, each at least a second after the last one, does not mind.",
			Mend:    "Treat a ping that is not answered in time as a failure of the connection: close it, or connect again.",
		},
		Needs: []string{needsSession}, In: []string{"no-pong"},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client does not ping"))
			for _, l := range x.Lines() {
				x.watchSilence(w, l)
			}
		},
	},
}

// minded is how many pings may stay without an answer before the connection has to
// be given up, and apart how long one must have waited for each.
const (
	minded = 3
	apart  = time.Second
)

// watchSilence looks at what the client does with a conversation in which its pings
// are not answered.
func (x *X) watchSilence(w *probe.Watch, l *Line) {
	said := x.Received(func(m *peer.Message) bool { return m.Conn == l.Number && m.IsRequest() })
	var pings []*peer.Message
	for _, m := range said {
		switch last := len(pings) - 1; {
		case m.Method == "ping" && (last < 0 || m.At-pings[last].At >= apart):
			pings = append(pings, m)
		case m.Method != "ping" && len(pings) >= minded && m.At-pings[last].At >= apart:
			w.FaultOf(probe.Of(append(pings, m)...), "%d pings were not answered, and the client goes on as if nothing had happened", len(pings))
			return
		}
	}
	if len(pings) == 0 {
		return
	}
	w.Nothing(probe.Unverified("it did not show what the client makes of a ping that is not answered"))
	for _, other := range x.Lines() {
		if other.Number > l.Number && x.begun(other) {
			w.Saw(pings[0])
			return
		}
	}
	if !x.Ending.Late && !x.ByHand && x.busy() < x.Base.busy() {
		w.Saw(pings[0]) // it has left early
	}
}

// busy counts the client's requests that are no pings.
func (x *X) busy() int { return len(x.Requests()) - len(x.Requests("ping")) }

// begun reports whether the client has said something in a conversation.
func (x *X) begun(l *Line) bool {
	return len(x.Received(func(m *peer.Message) bool { return m.Conn == l.Number })) > 0
}
