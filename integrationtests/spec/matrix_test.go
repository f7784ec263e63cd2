package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestTypedCall(t *testing.T) {
	mcptest.Run(t, adder, nil, func(t *testing.T, c *client.Client) {
		got, err := client.Call[sum](t.Context(), c, "add", addArgs{9007199254740993, 1})
		if err != nil {
			t.Fatal(err)
		}
		if got.Sum != 9007199254740994 {
			t.Errorf("sum = %d, want 9007199254740994", got.Sum)
		}
	})
}

func TestInvalidArgumentsAreAToolError(t *testing.T) {
	mcptest.Run(t, adder, nil, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "add", map[string]any{"a": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if !r.IsError {
			t.Error("the result is not an error")
		}
	})
}

func TestUnknownTool(t *testing.T) {
	mcptest.Run(t, adder, nil, func(t *testing.T, c *client.Client) {
		_, err := c.CallTool(t.Context(), "nope", nil)
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("error = %v, want code -32602", err)
		}
	})
}

func TestUndeclaredFeatureIsRefusedLocally(t *testing.T) {
	mcptest.Run(t, adder, nil, func(t *testing.T, c *client.Client) {
		_, err := c.GetPrompt(t.Context(), "x", nil)
		var undeclared *client.NotDeclaredError
		if !errors.As(err, &undeclared) {
			t.Errorf("error = %v, want a NotDeclaredError", err)
		}
	})
}

func TestCancel(t *testing.T) {
	mcptest.Run(t, adder, nil, func(t *testing.T, c *client.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := c.CallTool(ctx, "wait", nil, client.WithProgress(func(*mcp.ProgressParams) { cancel() }))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want context.Canceled", err)
		}
		if _, err := client.Call[sum](t.Context(), c, "add", addArgs{1, 1}); err != nil {
			t.Errorf("after the cancellation: %v", err)
		}
	})
}

func TestPing(t *testing.T) {
	mcptest.Run(t, adder, nil, func(t *testing.T, c *client.Client) {
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRawCallKeepsUnknownMembers(t *testing.T) {
	handler := func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "x", Version: "1"}, nil)
		s.HandleMethod("acme/echo", func(_ context.Context, _ *server.Call, params json.RawMessage) (any, error) {
			return params, nil
		})
		return s
	}
	mcptest.Run(t, handler, nil, func(t *testing.T, c *client.Client) {
		raw, err := c.Do(t.Context(), "acme/echo", json.RawMessage(`{"later":{"n":12345678901234567890}}`))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if want := `{"n":12345678901234567890}`; string(got["later"]) != want {
			t.Errorf("later = %s, want %s", got["later"], want)
		}
	})
}
