package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/mcp"
)

// side is the server on one of the two ways.
type side struct{ x *serverprobe.X }

// listen asks a session for log messages. Requests of the other era ask
// themselves.
func (s *side) listen() {
	if !s.x.Stateless && s.x.Offer.Has("logging") {
		s.x.Call("logging/setLevel", map[string]any{"level": "debug"})
	}
}

// act is a request with all that came of it.
type act struct {
	reply    *peer.Reply
	progress []*peer.Message
	logs     []*peer.Message
	asked    []question
}

// question is what the server asked meanwhile, in either era.
type question struct {
	method string
	params any
	in     *peer.Message
}

func (a *act) answer() *peer.Message { return a.reply.Response }

// act makes a request, answers what the server asks, and returns all that came.
func (s *side) act(method string, params map[string]any) *act {
	return s.on(s.x.Main, method, params)
}

// on is act in a conversation of its own.
func (s *side) on(c *serverprobe.Conn, method string, params map[string]any) *act {
	token := fmt.Sprintf("compare-%d", s.x.NextID())
	from := s.x.Log.Len()
	meta := map[string]any{"progressToken": token}
	if s.x.Stateless {
		meta[mcp.MetaLogLevel] = "debug"
	}
	params = with(params, "_meta", meta)
	a := &act{reply: c.Finish(method, params)}
	for _, m := range s.x.Log.Since(from) {
		if m.Conn == c.Number && !m.Sent {
			a.take(m, token)
		}
	}
	slices.SortFunc(a.asked, func(a, b question) int { return cmp.Compare(a.method, b.method) })
	return a
}

func with(params map[string]any, name string, value any) map[string]any {
	c := map[string]any{}
	maps.Copy(c, params)
	c[name] = value
	return c
}

// take sorts a message that came during an act.
func (a *act) take(m *peer.Message, token string) {
	switch {
	case m.Method == "notifications/progress" && m.Text("params/progressToken") == token:
		a.progress = append(a.progress, m)
	case m.Method == "notifications/message":
		a.logs = append(a.logs, m)
	case m.IsRequest() && m.Method != "ping":
		params, _ := m.Get("params")
		a.asked = append(a.asked, question{m.Method, params, m})
	case m.Text("result/resultType") == "input_required":
		for _, v := range m.Object("result/inputRequests") {
			method, _ := peer.Get(v, "method")
			params, _ := peer.Get(v, "params")
			name, _ := method.(string)
			a.asked = append(a.asked, question{name, params, m})
		}
	}
}

// result is what an act resulted in, or nil.
func (a *act) result() any {
	if a.answer() == nil {
		return nil
	}
	v, _ := a.answer().Get("result")
	return v
}
