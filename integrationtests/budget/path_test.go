package budget_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

const module = "github.com/parley-mcp/parley/"

// pathOf returns the functions of this module on the stack of the tool handler
// that calls it: the transport's first, the handler last. Closures count, and
// so do inlined functions: a reader of the code goes through each of them.
func pathOf() []string {
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)]) // without Callers and pathOf
	var path []string
	for {
		frame, more := frames.Next()
		name, ours := strings.CutPrefix(frame.Function, module)
		if ours && !strings.HasPrefix(name, "mcptest.") { // which chooses between servers
			path = append(path, name)
		}
		if !more {
			slices.Reverse(path)
			return path
		}
	}
}

// pathBudgets is the number of functions from the transport's entry to the
// user's handler, inclusive. A new function has to replace another, or
// ARCHITECTURE.md has to say what it is worth.
var pathBudgets = map[mcptest.Mode]int{
	{Revision: mcp.Revision20251125, Transport: mcptest.Lines}: 10,
	{Revision: mcp.Revision20260728, Transport: mcptest.Lines}: 10,
	{Revision: mcp.Revision20251125, Transport: mcptest.HTTP}:  12, // which finds the session, and the stream of the request,
	{Revision: mcp.Revision20260728, Transport: mcptest.HTTP}:  10,
}

func TestPathOfACall(t *testing.T) {
	for mode, budget := range pathBudgets {
		t.Run(mode.String(), func(t *testing.T) {
			// In a bubble no request takes long, so none gets a goroutine of its
			// own: this is the path of an undisturbed call.
			synctest.Test(t, func(t *testing.T) {
				path := measurePath(t, mode)
				t.Logf("%d functions", len(path))
				if len(path) > budget {
					t.Errorf("a call goes through %d functions, and the budget is %d:\n\t%s", len(path), budget, strings.Join(path, "\n\t"))
				}
			})
		})
	}
}

// measurePath makes a call and returns the functions that it went through.
func measurePath(t *testing.T, mode mcptest.Mode) (path []string) {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "path", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "add"}, func(_ context.Context, _ *server.Call, in addArgs) (sum, error) {
		path = pathOf()
		return sum{in.A + in.B}, nil
	})
	c := mcptest.Connect(t, s, mode, nil)
	if _, err := client.Call[sum](t.Context(), c, "add", addArgs{1, 2}); err != nil {
		t.Fatal(err)
	}
	return path
}
