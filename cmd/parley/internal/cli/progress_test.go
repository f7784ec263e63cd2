package cli

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func TestProgressBar(t *testing.T) {
	tests := []struct {
		name  string
		total float64
		at    []float64
		shown string
	}{
		{"counted", 4, []float64{1, 2}, "2/4"},
		{"a fraction", 0.5, []float64{0.1, 0.25}, "50%"},
		{"no total", 0, []float64{7, 8}, "work"},
		{"beyond the total", 2, []float64{1, 5}, "1/2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, c := newTestApp("", true)
			_, done := a.progress("work")
			for _, at := range tt.at {
				a.bar.update(&mcp.ProgressParams{Progress: at, Total: tt.total, Message: "busy"})
			}
			if !strings.Contains(c.err.String(), tt.shown) || !strings.Contains(c.err.String(), "work: busy") {
				t.Errorf("%q is not shown in %q", tt.shown, c.err.String())
			}
			done()
			if !strings.HasSuffix(c.err.String(), "\x1b[2K\r") {
				t.Errorf("the bar was not taken away: %q", c.err.String())
			}
		})
	}
}

func TestProgressIsNotDrawnOverAQuestion(t *testing.T) {
	a, c := newTestApp("", true)
	_, done := a.progress("work")
	a.screen.Lock()
	a.bar.update(&mcp.ProgressParams{Progress: 1, Total: 2})
	a.screen.Unlock()
	done()
	if c.err.Len() > 0 {
		t.Errorf("drawn: %q", c.err.String())
	}
}

func TestProgressNeedsATerminal(t *testing.T) {
	a, c := newTestApp("", false)
	_, done := a.progress("work")
	a.bar.update(&mcp.ProgressParams{Progress: 1, Total: 2})
	done()
	if c.err.Len() > 0 {
		t.Errorf("drawn: %q", c.err.String())
	}
}
