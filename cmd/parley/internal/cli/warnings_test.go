package cli

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// What a server repeats for ever is shown for a while, and counted.
func TestWarningsAreBounded(t *testing.T) {
	a, c := newTestApp("", false)
	for range 3 * sameWarnings {
		a.logger().With("server", "x").Warn("bad", "what", strings.Repeat("y", 10*warningSize))
		a.logger().WithGroup("g").Warn("worse")
	}
	a.logger().Warn("once")
	a.noteWithheld()
	text := c.err.String()
	if n := strings.Count(text, "msg=bad"); n != sameWarnings {
		t.Errorf("shown %d times", n)
	}
	for _, want := range []string{`20 more warnings like "bad" were not shown`, `20 more warnings like "worse"`, "msg=once"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(text) > sameWarnings*(warningSize+200)*2 {
		t.Errorf("%d bytes were written", len(text))
	}
}

func TestServerLogsAreBounded(t *testing.T) {
	a, c := newTestApp("", false)
	const sent = 100_000
	for range sent {
		a.serverLog(t.Context(), &mcp.LogParams{Level: mcp.LevelInfo, Data: "spam"})
	}
	shown := strings.Count(c.err.String(), "[info] spam")
	a.noteWithheld()
	if shown < 10*logsPerSecond || shown == sent || !strings.Contains(c.err.String(), "log messages of the server were not shown") {
		t.Errorf("%d were shown: %.300s", shown, c.err.String())
	}
}
