package mcptest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func names(modes []mcptest.Mode) string {
	var list []string
	for _, m := range modes {
		list = append(list, m.String())
	}
	return strings.Join(list, " ")
}

func TestModes(t *testing.T) {
	t.Setenv("PARLEY_TEST_ALL", "")
	want := "memory/2024-11-05 memory/2025-11-25 memory/2026-07-28 lines/2024-11-05 lines/2025-11-25 lines/2026-07-28 " +
		"http/2025-03-26 http/2025-11-25 http/2026-07-28 sse/2024-11-05"
	if got := names(mcptest.Modes()); got != want {
		t.Errorf("the matrix is\n%s\nwant\n%s", got, want)
	}
	t.Setenv("PARLEY_TEST_ALL", "1")
	if got, all := names(mcptest.Modes()), names(mcptest.AllModes()); got != all || len(mcptest.AllModes()) != 5+5+4+1 {
		t.Errorf("the whole matrix is\n%s\nand\n%s", got, all)
	}
}

func TestRunVisitsEveryMode(t *testing.T) {
	seen := map[string]bool{}
	t.Run("modes", func(t *testing.T) {
		mcptest.Run(t, adder, nil, func(t *testing.T, c *client.Client) {
			got, err := client.Call[sum](t.Context(), c, "add", addArgs{1, 2})
			if err != nil || got.Sum != 3 {
				t.Errorf("add gave %d, %v", got.Sum, err)
			}
			seen[t.Name()] = true
		})
	})
	for _, m := range mcptest.Modes() {
		if !seen[t.Name()+"/modes/"+m.String()] {
			t.Errorf("%s was not visited", m)
		}
	}
}

func TestSkippedModesAreSkipped(t *testing.T) {
	modes := mcptest.Skip(mcptest.Modes(), "this is a test of skipping", mcptest.Mode.IsHTTP)
	var ran []string
	t.Run("modes", func(t *testing.T) {
		mcptest.RunModes(t, modes, adder, nil, func(t *testing.T, _ *client.Client) { ran = append(ran, t.Name()) })
	})
	if len(ran) == 0 || slices.ContainsFunc(ran, func(name string) bool { return strings.Contains(name, "http") || strings.Contains(name, "sse") }) {
		t.Errorf("what ran is %q", ran)
	}
}

// Every mode works in a bubble, where a minute passes as soon as everything
// waits for it.
func TestBubbles(t *testing.T) {
	slow := func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "slow", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
		server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
			timer := time.NewTimer(time.Hour)
			defer timer.Stop()
			select {
			case <-timer.C:
				return "an hour has passed", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
		return s
	}
	for _, m := range mcptest.AllModes() {
		t.Run(m.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				c := mcptest.Connect(t, slow(), m, &client.Options{Timeout: -1, MaxTimeout: -1})
				got, err := client.Call[string](t.Context(), c, "wait", nil)
				if err != nil || got != "an hour has passed" || time.Since(begun) != time.Hour {
					t.Errorf("after %s: %q, %v", time.Since(begun), got, err)
				}
			})
		})
	}
}
