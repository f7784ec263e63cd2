package check_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/mcptest/check"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// recorder is a test whose errors are kept.
type recorder struct {
	testing.TB

	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func newServer() *server.Server {
	s := server.New(mcp.Implementation{Name: "adder", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	type terms struct {
		A, B int
	}
	server.AddTool(s, mcp.Tool{Name: "add", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *server.Call, t terms) (int, error) { return t.A + t.B, nil })
	return s
}

func TestServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		check.Server(t, check.Handler(newServer()))
	})
}

func TestServerOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := streamable.New(newServer(), &streamable.Options{KeepAlive: -1})
		if err != nil {
			t.Fatal(err)
		}
		check.Server(t, check.HTTP(h), check.Revision(mcp.Revision20251125), check.Report(filepath.Join(t.TempDir(), "report.json")))
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// wrong answers every unknown method with a code of its own.
type wrong struct{ mcp.Handler }

func (w wrong) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	result, err := w.Handler.Serve(ctx, x)
	if err != nil && strings.HasPrefix(x.Method, "parley/") {
		return map[string]any{}, nil
	}
	return result, err
}

func TestFailuresAreErrors(t *testing.T) {
	r := &recorder{TB: t}
	check.Server(r, check.Handler(wrong{newServer()}), check.Revision(mcp.Revision20251125))
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "2511.basic-004 (MUST)") || !strings.Contains(r.errors[0], "parley/no-such-method") {
		t.Errorf("the errors are %q, want one about 2511.basic-004 with the bytes", r.errors)
	}
}

// A client of ours is accused of nothing, whatever the servers do.
func TestClient(t *testing.T) {
	check.Client(t, func(ctx context.Context, url string) error {
		c, err := client.Connect(ctx, &streamable.Client{URL: url}, &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet()})
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		for _, err := range c.Tools(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	}, check.Revision(mcp.Revision20251125), check.Patience(5*time.Second))
}
