package reference

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start makes a reference server that ends with the test.
func start(t *testing.T, o Options) *reference {
	t.Helper()
	if o.Logger == nil {
		o.Logger = mcptest.Quiet()
	}
	r, release, err := build(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Errorf("release: %v", err)
		}
	})
	return r
}

// shared returns a function that returns one server each time: for tests that
// leave nothing behind in it.
func shared(t *testing.T, o Options) func() mcp.Handler {
	o.Version = "1.2.3"
	r := start(t, o)
	return func() mcp.Handler { return r.srv }
}

// plain returns a function that makes servers without a root.
func plain(t *testing.T) func() mcp.Handler {
	return func() mcp.Handler { return start(t, Options{}).srv }
}

// textOf returns the first block of a result, which must be text.
func textOf(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) == 0 {
		t.Fatal("the result has no content")
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the first block is a %T", r.Content[0])
	}
	return text.Text
}

// call calls a tool with a structured result; it must succeed. The structure
// is also in the first block, for revisions that know no other.
func call[Out any](t *testing.T, c *client.Client, tool string, args any, opts ...client.CallOption) Out {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, args, opts...)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := textOf(t, r)
	if r.IsError {
		t.Fatalf("%s: %s", tool, text)
	}
	if r.StructuredContent != nil && string(r.StructuredContent) != text {
		t.Errorf("%s: structured content %s, but text %s", tool, r.StructuredContent, text)
	}
	var out Out
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, text)
	}
	return out
}

// wantToolError calls a tool that must fail in words that hold want.
func wantToolError(t *testing.T, c *client.Client, tool string, args any, want string) {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, args)
	if err != nil {
		t.Errorf("%s: %v; want a tool error", tool, err)
		return
	}
	if text := textOf(t, r); !r.IsError || !strings.Contains(text, want) {
		t.Errorf("%s = %q, IsError %t; want an error with %q", tool, text, r.IsError, want)
	}
}

// readText reads a resource that is one text.
func readText(t *testing.T, c *client.Client, uri string) string {
	t.Helper()
	r, err := c.ReadResource(t.Context(), uri)
	if err != nil {
		t.Fatalf("reading %s: %v", uri, err)
	}
	if len(r.Contents) != 1 || r.Contents[0].Text == nil {
		t.Fatalf("reading %s: %d contents, or no text", uri, len(r.Contents))
	}
	return *r.Contents[0].Text
}

func readJSON(t *testing.T, c *client.Client, uri string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(readText(t, c, uri)), v); err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
}
