package main

import (
	"encoding/json"
	"net/http"
)

// stream is an event stream.
type stream struct {
	w   http.ResponseWriter
	enc *json.Encoder
	out *http.ResponseController
}

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	return stream{w, json.NewEncoder(w), http.NewResponseController(w)}
}

// send writes one event. The encoder ends what it writes with the first of the
// two line breaks that end an event.
func (s stream) send(v any) {
	_, _ = s.w.Write([]byte("data: "))
	_ = s.enc.Encode(v)
	_, _ = s.w.Write([]byte("\n"))
	_ = s.out.Flush()
}

// listen holds a stream open and sends changes on it.
func (f *floor) listen(w http.ResponseWriter, r *http.Request, req *request) {
	changed := make(chan struct{}, 1)
	f.mu.Lock()
	f.streams[changed] = struct{}{}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.streams, changed)
		f.mu.Unlock()
	}()
	meta := map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/subscriptionId": req.ID}}
	s := newStream(w)
	s.send(notify("notifications/subscriptions/acknowledged", meta))
	for {
		select {
		case <-changed:
			s.send(notify("notifications/tools/list_changed", meta))
		case <-r.Context().Done():
			return
		}
	}
}

func (f *floor) change() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		select {
		case s <- struct{}{}:
		default: // the previous change has not been sent yet
		}
	}
}
