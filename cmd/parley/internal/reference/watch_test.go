package reference

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// events are the changes that a subscription has reported.
type events chan mcp.Change

func listen(t *testing.T, c *client.Client, filter mcp.SubscriptionFilter) (events, error) {
	t.Helper()
	told := make(events, 100)
	sub, err := c.Listen(t.Context(), filter, func(_ context.Context, e client.Event) {
		told <- e.Change
	})
	if err == nil {
		t.Cleanup(func() { _ = sub.Close() })
	}
	return told, err
}

// want waits for changes, in any order; others may come in between.
func (e events) want(t *testing.T, changes ...mcp.Change) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for len(changes) > 0 {
		select {
		case got := <-e:
			changes = slices.DeleteFunc(changes, func(c mcp.Change) bool { return c == got })
		case <-ctx.Done():
			t.Fatalf("never notified of %+v", changes)
		}
	}
}

// rooted returns a function that makes servers with a root.
func rooted(t *testing.T, dir string) func() mcp.Handler {
	return func() mcp.Handler { return start(t, Options{Root: dir}).srv }
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
