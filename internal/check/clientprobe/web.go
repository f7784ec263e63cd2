package clientprobe

import (
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/jsonptr"
	"github.com/parley-mcp/parley/mcp"
)

// The paths of the scripted server.
const (
	pathMCP     = "/mcp"
	pathEvents  = "/sse"
	pathMessage = "/message"
)

// ServeHTTP is the server over HTTP.
func (s *Stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		http.Error(w, "the scenario is over", http.StatusServiceUnavailable)
		return
	}
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()
	var l *Line
	v := peer.Receive(s.Log, w, r, func(body []byte) int {
		l = s.lineOf(r, body)
		return l.Number
	})
	defer v.End()
	v.Naming = s.Scenario.Naming
	if s.Scenario.Visit != nil && s.Scenario.Visit(s, v) {
		return
	}
	switch {
	case s.Transport == needsSSE && v.Path() == pathEvents && r.Method == http.MethodGet:
		s.events(l, v, s.path+pathMessage+"?sessionId="+l.Session)
	case s.Transport == needsSSE && v.Path() == pathMessage && r.Method == http.MethodPost:
		s.accept(v)
		s.each(l, v.Message, nil)
	case s.Transport == needsHTTP && v.Path() == pathMCP:
		s.mcp(l, v)
	default:
		v.Respond(http.StatusNotFound, nil, []byte("nothing is here"), false)
	}
}

// events opens the stream of HTTP+SSE.
//
// Spec: 2024-11-05 basic/transports#http-with-sse.
func (s *Stage) events(l *Line, v *peer.Visit, endpoint string) {
	v.Stream(nil)
	v.Event(&peer.Event{Name: "endpoint", Data: []byte(endpoint), HasData: true}, false)
	l.stand(v)
}

// lineNumbered is the conversation with a number of the log.
func (s *Stage) lineNumbered(n int) *Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if l.Number == n {
			return l
		}
	}
	return s.all
}

// mcp answers at the endpoint of Streamable HTTP.
func (s *Stage) mcp(l *Line, v *peer.Visit) {
	switch method := v.Exchange.Method; {
	case method == http.MethodPost && v.Message != nil:
		s.post(l, v)
	case method == http.MethodGet && !s.Stateless && l.Session != "":
		v.Stream(nil)
		l.stand(v)
	case method == http.MethodDelete && !s.Stateless && l.Session != "":
		v.Respond(http.StatusNoContent, nil, nil, false)
	default:
		v.Respond(http.StatusMethodNotAllowed, http.Header{"Allow": {"POST"}}, nil, false)
	}
}

func (s *Stage) post(l *Line, v *peer.Visit) {
	l.lmu.Lock()
	over := l.over
	l.lmu.Unlock()
	switch {
	case over:
		v.Respond(http.StatusNotFound, nil, []byte("there is no such session"), false)
	case s.foreign(v.Message) && s.Scenario.As != inSessions:
		// A server that knows no stateless revision misses the session.
		v.Respond(http.StatusBadRequest, nil, []byte("a session is required"), false)
	case hasRequest(v.Message):
		s.each(l, v.Message, v)
	default:
		s.accept(v)
		s.each(l, v.Message, nil)
	}
}

func (s *Stage) accept(v *peer.Visit) { v.Respond(http.StatusAccepted, nil, nil, false) }

// each hears a message, or those in a batch.
func (s *Stage) each(l *Line, m *peer.Message, v *peer.Visit) {
	if v == nil {
		for _, one := range append([]*peer.Message{m}, m.Items...) {
			l.hear(one)
		}
		return
	}
	if m.IsRequest() {
		newTurn(l, m, v).play()
		return
	}
	for _, one := range m.Items {
		if !one.IsRequest() {
			l.hear(one)
			continue
		}
		t := newTurn(l, one, v)
		t.batch = true
		if !t.twisted() {
			t.good()
		}
	}
}

func hasRequest(m *peer.Message) bool {
	if m.IsRequest() {
		return true
	}
	for _, one := range m.Items {
		if one.IsRequest() {
			return true
		}
	}
	return false
}

// lineOf finds the conversation that a request belongs to, or begins one. A
// client that forgets to say which is taken to mean the newest: what it forgot
// is a matter of the probes.
func (s *Stage) lineOf(r *http.Request, body []byte) *Line {
	opens := false
	switch {
	case s.Transport == needsSSE:
		opens = r.Method == http.MethodGet && r.URL.Path == pathEvents
	case s.Scenario.SSE && r.Method == http.MethodGet:
		opens = true
	case !s.Stateless && len(body) > 0 && r.URL.Path == pathMCP:
		v, err := peer.Decode(body)
		method, _ := peer.Get(v, "method")
		opens = err == nil && method == "initialize"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !opens && len(s.lines) > 0 {
		id := r.Header.Get("Mcp-Session-Id") + r.URL.Query().Get("sessionId")
		for _, l := range s.lines {
			if id != "" && l.Session == id {
				return l
			}
		}
		return s.lines[len(s.lines)-1]
	}
	l := &Line{Stage: s, Number: s.Log.NewConn(), waiting: map[string]chan *peer.Message{}, cancelled: map[string]chan struct{}{}}
	if opens {
		l.Session = "session-" + strings.Repeat("x", len(s.lines)) + "-1234567890"
		s.lines = append(s.lines, l)
		return l
	}
	if s.all == nil {
		s.all = l
		if s.Stateless {
			s.lines = append(s.lines, l)
		}
	}
	return s.all
}

// foreign reports whether a message belongs to the other era: what a client
// sends that finds out which revision the server speaks.
func (s *Stage) foreign(m *peer.Message) bool {
	if m == nil {
		return false
	}
	if s.Stateless {
		_, meta := m.Get("params/_meta/" + pointer(mcp.MetaProtocolVersion))
		return !meta && (m.Method == "initialize" || m.Method == "notifications/initialized")
	}
	return m.Method == "server/discover" || m.Text("params/_meta/"+pointer(mcp.MetaProtocolVersion)) != ""
}

// pointer escapes a name for a JSON pointer.
func pointer(name string) string {
	return jsonptr.Escape(name)
}
