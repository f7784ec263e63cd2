package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// A principal is bounded wherever it sends from, and whoever has none by where
// that is.
func TestWhomARateBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(Options{ToolRate: mcp.Rate{PerSecond: 4, Burst: 1}})
		AddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, struct{}) (string, error) { return "", nil })
		for _, step := range []struct {
			principal, source string
			wait              time.Duration
			refused           bool
		}{
			{principal: "ann", source: "192.0.2.1"},
			{principal: "ann", source: "192.0.2.2", refused: true},
			{principal: "bob", source: "192.0.2.1"},
			{source: "192.0.2.1"},
			{source: "192.0.2.1", refused: true},
			{source: "192.0.2.2"},
			{source: "ann"},
			{principal: "ann", wait: 249 * time.Millisecond, refused: true},
			{principal: "ann", wait: time.Millisecond},
		} {
			<-time.NewTimer(step.wait).C
			x := request(mcp.MethodCallTool, `{"name":"t"}`)
			x.Peer.Principal, x.Peer.Source = step.principal, step.source
			if _, err := s.Serve(t.Context(), x); (err != nil) != step.refused {
				t.Errorf("%q from %q: got %v; refused should be %t", step.principal, step.source, err, step.refused)
			}
		}
	})
}

// Many calls that log too much do not make up for it with messages that say so.
func TestOmissionsAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newServer(Options{Logging: true, LogRate: mcp.Rate{PerSecond: 0.001, Burst: 1}})
		AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, c *Call, _ struct{}) (string, error) {
			c.Log(ctx, mcp.LevelDebug, "a")
			c.Log(ctx, mcp.LevelDebug, "b")
			return "", nil
		})
		sent, dropped := 0, mcp.ProcessDrops().Count(mcp.DropThrottled)
		for range 100 {
			x := request(mcp.MethodCallTool, `{"name":"t"}`)
			back := &fakeBack{level: mcp.LevelDebug}
			x.Back = back
			serveExchange(t, s, x)
			sent += len(back.of(t, mcp.NoteMessage))
		}
		if n := mcp.ProcessDrops().Count(mcp.DropThrottled) - dropped; n != 199 {
			t.Errorf("%d messages were counted as dropped, want all 200 but one", n)
		}
		if want := 1 + omissionRate.Burst; sent != want {
			t.Errorf("%d messages were sent, want %d; log:\n%s", sent, want, log)
		}
	})
}
