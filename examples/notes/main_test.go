package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server/otelmcp"
)

// everywhere runs a test in all revisions and over all transports, each time with
// the same note in a new file.
func everywhere(t *testing.T, spans trace.SpanProcessor, body func(t *testing.T, c *client.Client)) {
	dir, files := t.TempDir(), 0
	mcptest.RunModes(t, mcptest.AllModes(), func() mcp.Handler {
		files++
		s, err := openStore(t.Context(), filepath.Join(dir, strconv.Itoa(files)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.db.Close() })
		_, err = s.db.ExecContext(t.Context(), `INSERT INTO notes (title, text) VALUES ('Milk', 'one bottle')`)
		srv, err2 := newServer(t.Context(), s)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		srv.Use(otelmcp.Middleware(&otelmcp.Options{TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans))}))
		return srv
	}, nil, body)
}

func text(t *testing.T, c *client.Client, uri string) string {
	t.Helper()
	r, err := c.ReadResource(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	return *r.Contents[0].Text
}

func TestNotes(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	everywhere(t, spans, func(t *testing.T, c *client.Client) {
		added, err := client.Call[note](t.Context(), c, "add_note", map[string]any{"title": "Eggs", "text": "six"})
		if err != nil || text(t, c, added.uri()) != "six" {
			t.Fatalf("added %+v, %v", added, err)
		}
		got, err := client.Call[found](t.Context(), c, "find_notes", search{"EGG"})
		if err != nil || !slices.Equal(got.Notes, []note{added}) {
			t.Errorf("found %+v, %v", got, err)
		}
		p, err := c.GetPrompt(t.Context(), "sum_up", map[string]string{"words": "bottle"})
		if err != nil || len(p.Messages) != 2 {
			t.Errorf("prompt %+v, %v", p, err)
		}
		if _, err := client.Call[note](t.Context(), c, "delete_note", map[string]any{"id": added.ID}); err != nil {
			t.Error(err)
		}
		if _, err := c.ReadResource(t.Context(), added.uri()); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("reading a note that was deleted: %v", err)
		}
		var failed *client.ToolError
		if _, err := client.Call[note](t.Context(), c, "delete_note", map[string]any{"id": added.ID}); !errors.As(err, &failed) {
			t.Errorf("deleting it again: %v", err)
		}
	})
	if !slices.ContainsFunc(spans.Ended(), func(s trace.ReadOnlySpan) bool { return s.Name() == "tools/call add_note" }) {
		t.Error("calls are not traced")
	}
}

func TestWatch(t *testing.T) {
	everywhere(t, tracetest.NewSpanRecorder(), func(t *testing.T, c *client.Client) {
		milk := note{ID: 1}
		changes := make(chan mcp.Change, 10)
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourcesListChanged: true, ResourceSubscriptions: []string{milk.uri()}},
			func(_ context.Context, e client.Event) { changes <- e.Change })
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Close() }()
		if _, err := client.Call[note](t.Context(), c, "edit_note", map[string]any{"id": milk.ID, "text": "two bottles"}); err != nil {
			t.Fatal(err)
		}
		if got := <-changes; got.URI != milk.uri() || text(t, c, got.URI) != "two bottles" {
			t.Errorf("after an edit: %+v", got)
		}
		if _, err := client.Call[note](t.Context(), c, "add_note", map[string]any{"title": "Eggs", "text": "six"}); err != nil {
			t.Fatal(err)
		}
		if got := <-changes; got.Kind != mcp.ResourcesChanged {
			t.Errorf("after an addition: %+v", got)
		}
	})
}
