package web

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

const (
	// backlog is how many events may wait for a slow watcher.
	backlog = 256
	// mostWatchers bounds the streams.
	mostWatchers = 256
	// beat is how often a quiet stream shows that it lives, and patience how long a write may take.
	beat     = 15 * time.Second
	patience = 30 * time.Second
)

// Hub has whoever watches hear of what happens. A watcher who is too slow misses events,
// and is told so. The zero value is ready for use, concurrently.
type Hub struct {
	mu       sync.Mutex
	watchers map[*watcher]bool
}

type watcher struct {
	topics []string // nil is all
	events chan []byte
	lost   bool // guarded by the hub's mu
}

func (w *watcher) wants(topic string) bool {
	return w.topics == nil || slices.Contains(w.topics, topic)
}

// Publish tells whoever watches this topic. It does not wait for them. data becomes JSON.
func (h *Hub) Publish(topic string, data any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var event []byte
	for w := range h.watchers {
		if !w.wants(topic) {
			continue
		}
		if event == nil {
			event = asEvent(topic, data)
		}
		select {
		case w.events <- event:
		default:
			w.lost = true
		}
	}
}

// asEvent writes an event. Compact JSON has no line breaks.
func asEvent(topic string, data any) []byte {
	raw, err := wire.Marshal(data)
	if err != nil { // a mistake of the publisher: watchers then read anew
		topic, raw = "lost", []byte("{}")
	}
	var b bytes.Buffer
	b.WriteString("event: " + topic + "\ndata: ")
	b.Write(raw)
	b.WriteString("\n\n")
	return b.Bytes()
}

// Watched reports whether anybody watches.
func (h *Hub) Watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

func (h *Hub) watch(topics string) (*watcher, error) {
	w := &watcher{events: make(chan []byte, backlog)}
	if topics != "" {
		w.topics = strings.Split(topics, ",")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) >= mostWatchers {
		return nil, Errorf(http.StatusServiceUnavailable, "busy", "%d pages watch already; close one", mostWatchers)
	}
	if h.watchers == nil {
		h.watchers = map[*watcher]bool{}
	}
	h.watchers[w] = true
	return w, nil
}

func (h *Hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

// missed reports whether w has missed events since it was asked last.
func (h *Hub) missed(w *watcher) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	lost := w.lost
	w.lost = false
	return lost
}

// stream sends events until the watcher is gone, their visit has ended, or the server ends.
func (h *Hub) stream(rw http.ResponseWriter, r *Request) error {
	w, err := h.watch(r.URL.Query().Get("topics"))
	if err != nil {
		return err
	}
	defer h.leave(w)
	rw.Header().Set("Content-Type", "text/event-stream")
	out := &writer{ResponseWriter: rw, control: http.NewResponseController(rw)}
	out.send([]byte(": open\n\n"))
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for out.err == nil {
		select {
		case <-r.Context().Done():
			return nil
		case event := <-w.events:
			if h.missed(w) {
				out.send([]byte("event: lost\ndata: {}\n\n"))
			}
			out.send(event)
		case <-alive.C:
			if !r.lasts() {
				return nil
			}
			out.send([]byte(": alive\n\n"))
		}
	}
	return nil
}

// writer writes events, each at once.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (w *writer) send(p []byte) {
	if w.err != nil {
		return
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(patience)) // not every writer supports deadlines
	if _, w.err = w.Write(p); w.err == nil {
		w.err = w.control.Flush()
	}
}
