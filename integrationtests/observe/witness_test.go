package observe_test

import (
	"bytes"
	"net/http"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// witness keeps what a tap sees.
type witness struct {
	mu     sync.Mutex
	events []mcp.TapEvent
}

func (w *witness) tap(e mcp.TapEvent) {
	e.Frame = bytes.Clone(e.Frame)
	if e.HTTP != nil {
		h := *e.HTTP
		h.Header = http.Header(h.Header).Clone()
		e.HTTP = &h
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// all returns the events that which reports true for.
func (w *witness) all(which func(e mcp.TapEvent) bool) []mcp.TapEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.events), func(e mcp.TapEvent) bool { return !which(e) })
}

// frames returns the frames that travelled in a direction, in order.
func (w *witness) frames(d mcp.Direction) []string {
	var frames []string
	for _, e := range w.all(func(e mcp.TapEvent) bool { return e.Frame != nil && e.Dropped == 0 && e.Direction == d }) {
		frames = append(frames, string(e.Frame))
	}
	return frames
}
