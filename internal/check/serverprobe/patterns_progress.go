package serverprobe

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// surveyToken is what the progress tokens of the survey begin with.
const surveyToken = "survey-"

const (
	tokenRepeated = "progress/token-repeated"
	hasProgress   = "progress/has-token-and-value"
)

var progressProbes = []Probe{
	{
		Info: probe.Info{
			ID: hasProgress, Rows: []string{"26.schema-022", "2511.basic.utilities.progress-016"},
			Does:    "Looks at each progress notification.",
			Accepts: "A progressToken, and a progress that is a number.",
		},
		Watch: watchProgress(func(w *probe.Watch, p reported) {
			if _, ok := p.Get("params/progressToken"); !ok {
				w.Fault(p.Message, "/params", "the notification has no progressToken")
			} else if p.value == nil {
				w.Fault(p.Message, "/params/progress", "the notification has no progress that is a number")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "progress/members", Rows: []string{"2511.basic.utilities.progress-017"},
			Does:    "Looks at total and message of each progress notification.",
			Accepts: "A number and a string, or that they are left out.",
		},
		Watch: watchProgress(func(w *probe.Watch, p reported) {
			if v, given := p.Get("params/total"); given {
				if _, ok := v.(json.Number); !ok {
					w.Fault(p.Message, "/params/total", "total is no number")
				}
			}
			if v, given := p.Get("params/message"); given {
				if _, ok := v.(string); !ok {
					w.Fault(p.Message, "/params/message", "message is no string")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: tokenRepeated, Rows: []string{"26.basic.patterns.progress-006", "2511.basic.utilities.progress-004"},
			Does:    "Calls tools that report progress with a token that is a string of digits, and with one that is a number.",
			Accepts: "Notifications with the very token, of the same type.",
			Mend:    "Keep the token as it came, instead of as a string or a number of your own.",
		},
		Run: runTokens,
	},
	{
		Info: probe.Info{
			ID: "progress/token-known", Rows: []string{
				"26.basic.patterns.progress-009", "26.basic.patterns.progress-011", "2511.basic.utilities.progress-008", "2511.basic.utilities.progress-013",
			},
			Does:    "Compares the token of each progress notification with those of the requests before.",
			Accepts: "The token of a request.",
			After:   []string{tokenRepeated, hasProgress, taskToken},
		},
		Watch: watchProgress(func(w *probe.Watch, p reported) {
			if p.of == nil {
				w.Fault(p.Message, "/params/progressToken", "no request has given this token")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "progress/increases", Rows: []string{"26.basic.patterns.progress-005", "2511.basic.utilities.progress-005"},
			Does:    "Compares the progress of each notification with that of the one before, of the same request.",
			Accepts: "A larger number.",
		},
		Watch: func(x *X, w *probe.Watch) {
			last := map[*peer.Message]*big.Rat{}
			watchProgress(func(w *probe.Watch, p reported) {
				if p.of == nil || p.value == nil || isReplayed(p.Message) {
					return
				}
				if before := last[p.of]; before != nil && p.value.Cmp(before) <= 0 {
					w.Fault(p.Message, "/params/progress", "the progress is not more than before")
				}
				last[p.of] = p.value
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "progress/stops", Rows: []string{"26.basic.patterns.progress-013", "2511.basic.utilities.progress-015"},
			Does:    "Looks for progress of requests that have been answered.",
			Accepts: "None after the answer, unless it was a task.",
		},
		Watch: func(x *X, w *probe.Watch) {
			watchProgress(func(w *probe.Watch, p reported) {
				if p.of == nil {
					return
				}
				answer := x.Log.ResponseTo(p.of)
				if answer != nil && isLater(p.Message, answer) && p.of.Object("params/task") == nil {
					w.FaultOf(probe.Of(p.of, answer, p.Message), "progress came after the answer")
				}
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "progress/no-flood", Rows: []string{"26.basic.patterns.progress-012", "2511.basic.utilities.progress-014"},
			Does:    "Counts the progress notifications of each request.",
			Accepts: "At most 200 within one second.",
			Mend:    "Leave out notifications that follow each other within milliseconds.",
		},
		Watch: func(x *X, w *probe.Watch) {
			times := map[*peer.Message][]time.Duration{}
			watchProgress(func(w *probe.Watch, p reported) {
				all := append(times[p.of], p.At)
				times[p.of] = all
				if p.of != nil && len(all) > mostProgress && p.At-all[len(all)-1-mostProgress] <= time.Second {
					w.Fault(p.Message, "", "there were more than %d notifications within one second", mostProgress)
				}
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "progress/own-tokens", Rows: []string{"2511.basic.utilities.progress-001"},
			Does:    "Looks at the progress tokens of the server's own requests.",
			Accepts: "Strings and integers.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no request of the server has a progress token"))
			for _, m := range x.Received((*peer.Message).IsRequest) {
				token, given := m.Get("params/_meta/progressToken")
				if !given {
					continue
				}
				w.Saw(m)
				if !isToken(token) {
					w.Fault(m, "/params/_meta/progressToken", "the token is neither a string nor an integer")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "progress/own-tokens-unique", Rows: []string{"2511.basic.utilities.progress-002"},
			Does:    "Compares the progress tokens of the server's own requests with those of its requests that are not answered yet.",
			Accepts: "Another token for each.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no request of the server has a progress token"))
			used := map[string]*peer.Message{}
			for _, m := range x.Received((*peer.Message).IsRequest) {
				token, given := m.Get("params/_meta/progressToken")
				if !given {
					continue
				}
				w.Saw(m)
				key := string(peer.Encode([]any{m.Conn, token}))
				if old := used[key]; old != nil {
					if answer := x.Log.ResponseTo(old); answer == nil || answer.Number > m.Number {
						w.FaultOf(probe.Of(old, m), "two requests that are open at once have the same token")
					}
				}
				used[key] = m
			}
		},
	},
}

// mostProgress is how many progress notifications of a request are no flood,
// within a second.
const mostProgress = 200

func isToken(v any) bool {
	switch v := v.(type) {
	case string:
		return true
	case json.Number:
		return !strings.ContainsAny(v.String(), ".eE")
	default:
		return false
	}
}

// reported is a progress notification with the newest request that gave its token,
// or nil.
type reported struct {
	*peer.Message

	of    *peer.Message
	value *big.Rat // nil if it is no number
}

func watchProgress(check func(*probe.Watch, reported)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("no tool that may be called reports progress"))
		for _, p := range x.progress() {
			w.Saw(p.Message)
			check(w, p)
		}
	}
}

func (x *X) progress() []reported {
	var all []reported
	given := map[string]*peer.Message{}
	for _, m := range x.Log.Messages() {
		path := "params/_meta/progressToken"
		if !m.Sent {
			path = "params/progressToken"
		}
		token, has := m.Get(path)
		key := string(peer.Encode([]any{m.Conn, token}))
		switch {
		case m.Sent && m.IsRequest() && has:
			given[key] = m
		case !m.Sent && m.Method == mcp.NoteProgress && !m.Replayed:
			p := reported{Message: m, of: given[key]}
			if v, ok := m.Get("params/progress"); ok {
				if n, ok := v.(json.Number); ok {
					p.value, _ = new(big.Rat).SetString(n.String())
				}
			}
			all = append(all, p)
		}
	}
	return all
}

// isReplayed reports whether a message came on a stream that was resumed, and so
// may have come before.
func isReplayed(m *peer.Message) bool {
	return m.Exchange != nil && m.Exchange.Header.Get("Last-Event-ID") != ""
}

// runTokens calls a tool that reports progress with tokens that look alike.
func runTokens(x *X) probe.Finding {
	reporting := x.did(func(d *Doing) bool { return d.Reports && len(d.Asks) == 0 && d.Took < time.Second })
	if len(reporting) == 0 {
		return probe.Unverified("no tool that may be called reports progress")
	}
	var seen []probe.Blame
	var earlier []any // what comes late for these is the fault of another rule
	for _, token := range []any{"7300", json.Number("7301")} {
		params := reporting[0].params()
		params["_meta"] = map[string]any{"progressToken": token}
		r := x.Call("tools/call", params)
		for _, m := range r.Before {
			if m.Method != mcp.NoteProgress {
				continue
			}
			got, _ := m.Get("params/progressToken")
			if text, ok := got.(string); ok && strings.HasPrefix(text, surveyToken) {
				continue // of a call that was given up
			}
			if slices.Contains(earlier, got) {
				continue
			}
			if got != token {
				return probe.Fail(append(probe.Of(r.Sent), probe.Blame{Message: m, Pointer: "/params/progressToken"}), "the token %s came back as %s", peer.Encode(token), peer.Encode(got))
			}
			seen = probe.Of(r.Sent, m)
		}
		earlier = append(earlier, token)
	}
	if seen == nil {
		return probe.Unverified("the tool reported no progress this time")
	}
	return probe.Pass(seen...)
}

// apart is how much later what came on another stream must have come to be called
// later: streams overtake each other.
const apart = time.Second

// isLater reports whether a message was sent after another one.
func isLater(m, than *peer.Message) bool {
	return m.Number > than.Number && (m.Exchange == than.Exchange || m.At-than.At > apart)
}
