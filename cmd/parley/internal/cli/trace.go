package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// traceEvent shows what travels: when, in which direction, and what. It is the
// mcp.Tap of --trace.
func (a *app) traceEvent(e mcp.TapEvent) {
	arrow := "←"
	if e.Direction == mcp.Sent {
		arrow = "→"
	}
	var text painted
	switch {
	case e.Dropped != 0:
		arrow, text = "✗", painted(a.err.text(traceDrop(e)))
	case e.Frame != nil:
		text = painted(escaped(bytes.ReplaceAll(e.Frame, []byte("\n"), []byte(" "))))
	case e.HTTP != nil:
		text = a.err.dim(traceHTTP(e.HTTP))
	}
	a.note("%s %s %s", a.err.dim(e.Time.Format("15:04:05.000")), arrow, text)
}

// traceMessage is traceEvent for what a checker says and hears.
func (a *app) traceMessage(m *peer.Message) {
	e := mcp.TapEvent{Time: time.Now(), Frame: m.Raw}
	if m.Sent {
		e.Direction = mcp.Sent
	}
	a.traceEvent(e)
}

// traceDrop describes a dropped message, and says why it was dropped.
func traceDrop(e mcp.TapEvent) string {
	what := e.Method
	if what == "" {
		what = "message"
	}
	text := fmt.Sprintf("%s dropped (%s): %s", label(what, 200), e.Dropped, e.Dropped.Explain())
	if e.Dropped == mcp.DropGivenUp {
		text = "no answer to " + label(what, 200)
	}
	if e.Err != nil {
		text += ": " + oneLine(e.Err.Error(), 200)
	}
	return text
}

// traceHTTP describes the start of a request or a response, without the header,
// which contains secrets.
func traceHTTP(h *mcp.TapHTTP) string {
	text := h.Method
	if h.Status != 0 {
		text = fmt.Sprintf("%d %s", h.Status, http.StatusText(h.Status))
	}
	if h.EventID != "" {
		text += " after event " + label(h.EventID, 100)
	}
	return "HTTP " + text
}

// prefixed puts a prefix before each line that is written to it.
type prefixed struct {
	out    *output
	prefix painted

	mu   sync.Mutex
	line []byte // the part of an unfinished line so far
}

// maxLine is the length at which an unfinished line is cut, in bytes.
const maxLine = 16 << 10

// Write implements io.Writer.
func (p *prefixed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = append(p.line, b...)
	for {
		end := bytes.IndexByte(p.line, '\n')
		if end < 0 && len(p.line) < maxLine {
			return len(b), nil
		}
		rest := p.line[end+1:]
		if end < 0 {
			end, rest = len(p.line), nil
		}
		p.out.printf("%s%s\n", p.prefix, p.line[:end])
		p.line = rest
	}
}
