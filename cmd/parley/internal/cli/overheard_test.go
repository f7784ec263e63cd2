package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// What a server's command wrote beside the protocol is shown with an error that
// it may explain, within bounds.
func TestFailuresQuoteTheCommand(t *testing.T) {
	heard := new(overheard)
	_, _ = heard.Write([]byte(strings.Repeat("x", 2*keptStderr) + "\nneed\x1b[2J API_KEY\n"))
	for range keptLines + 3 {
		heard.tap(mcp.TapEvent{Direction: mcp.Received, Frame: []byte("Listening on\x1b 7 " + strings.Repeat("y", 10*keptLineSize))})
		heard.tap(mcp.TapEvent{Direction: mcp.Received, Dropped: mcp.DropMalformed})
		heard.tap(mcp.TapEvent{Direction: mcp.Received, Frame: []byte(`{"jsonrpc":"2.0","method":"fine"}`)})
	}
	a, c := newTestApp("", false)
	a.heard = heard
	if code := a.report(context.Background(), &failure{code: codeTimeout, err: client.ErrTimeout}); code != exitUnreachable {
		t.Errorf("exit code %d", code)
	}
	text := c.err.String()
	for _, want := range []string{"\n  | need\uFFFD[2J API_KEY\n", "on standard output, where only the protocol belongs:\n  | Listening on\uFFFD 7 yyy", "… and 3 more lines like these"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, "fine") || len(text) > keptStderr+keptLines*(keptLineSize+20)+500 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	c.err.Reset()
	a.jsonErrors = true
	a.report(context.Background(), &failure{code: codeTimeout, err: client.ErrTimeout})
	if text := c.err.String(); !strings.Contains(text, `need\u001b[2J API_KEY"`) || strings.Count(text, "Listening on") != keptLines {
		t.Errorf("as JSON: %s", text)
	}
	c.err.Reset()
	a.report(context.Background(), &failure{code: codeRefused, err: client.ErrTimeout})
	if text := c.err.String(); strings.Contains(text, "API_KEY") {
		t.Errorf("an answer of the server is explained with %s", text)
	}
}

// What a server's command writes beside the protocol is quoted where the command works
// all the same, and not complained of line by line.
func TestChatterIsQuotedOnce(t *testing.T) {
	a, c := newTestApp("", false)
	a.heard = new(overheard)
	for range 2 * keptLines {
		a.heard.tap(mcp.TapEvent{Direction: mcp.Received, Frame: []byte("Listening on \x1b7")})
		a.heard.tap(mcp.TapEvent{Direction: mcp.Received, Dropped: mcp.DropMalformed})
		a.logger().Warn("message of the server ignored", "method", "", "id", "", "reason", "parse error")
	}
	a.logger().Warn("message of the server ignored", "method", "x/y", "id", "", "reason", "nobody takes it")
	a.noteChatter(t.Context(), &failure{code: codeTimeout, err: client.ErrTimeout}) // which quotes it
	if text := c.err.String(); strings.Contains(text, "parse error") || strings.Contains(text, "Listening") || !strings.Contains(text, "x/y") {
		t.Errorf("said %s", text)
	}
	c.err.Reset()
	a.noteChatter(t.Context(), nil)
	if got, want := c.err.String(), "parley: 10 lines on the server's standard output are no messages, such as \"Listening on \uFFFD7\"\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
