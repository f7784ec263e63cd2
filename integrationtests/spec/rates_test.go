package spec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// thrice is a rate that a test reaches with its fourth request, and that leaves
// no room for another for as long as a test takes.
var thrice = mcp.Rate{PerSecond: 0.001, Burst: 3}

// limited is a server that one client may use three times.
func limited() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "limited", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Logging: true, ToolRate: thrice, CompletionRate: thrice, LogRate: thrice,
	})
	server.AddTool(s, mcp.Tool{Name: "log"}, func(ctx context.Context, call *server.Call, in struct{ Times int }) (string, error) {
		for i := range in.Times {
			level := mcp.LevelInfo
			if i == in.Times-2 {
				level = mcp.LevelError
			}
			call.Log(ctx, level, i)
		}
		return "done", nil
	})
	server.AddTemplate(s, mcp.ResourceTemplate{Name: "t", URITemplate: "a:{b}"}, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		return nil, errors.New("not read here")
	})
	s.CompleteTemplate("a:{b}", "b", server.CompleteFrom("x"))
	return s
}

// fourth makes a request four times, and checks that the last one is refused.
func fourth(t *testing.T, what string, request func() error) {
	t.Helper()
	for i := range 3 {
		if err := request(); err != nil {
			t.Fatalf("number %d of a burst of 3: %v", i+1, err)
		}
	}
	err := request()
	refusal, coded := errors.AsType[*jsonrpc.Error](err)
	if !coded || refusal.Code != jsonrpc.CodeInternalError {
		t.Fatalf("number 4 of a burst of 3: got %v, want an error with the code %d", err, jsonrpc.CodeInternalError)
	}
	for _, part := range []string{"too many " + what, "0.001 a second", "try again in "} {
		if !strings.Contains(refusal.Message, part) {
			t.Errorf("the refusal %q does not say %q", refusal.Message, part)
		}
	}
}

// Spec: 2026-07-28 server/tools#security-considerations (1).
func TestToolCallsAreRateLimited(t *testing.T) {
	mcptest.Run(t, limited, nil, func(t *testing.T, c *client.Client) {
		fourth(t, "tool calls", func() error {
			_, err := c.CallTool(t.Context(), "log", map[string]int{"Times": 0})
			return err
		})
	})
}

// Spec: 2026-07-28 server/utilities/completion#security.
func TestCompletionIsRateLimited(t *testing.T) {
	mcptest.Run(t, limited, nil, func(t *testing.T, c *client.Client) {
		fourth(t, "completion requests", func() error {
			_, err := c.CompleteTemplate(t.Context(), "a:{b}", "b", "", nil)
			return err
		})
	})
}

// Of too many log messages the client gets the first ones, and one that says how
// many are missing.
//
// Spec: 2026-07-28 server/utilities/logging#security.
func TestLogMessagesAreRateLimited(t *testing.T) {
	var got []string
	opts := func() *client.Options {
		got = nil
		return &client.Options{LogLevel: mcp.LevelInfo, Log: func(_ context.Context, m *mcp.LogParams) {
			got = append(got, fmt.Sprint(m.Level, " ", m.Data))
		}}
	}
	mcptest.Run(t, limited, opts, func(t *testing.T, c *client.Client) {
		if _, err := c.CallTool(t.Context(), "log", map[string]int{"Times": 2000}); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil { // after which every message has been delivered
			t.Fatal(err)
		}
		want := []string{"info 0", "info 1", "info 2", "error 1997 log messages were left out: a client gets 0.001 a second"}
		if !slices.Equal(got, want) {
			t.Errorf("the client got %d messages:\n\t%s\nwant\n\t%s", len(got), strings.Join(got[:min(len(got), 10)], "\n\t"), strings.Join(want, "\n\t"))
		}
	})
}

// A rate bounds each client, not all of them together.
func TestRatesAreForEachClient(t *testing.T) {
	for _, mode := range mcptest.Modes() {
		if mode.IsHTTP() {
			continue // both clients would have the same address
		}
		t.Run(mode.String(), func(t *testing.T) {
			h := limited()
			for range 2 {
				c := mcptest.Connect(t, h, mode, nil)
				fourth(t, "tool calls", func() error {
					_, err := c.CallTool(t.Context(), "log", map[string]int{"Times": 0})
					return err
				})
			}
		})
	}
}
