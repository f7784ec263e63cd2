package streamable_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// crashing is set in a process that should end with a panic.
const crashing = "PARLEY_TEST_CRASH"

// A server that is configured to crash on panics does so in both eras, although
// net/http recovers from them.
func TestCrashOnPanic(t *testing.T) {
	if era := os.Getenv(crashing); era != "" {
		crash(t, era)
		return
	}
	for _, era := range []string{"session", "stateless"} {
		t.Run(era, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashOnPanic$")
			cmd.Env = append(os.Environ(), crashing+"="+era)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "panic: all is lost") || !strings.Contains(string(out), "crash_test.go") {
				t.Errorf("ended with %v, and says\n%s", err, out)
			}
		})
	}
}

func crash(t *testing.T, era string) {
	s := server.New(mcp.Implementation{Name: "c", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Panic: server.CrashOnPanic})
	server.AddTool(s, mcp.Tool{Name: "crash"}, func(context.Context, *server.Call, struct{}) (string, error) { panic("all is lost") })
	ts, _ := start(t, s, nil)
	if era == "stateless" {
		ask(t, ts, "POST", modern("tools/call", `"name":"crash"`), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "crash")
		return
	}
	id := open(t, ts, "2025-11-25")
	ask(t, ts, "POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"crash"}}`, "Mcp-Session-Id", id)
}
