package clientprobe

import (
	"net/http"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// bodyScenarios are servers that answer over HTTP in all forms that there are.
var bodyScenarios = []Scenario{
	{
		Name: "json", Does: "Answers each request with a body, without a stream.",
		Do: "Connect, and call a tool.", Needs: []string{needsHTTP}, Bodies: "json",
	},
	{
		Name: "sse", Does: "Answers each request with a stream, with comments and events without data in it.",
		Do: "Connect, and call a tool.", Needs: []string{needsHTTP}, Bodies: "sse",
		On: map[string]func(*Turn) bool{"*": func(t *Turn) bool {
			if t.visit == nil || t.Request.Method == "subscriptions/listen" {
				return false
			}
			t.open()
			t.visit.Comment("a comment")
			if t.Facts.Polling {
				t.visit.Event(&peer.Event{ID: "first", HasID: true, Retry: "100", HasData: true}, false)
			}
			t.visit.Event(&peer.Event{Retry: "100"}, false)
			t.visit.Comment("another one")
			t.Mark("comment", t.Request)
			return false
		}},
	},
	{
		Name: "no-get", Does: "Has no stream for what belongs to no request, and lets nobody end a session.",
		Do: "Connect, call a tool, and quit.", Needs: []string{needsHTTP, needsSession},
		Visit: func(_ *Stage, v *peer.Visit) bool {
			if v.Exchange.Method == http.MethodPost || v.Path() != pathMCP {
				return false
			}
			v.Respond(http.StatusMethodNotAllowed, http.Header{"Allow": {"POST"}}, nil, false)
			return true
		},
	},
}

// serveIcon answers for the addresses of icons.
func serveIcon(s *Stage, v *peer.Visit) bool {
	switch {
	case strings.HasPrefix(v.Path(), "/icons/redirected"):
		v.Respond(http.StatusFound, http.Header{"Location": {s.Other + "/icons/moved.png"}}, nil, false)
	case strings.HasPrefix(v.Path(), "/icons/"):
		v.Respond(http.StatusOK, http.Header{"Content-Type": {"image/png"}}, []byte("\x89PNG\r\n\x1a\n"), false)
	default:
		return false
	}
	return true
}

// slowScenarios are servers that take their time.
var slowScenarios = []Scenario{
	{
		Name: "slow", Does: "Answers no call of a tool until the client has given it up, and then answers all the same.",
		Do: "Connect, call a tool, and wait until the client gives it up, or cancel it; then call another tool.",
		On: map[string]func(*Turn) bool{"tools/call": func(t *Turn) bool {
			if t.Count("slow") > 0 {
				t.Pause(100 * time.Millisecond)
				return false
			}
			t.Mark("held", t.Request)
			if t.Hold(time.Hour) {
				t.Pause(10 * time.Millisecond)
				t.Result(textResult("too late"))
				t.Mark("late", t.Request)
			}
			return true
		}},
	},
	{
		Name: "endless", Does: "Reports progress of a call for ever, and never answers it.",
		Do: "Connect, call a tool, and wait until the client gives it up.",
		On: map[string]func(*Turn) bool{"tools/call": func(t *Turn) bool {
			if t.Count("endless") > 0 {
				return false
			}
			t.Mark("held", t.Request)
			for n := 1; !t.Hold(500 * time.Millisecond); n++ {
				if t.ctx.Err() != nil {
					return true
				}
				t.Progress(n, nil, "still going")
			}
			return true
		}},
	},
	{
		Name: "parallel", Does: "Answers calls only once several are in flight, or after half a second.",
		Do: "Connect, and call several tools at the same time.",
		On: map[string]func(*Turn) bool{"tools/call": func(t *Turn) bool {
			t.Hold(500 * time.Millisecond)
			return false
		}},
	},
	{
		Name: "slow-greeting", Does: "Takes a third of a second to answer initialize.",
		Do: "Connect, and call a tool.", Needs: []string{needsSession},
		On: map[string]func(*Turn) bool{"initialize": func(t *Turn) bool {
			t.Pause(300 * time.Millisecond)
			return false
		}},
	},
	{
		Name: "withdrawn", Does: "Asks the client's model for something, and withdraws the question before it can be answered.",
		Do: "Connect, call the tool report, and take your time to answer.", Needs: []string{needsSession},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			if _, ok := t.Capabilities()["sampling"]; !ok {
				return false
			}
			t.Send(object{"jsonrpc": "2.0", "id": "withdrawn", "method": "sampling/createMessage", "params": object{
				"messages":  list{object{"role": "user", "content": object{"type": "text", "text": "Count to ten, slowly."}}},
				"maxTokens": 100,
			}})
			t.Pause(20 * time.Millisecond)
			t.Notify("notifications/cancelled", object{"requestId": "withdrawn", "reason": "no longer needed"})
			t.Mark("withdrawn", t.last("notifications/cancelled"))
			t.askWith("after-withdrawal", "ping", nil) // who answers it has read what came before
			t.Mark("read", t.last("ping"))
			t.Pause(500 * time.Millisecond)
			return false
		}},
	},
	{
		Name: "no-answer", Does: "Answers nothing that begins a conversation.",
		Do: "Connect, and wait until the client gives up.", Needs: []string{needsSession},
		On: map[string]func(*Turn) bool{"initialize": func(t *Turn) bool {
			t.Mark("held", t.Request)
			t.gone()
			return true
		}},
	},
}
