package hostile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/sse"
)

// standing is the stream of an HTTP+SSE server, which carries everything that
// it sends. Each write is flushed at once, as a whole.
type standing struct {
	mu   sync.Mutex
	w    http.ResponseWriter // nil when the stream has ended
	done chan struct{}       // closed to end it
	once sync.Once
}

func (s *standing) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return 0, io.ErrClosedPipe
	}
	n, err := s.w.Write(b)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
	return n, err
}

func (s *standing) end() { s.once.Do(func() { close(s.done) }) }

// serveSSE is the villain as a server of HTTP+SSE.
func (v *villain) serveSSE(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		v.stand(w, r)
		return
	}
	want := "/post"
	if own := v.entry.one("posts", v.route); own != "" {
		want = v.expand(own, &asked{})
	}
	if r.RequestURI != want {
		v.t.Errorf("%s %.300s, and the endpoint is %.300s", r.Method, r.RequestURI, want)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	v.posted(w, body)
}

// stand serves the stream.
func (v *villain) stand(w http.ResponseWriter, r *http.Request) {
	attacked := v.entry.called(v.route) == "GET"
	if raw := v.entry.one("http", v.route); raw != "" && attacked {
		v.raw(w, raw, &asked{})
		return
	}
	w.Header().Set("Content-Type", sse.ContentType)
	s := &standing{w: w, done: make(chan struct{})}
	v.mu.Lock()
	v.stream, v.host = s, r.Host
	v.mu.Unlock()
	if attacked {
		v.begin(s)
	} else {
		_, _ = io.WriteString(s, "event: endpoint\ndata: /post\n\n")
	}
	select {
	case <-s.done:
	case <-v.ended:
	case <-r.Context().Done():
	}
	s.mu.Lock()
	s.w = nil
	s.mu.Unlock()
}

// begin begins the stream as the case requires.
func (v *villain) begin(s *standing) {
	if text := v.entry.one("stream", v.route); text != "" {
		_, _ = io.WriteString(s, v.expand(text, &asked{})+"\n\n")
	}
	if part := v.entry.one("endless", v.route); part != "" {
		v.flood(s, v.expand(part, &asked{}))
	}
	if v.entry.one("ends", v.route) != "" {
		s.end()
	}
}

// posted takes a message of the client. The answer is sent on the stream before
// the POST is accepted.
func (v *villain) posted(w http.ResponseWriter, body []byte) {
	v.mu.Lock()
	s := v.stream
	v.mu.Unlock()
	var m asked
	switch err := json.Unmarshal(body, &m); {
	case strings.HasPrefix(string(body), "["): // the answers to a batch
		v.hear(body)
	case err != nil:
		v.t.Errorf("the client sent %.300q: %v", body, err)
	case m.Method == "":
		v.hear(body)
	case m.ID == nil:
	case v.mine(&m):
		v.attackAlong(w, s, &m)
		return
	default:
		_, _ = fmt.Fprintf(s, "data: %s\n\n", v.proper(&m))
	}
	w.WriteHeader(http.StatusAccepted)
}

// hear keeps the client's answer.
func (v *villain) hear(body []byte) {
	select {
	case v.replies <- string(body):
	case <-v.ended:
	}
}

// attackAlong sends the case, as the response to a POST or on the stream.
func (v *villain) attackAlong(w http.ResponseWriter, s *standing, m *asked) {
	if raw := v.entry.one("http", v.route); raw != "" {
		v.speak(s, m)
		v.raw(w, raw, m)
		return
	}
	if v.entry.one("stalls", v.route) != "" {
		v.speak(s, m)
		<-v.ended
		return
	}
	w.WriteHeader(http.StatusAccepted)
	v.speak(s, m)
}

// speak sends the case on the stream.
func (v *villain) speak(s *standing, m *asked) {
	if text := v.entry.one("stream", v.route); text != "" {
		_, _ = io.WriteString(s, v.expand(text, m))
		if v.entry.one("ends", v.route) == "" {
			_, _ = io.WriteString(s, "\n\n")
		}
	}
	if part := v.entry.one("endless", v.route); part != "" {
		v.running.Go(func() { v.flood(s, v.expand(part, m)) }) // ends with the stream
		return
	}
	for _, f := range v.frames(m) {
		_, _ = fmt.Fprintf(s, "data: %s\n\n", f) // the client may be gone
	}
	if v.entry.one("ends", v.route) != "" {
		s.end()
	}
}
