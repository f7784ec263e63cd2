package clientprobe

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const tokenType = "progress/token-type"

var utilitiesProgress = []Probe{
	{
		Info: probe.Info{
			ID: tokenType, Rows: []string{"26.basic.patterns.progress-002", "2511.basic.utilities.progress-001"},
			Does: "Looks at the progress tokens of requests.", Accepts: "Strings and integers.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				v, ok := m.Get("params/_meta/progressToken")
				if !ok {
					continue
				}
				w.Saw(m)
				if _, isString := v.(string); !isString && !isInteger(v) {
					w.Fault(m, "/params/_meta/progressToken", "the progress token is neither a string nor an integer")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "progress/unique-tokens", Rows: []string{"26.basic.patterns.progress-004", "2511.basic.utilities.progress-002"},
			Does: "Compares the progress tokens of requests in flight.", Accepts: "That each has its own.",
			After: []string{tokenType},
		},
		Watch: func(x *X, w *probe.Watch) {
			requests := x.Requests()
			for n, m := range requests {
				token, ok := m.Get("params/_meta/progressToken")
				if !ok {
					continue
				}
				w.Saw(m)
				for _, old := range requests[:n] {
					if old.Conn != m.Conn || !x.inFlight(old, m) {
						continue
					}
					if same, ok := old.Get("params/_meta/progressToken"); ok && string(peer.Encode(same)) == string(peer.Encode(token)) {
						w.FaultOf([]probe.Blame{{Message: m, Pointer: "/params/_meta/progressToken"}, {Message: old}}, "a request in flight has the same progress token")
					}
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "progress/ignores-unknown-tokens", Rows: []string{"26.basic.patterns.progress-011", "2511.basic.utilities.progress-013"},
			Does: "Sends progress with a token that nobody has.", Accepts: "That the client goes on.",
		},
		In:    []string{"odd"},
		Watch: func(x *X, w *probe.Watch) { x.carriesOn(w, x.Marked("progress"), "progress with an unknown token") },
	},
	progressProbe("progress/members", []string{"2511.basic.utilities.progress-016", "2511.basic.utilities.progress-017"},
		"progressToken and progress; total, a number, and message, a string, if they are there.", func(x *X, m, _ *peer.Message) string {
			params := m.Object("params")
			_, token := params["progressToken"]
			_, value := params["progress"].(json.Number)
			total, hasTotal := params["total"]
			_, number := total.(json.Number)
			if !token || !value || hasTotal && !number {
				return "the notification lacks progressToken or progress"
			}
			return ""
		}),
	progressProbe("progress/token-of-request", []string{"2511.basic.utilities.progress-004", "2511.basic.utilities.progress-008", "2511.basic.utilities.progress-011"},
		"The token of a request of the server.", func(x *X, m, asked *peer.Message) string {
			if token, ok := m.Get("params/progressToken"); ok && asked == nil {
				return "no request of the server has the token " + string(peer.Encode(token))
			}
			return ""
		}),
	progressProbe("progress/increases", []string{"2511.basic.utilities.progress-005", "2511.basic.utilities.progress-006"},
		"A greater value each time.", func(x *X, m, asked *peer.Message) string {
			now, _ := m.Get("params/progress")
			for _, old := range x.Received(is("notifications/progress")) {
				before, _ := old.Get("params/progress")
				if old.Number < m.Number && asked != nil && x.progressOf(old) == asked && number(before) >= number(now) {
					return "the progress does not increase"
				}
			}
			return ""
		}),
	progressProbe("progress/stops", []string{"2511.basic.utilities.progress-015"},
		"None after the answer, unless the request has become a task.", func(x *X, m, asked *peer.Message) string {
			if asked == nil || x.taskOf(asked) != nil {
				return ""
			}
			if answer := x.Log.ResponseTo(asked); answer != nil && answer.Number < m.Number {
				return "progress was reported after the answer"
			}
			return ""
		}),
}

// inFlight reports whether a request was not answered and not given up when
// another one was made.
func (x *X) inFlight(old, m *peer.Message) bool {
	answer := x.Log.ResponseTo(old)
	return (answer == nil || answer.Number > m.Number) && !x.givenUp(old, m)
}

// progressOf is the request of the server that a notification reports progress
// of, or nil.
func (x *X) progressOf(m *peer.Message) *peer.Message {
	token, _ := m.Get("params/progressToken")
	for _, asked := range x.Sent((*peer.Message).IsRequest) {
		if v, ok := asked.Get("params/_meta/progressToken"); ok && asked.Number < m.Number && string(peer.Encode(v)) == string(peer.Encode(token)) {
			return asked
		}
	}
	return nil
}

func number(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := n.Float64() // what is no number counts nothing
	return f
}

// progressProbe judges progress that the client reports. fault says what is
// wrong with a notification, or ""; asked is the request, or nil.
func progressProbe(id string, rows []string, accepts string, fault func(x *X, m, asked *peer.Message) string) Probe {
	return Probe{
		Info:  probe.Info{ID: id, Rows: rows, Accepts: accepts, Does: "Looks at progress that the client reports of requests of the server."},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client reported no progress"))
			for _, m := range x.Received(is("notifications/progress")) {
				w.Saw(m)
				if wrong := fault(x, m, x.progressOf(m)); wrong != "" {
					w.Fault(m, "/params", "%s", wrong)
				}
			}
		},
	}
}
