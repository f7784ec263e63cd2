package spec_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Consecutive lists show what exists now, as changed by middleware.
func TestListsFollowChanges(t *testing.T) {
	var s *server.Server
	var told bool
	echo := func(_ context.Context, _ *server.Call, in struct{}) (struct{}, error) { return in, nil }
	made := func() mcp.Handler {
		told = false
		s = server.New(mcp.Implementation{Name: "lists", Version: "1"}, &server.Options{PageSize: 2})
		for _, name := range []string{"a", "b", "c"} {
			server.AddTool(s, mcp.Tool{Name: name, Description: name + "1"}, echo)
		}
		s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
			return func(ctx context.Context, x *mcp.Exchange) (any, error) {
				result, err := next(ctx, x)
				if r, ok := result.(*mcp.ListToolsResult); ok && told {
					return shout(r), err
				}
				return result, err
			}
		})
		return s
	}
	mcptest.Run(t, made, nil, func(t *testing.T, c *client.Client) {
		expect := func(when, want string) {
			t.Helper()
			for range 2 {
				var got []string
				for tool, err := range c.Tools(t.Context()) {
					if err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					got = append(got, tool.Description)
				}
				if text := strings.Join(got, " "); text != want {
					t.Errorf("%s the tools are %q, want %q", when, text, want)
				}
			}
		}
		expect("at first", "a1 b1 c1")
		server.AddTool(s, mcp.Tool{Name: "b", Description: "b2"}, echo)
		expect("after a replacement", "a1 b2 c1")
		told = true
		expect("through middleware", "A1 B2 C1")
		told = false
		s.RemoveTools("a")
		expect("after a removal", "b2 c1")
	})
}

// shout returns a copy of r, as middleware must, with other descriptions.
func shout(r *mcp.ListToolsResult) *mcp.ListToolsResult {
	changed := *r
	changed.Tools = slices.Clone(r.Tools)
	for i, tool := range changed.Tools {
		louder := *tool
		louder.Description = strings.ToUpper(tool.Description)
		changed.Tools[i] = &louder
	}
	return &changed
}
