package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/examples/rest/library"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// call calls a tool whose result is a text.
func call(t *testing.T, c *client.Client, tool string, args map[string]any, opts ...client.CallOption) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, args, opts...)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return strings.TrimSpace(r.Content[0].(*mcp.TextContent).Text), r.IsError
}

func tools(t *testing.T, c *client.Client) []string {
	t.Helper()
	all, err := client.Collect(c.Tools(t.Context(), client.WithFresh()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range all {
		names = append(names, tool.Name)
	}
	return names
}

// The API is used in every revision. Its index takes a while, and with it comes one
// tool more.
func TestLibrary(t *testing.T) {
	for _, mode := range mcptest.AllModes() {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // time passes at once
				web := mcptest.NewSite(library.NewAPI())
				t.Cleanup(web.Close)
				p := newProxy(web.Client, web.URL, "")
				go p.follow(t.Context())
				synctest.Wait()
				use(t, mcptest.Connect(t, p, mode, nil))
			})
		})
	}
}

func use(t *testing.T, c *client.Client) {
	t.Helper()
	if got := tools(t, c); !slices.Equal(got, []string{"list_books", "add_book", "get_book", "make_index"}) {
		t.Errorf("at first: %q", got)
	}
	call(t, c, "add_book", map[string]any{"title": "Sanditon"})
	if got, _ := call(t, c, "get_book", map[string]any{"id": 3}); got != `{"id":3,"title":"Sanditon"}` {
		t.Errorf("the third book: %s", got)
	}
	if got, failed := call(t, c, "get_book", map[string]any{"id": 4}); !failed || got != "Not Found: there is no book 4" {
		t.Errorf("the fourth book: %s", got)
	}
	steps, states := 0, 0
	got, _ := call(t, c, "make_index", nil, client.WithProgress(func(*mcp.ProgressParams) { steps++ }), client.WithTaskStatus(func(*mcp.Task) { states++ }))
	if got != `{"titles":3}` || steps == 0 {
		t.Errorf("index: %s, after %d steps", got, steps)
	}
	// From this revision on, the server decides what becomes a task.
	if became := states > 0; became != (c.Revision().String() >= "2026-07-28") {
		t.Errorf("in %s it was a task: %t", c.Revision(), became)
	}
	time.Sleep(10 * time.Second) // until the proxy looks again
	synctest.Wait()
	if got, _ := call(t, c, "search", map[string]any{"word": "SAN"}); got != `[{"id":3,"title":"Sanditon"}]` {
		t.Errorf("found %s", got)
	}
}

// A model cannot leave the path of an operation.
func TestNoOtherPath(t *testing.T) {
	op := operation{Method: "GET", Path: "/books/{id}/pages"}
	for _, id := range []string{"", ".", ".."} {
		if path, _, err := op.request(arguments{"id": json.RawMessage(`"` + id + `"`)}); err == nil {
			t.Errorf("%q leads to %s", id, path)
		}
	}
	if path, _, err := op.request(arguments{"id": json.RawMessage(`"../x?y=z"`)}); err != nil || path != "/books/..%2Fx%3Fy=z/pages?" {
		t.Errorf("got %s, %v", path, err)
	}
}
