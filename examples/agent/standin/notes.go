package standin

import (
	"context"
	"os"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

// variable is set in the environment of the process that serves notes.
const variable = "AGENT_SERVES_NOTES"

// ServerEnv is the environment that makes this program a server.
func ServerEnv() map[string]string { return map[string]string{variable: "1"} }

// IsServer reports whether this process is to be a server.
func IsServer() bool { return os.Getenv(variable) != "" }

// ServeNotes serves notes on standard input and output. One of its tools ends the process,
// as a bug would.
func ServeNotes(ctx context.Context) error {
	s := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	server.AddTool(s, mcp.Tool{Name: "read", Description: "Reads the notes"}, func(context.Context, *server.Call, struct{}) (string, error) { return "buy milk", nil })
	server.AddTool(s, mcp.Tool{Name: "delete", Description: "Deletes the notes"}, func(context.Context, *server.Call, struct{}) (string, error) { return "deleted", nil })
	server.AddTool(s, mcp.Tool{Name: "sort", Description: "Sorts the notes"}, func(context.Context, *server.Call, struct{}) (string, error) {
		os.Exit(1)
		return "", nil
	})
	return stdio.Serve(ctx, s, nil)
}
