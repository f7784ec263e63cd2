package mutant

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// events changes an event stream.
type events struct {
	*io.PipeReader

	wire  *wire
	asked *frame
	body  io.ReadCloser
	hang  bool
	life  context.Context //nolint:containedctx // that of the request
	done  chan struct{}
	gone  chan struct{} // closed by Close
	once  sync.Once

	writing sync.Mutex
	to      *io.PipeWriter
}

func (w *wire) newEvents(life context.Context, asked *frame, body io.ReadCloser, hang bool) io.ReadCloser {
	r, to := io.Pipe()
	e := &events{PipeReader: r, wire: w, asked: asked, body: body, hang: hang, life: life, done: make(chan struct{}), gone: make(chan struct{}), to: to}
	w.mu.Lock()
	w.open = append(w.open, e)
	w.mu.Unlock()
	go func() { // ends with the stream
		defer close(e.done)
		_ = to.CloseWithError(e.copy()) // never fails
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open = slices.DeleteFunc(w.open, func(other *events) bool { return other == e })
	}()
	return e
}

func (e *events) write(text string) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	_, err := io.WriteString(e.to, text)
	return err
}

// copy passes events on. All but the data and the fields that a switch changes
// stays as it was.
func (e *events) copy() error {
	err := peer.RawEvents(e.body, func(lines []string, data []byte) error {
		lines, dropped := e.wire.event(e.asked, lines, data)
		if dropped {
			return nil
		}
		if len(data) == 0 || data[0] != '{' {
			return e.write(strings.Join(lines, "\n") + "\n\n")
		}
		var head strings.Builder
		for _, line := range lines {
			if !strings.HasPrefix(line, "data:") {
				head.WriteString(line + "\n")
			}
		}
		return e.message(head.String(), data)
	})
	if e.hang && errors.Is(err, io.EOF) {
		select {
		case <-e.gone:
		case <-e.life.Done():
		}
	}
	return err
}

// message passes a message on, or on to other streams.
func (e *events) message(head string, data []byte) error {
	raws := e.wire.pass(1, false, data, e.asked)
	for _, other := range e.wire.elsewhere(e, data) {
		_ = other.write("data: " + string(data) + "\n\n") // its client may have gone
	}
	for _, raw := range raws {
		if err := e.write(head + "data: " + strings.ReplaceAll(string(raw), "\n", "\ndata: ") + "\n\n"); err != nil {
			return err
		}
		head = "" // an ID is for one event
	}
	return nil
}

func (e *events) Close() error {
	e.once.Do(func() { close(e.gone) })
	_ = e.PipeReader.Close() // never fails
	err := e.body.Close()
	<-e.done
	return err
}

// elsewhere are the other open streams, of the same session, that a message goes to: a switch with the
// edit "also METHOD" names the HTTP method, or that of the message, that they
// answer.
func (w *wire) elsewhere(from *events, data []byte) []*events {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.read(1, false, data)
	if f == nil {
		return nil
	}
	var all []*events
	for n := range w.mutant.Switches {
		s := &w.mutant.Switches[n]
		// pass has counted the message already.
		if s.ToServer || !w.matches(s, f, from.asked) || w.matched[n] <= s.Skip || s.Once && w.matched[n] > s.Skip+1 {
			continue
		}
		for _, edit := range s.Edits {
			for _, other := range w.open {
				if edit.verb == "also" && other != from && edit.text == other.asked.at() && sessionOf(other) == sessionOf(from) {
					all = append(all, other)
				}
			}
		}
	}
	return all
}

func sessionOf(e *events) string { return e.asked.header.Get("Mcp-Session-Id") }

// at is the method of the message that a request carried, or that of HTTP.
func (f *frame) at() string {
	if f.method != "" {
		return f.method
	}
	return f.verb
}

// event changes the fields of an event. Its switches name the method of the
// message that the request carried, or that of HTTP, and their conditions look
// at the data.
func (w *wire) event(asked *frame, lines []string, data []byte) (_ []string, dropped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	value, _ := peer.Decode(data) // nothing, if there is no message
	f := &frame{kind: "event", method: asked.at(), value: value, conn: 1}
	for n := range w.mutant.Switches {
		s := &w.mutant.Switches[n]
		if s.Kind != "event" || s.ToServer || !w.matches(s, f, asked) || !w.due(n) {
			continue
		}
		for _, e := range s.Edits {
			dropped = dropped || e.verb == "drop"
			lines = e.field(lines)
		}
	}
	return lines, dropped
}

// field sets a field of an event, or takes it out.
func (e edit) field(lines []string) []string {
	if e.verb != "field" && e.verb != "without-field" {
		return lines
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, e.path+":") })
	if e.verb == "field" {
		lines = append([]string{e.path + ": " + e.text}, lines...)
	}
	return lines
}
