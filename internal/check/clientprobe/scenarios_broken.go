package clientprobe

import (
	"net/http"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

const (
	batchesName     = "batches"
	foreignEndpoint = "foreign-endpoint"
	scenarioPoll    = "poll"
)

// brokenScenarios are servers whose connections break.
var brokenScenarios = []Scenario{
	{
		Name: "exits", Does: "Ends in the middle of a conversation, like a process that crashes.",
		Do: "Connect, call a tool, and go on when it has failed.", Needs: []string{needsStdio},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			if t.Count("exits") > 0 {
				return false
			}
			t.Mark("exit", t.Request)
			t.Cut()
			return true
		}},
	},
	{
		Name: "broken-stream", Does: "Breaks off the response to a call after an event with an ID.",
		Do: "Connect, and call a tool.", Needs: []string{needsHTTP, needsStateless},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			if t.Count("broken") > 0 {
				return false
			}
			t.open()
			t.visit.Event(&peer.Event{ID: "event-1", HasID: true, Retry: "50", HasData: true}, false)
			t.Progress(1, 3, "before it breaks")
			t.Mark("broken", t.Request)
			t.visit.Cut()
			return true
		}},
	},
	{
		Name: "lost-subscription", Does: "Breaks off the stream of a subscription.",
		Do: "Connect, and subscribe to changes.", Needs: []string{needsHTTP, needsStateless},
		On: map[string]func(*Turn) bool{"subscriptions/listen": func(t *Turn) bool {
			if t.Count("lost") > 0 {
				return false
			}
			t.open()
			t.Notify("notifications/subscriptions/acknowledged", object{"notifications": t.Request.Object("params/notifications")})
			t.Pause(50 * time.Millisecond)
			t.Mark("lost", t.Request)
			t.visit.Cut()
			return true
		}},
	},
	{
		Name: "resume", Does: "Breaks off the response to a call after an event with an ID, and has the rest for who asks for it.",
		Do: "Connect, and call a tool.", Needs: []string{needsHTTP, needsSession},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			if t.Count("broken") > 0 {
				return false
			}
			t.open()
			t.visit.Event(&peer.Event{ID: "event-1", HasID: true, Retry: "700", HasData: true}, false)
			t.Mark("broken", t.Request)
			t.visit.Cut()
			return true
		}},
		Visit: resumed,
	},
	{
		Name: scenarioPoll, Does: "Ends the stream of a call, and has the rest for who asks for it after the time that it names.",
		Do: "Connect, and call a tool.", Needs: []string{needsHTTP, needsSession, "polling"},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			if t.Count("broken") > 0 {
				return false
			}
			t.open()
			t.visit.Event(&peer.Event{ID: "event-1", HasID: true, Retry: "700", HasData: true}, false)
			t.Mark("broken", t.Request)
			t.visit.End()
			t.answered = true
			return true
		}},
		Visit: resumed,
	},
}

// resumed gives the answer to the call whose stream broke to who asks for what
// came after its event.
func resumed(s *Stage, v *peer.Visit) bool {
	if v.Exchange.Method != http.MethodGet || v.Header("Last-Event-ID") == "" {
		return false
	}
	asked := s.Marked("broken")
	if asked == nil || v.Header("Last-Event-ID") != "event-1" {
		return false
	}
	v.Stream(nil)
	v.Event(&peer.Event{Name: "message", ID: "event-2", HasID: true, HasData: true, Data: peer.Encode(object{
		"jsonrpc": "2.0", "id": idOf(asked), "result": textResult("resumed"),
	})}, true)
	return true
}

// sessionScenarios are servers whose sessions are unusual.
var sessionScenarios = []Scenario{
	{
		Name: "expired", Does: "Forgets the session in the middle of it.",
		Do: "Connect, and call a tool; go on when it has failed.", Needs: []string{needsHTTP, needsSession},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			if t.Count("expired") > 0 {
				return false
			}
			t.lmu.Lock()
			t.over = true
			t.lmu.Unlock()
			t.Mark("expired", t.Request)
			t.answered = true
			t.visit.Respond(http.StatusNotFound, nil, []byte("there is no such session"), false)
			return true
		}},
	},
	{
		Name: "only-sse", Does: "Knows only HTTP+SSE: refuses POSTs at its address, and has a stream there.",
		Do: "Connect, and call a tool.", Needs: []string{needsHTTP, needsSession}, SSE: true, Visit: onlySSE,
	},
	{
		Name: foreignEndpoint, Does: "Names an endpoint at another origin.",
		Do: "Connect.", Needs: []string{needsSSE},
		Visit: func(s *Stage, v *peer.Visit) bool {
			if v.Path() != pathEvents {
				return false
			}
			s.events(s.lineNumbered(v.Exchange.Conn), v, s.Other+pathMessage)
			return true
		},
	},
	{
		Name: batchesName, Does: "Sends its requests and notifications in batches.",
		Do: "Connect, and call the tool report.", Needs: []string{"batches"},
		Tool: map[string]func(*Turn) bool{"report": func(t *Turn) bool {
			t.Raw(string(peer.Encode(list{
				object{"jsonrpc": "2.0", "id": "batched-1", "method": "ping"},
				object{"jsonrpc": "2.0", "method": "notifications/message", "params": object{"level": "info", "data": "batched"}},
				object{"jsonrpc": "2.0", "id": "batched-2", "method": "ping"},
			})))
			t.Pause(100 * time.Millisecond)
			return false
		}},
	},
}

// onlySSE is a server of the first revision at the endpoint of the later ones.
//
// Spec: 2025-11-25 basic/transports#backwards-compatibility.
func onlySSE(s *Stage, v *peer.Visit) bool {
	switch {
	case v.Path() == pathMCP && v.Exchange.Method == http.MethodPost:
		s.Mark("refused", v.Message)
		v.Respond(http.StatusMethodNotAllowed, http.Header{"Allow": {"GET"}}, nil, false)
	case v.Path() == pathMCP && v.Exchange.Method == http.MethodGet:
		l := s.lineNumbered(v.Exchange.Conn)
		s.events(l, v, s.path+pathMessage+"?sessionId="+l.Session)
	case v.Path() == pathMessage && v.Message != nil:
		s.accept(v)
		s.each(s.lineNumbered(v.Exchange.Conn), v.Message, nil)
	default:
		return false
	}
	return true
}
