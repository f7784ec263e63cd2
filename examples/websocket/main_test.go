package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

func start(t *testing.T, h mcp.Handler) (url string) {
	t.Helper()
	web := httptest.NewServer(handler(h))
	t.Cleanup(web.Close)
	return "ws" + strings.TrimPrefix(web.URL, "http")
}

func TestGreet(t *testing.T) {
	words, err := greet(t.Context(), start(t, greeter()), "Ann")
	if err != nil || words != "Hello, Ann." {
		t.Errorf("got %q, %v", words, err)
	}
}

// Questions, progress and long messages pass in every revision.
func TestEveryRevision(t *testing.T) {
	srv := server.New(mcp.Implementation{Name: "t", Version: "1"}, nil)
	long := strings.Repeat("long ", 1<<18)
	server.AddTool(srv, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		roots, err := server.Roots(ctx, call)
		if err != nil {
			return "", err
		}
		call.Progress(ctx, 1, 1, "")
		return roots[0].Name + long, nil
	})
	url := start(t, srv)
	for _, r := range mcp.Revisions() {
		t.Run(r.String(), func(t *testing.T) {
			c, err := client.Connect(t.Context(), transport(url), &client.Options{
				Revisions: []mcp.Revision{r}, Roots: []*mcp.Root{{URI: "file:///a", Name: "home"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			got, err := client.Call[string](t.Context(), c, "ask", nil, client.WithProgress(func(*mcp.ProgressParams) { told++ }))
			if err = errors.Join(err, c.Close()); err != nil || got != "home"+long || told != 1 {
				t.Errorf("got %d bytes, %d progress notifications, %v", len(got), told, err)
			}
		})
	}
}

// The error names a server that is not there.
func TestNobodyIsThere(t *testing.T) {
	_, err := greet(t.Context(), "ws://localhost:1", "Ann")
	if err == nil || !strings.Contains(err.Error(), "ws://localhost:1") {
		t.Errorf("got %v", err)
	}
}
