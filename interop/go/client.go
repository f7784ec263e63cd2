package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// visit offers a folder as the only root to the reference server, which then asks for
// the roots, and shows only what is below them. It asks in a session with a request of
// its own, and in the stateless era in the result of the call.
func visit(ctx context.Context, parley, revision string) error {
	dir, err := os.MkdirTemp("", "parley-interop-go-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	inside := filepath.Join(dir, "inside")
	if err := os.Mkdir(inside, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"outside.txt", "inside/here.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("needle\n"), 0o600); err != nil {
			return err
		}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "official", Version: "1"}, nil)
	c.AddRoots(&mcp.Root{URI: "file://" + inside, Name: "inside"})
	session, err := c.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(parley, "serve", "--stdio", "--root", dir)}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "find_files", Arguments: map[string]any{"pattern": "**/*.txt"}})
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, block := range result.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		return fmt.Errorf("the session speaks %s", got)
	}
	if result.IsError || !strings.Contains(text.String(), "here.txt") || strings.Contains(text.String(), "outside.txt") {
		return fmt.Errorf("the tool did not keep to the roots: %s", text.String())
	}
	return nil
}
