// Client is what the official conformance suite tests as a client. The suite
// starts it once for each scenario, with the URL of a server of its own:
//
//	MCP_CONFORMANCE_SCENARIO=tools_call client URL
package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/streamable"
)

// limit is well below the time that the suite gives a client.
const limit = 20 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	err := run(ctx, os.Args[1:], logger)
	cancel()
	stop()
	if err != nil {
		logger.Error("failed", "error", err)
		os.Exit(1)
	}
	// The suite ignores the exit code of a client, but keeps what it says.
	fmt.Fprintln(os.Stdout, "done") //nolint:forbidigo // nobody speaks MCP on it
}

func run(ctx context.Context, args []string, logger *slog.Logger) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: client URL")
	}
	name := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	scenario, ok := scenarios()[name]
	if strings.HasPrefix(name, "auth/") {
		scenario, ok = calling("test-tool", `{}`), true
	}
	if !ok {
		return fmt.Errorf("MCP_CONFORMANCE_SCENARIO is %q, which is none of %q", name, slices.Sorted(maps.Keys(scenarios())))
	}
	t := &streamable.Client{URL: args[0], Logger: logger}
	if strings.HasPrefix(name, "auth/") {
		o, err := login(name, args[0], logger)
		if err != nil {
			return fmt.Errorf("scenario %q: %w", name, err)
		}
		defer o.Close()
		t.HTTP = &http.Client{Transport: o.Transport(nil)}
		defer t.HTTP.CloseIdleConnections()
	}
	if err := refused(name, visit(ctx, t, scenario, logger)); err != nil {
		return fmt.Errorf("scenario %q: %w", name, err)
	}
	return nil
}

// visit connects and does what the scenario expects.
func visit(ctx context.Context, t mcp.Transport, scenario scenario, logger *slog.Logger) error {
	opts := options(logger)
	wanted := os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")
	opts.Revisions = offer(wanted)
	c, err := client.Connect(ctx, t, opts)
	if err != nil {
		return err
	}
	logger.Info("connected", "revision", c.Revision(), "server", c.ServerInfo().Name)
	if got := c.Revision().String(); wanted != "" && got != wanted {
		err = fmt.Errorf("the connection speaks %s, and the scenario is about %s", got, wanted)
	} else {
		err = scenario(ctx, c)
	}
	if closing := c.Close(); err == nil {
		err = closing
	}
	return err
}

// offer returns the revisions to speak in a scenario about one of them; nil
// means all. Finding out that a server is one of the session era is part of the
// scenarios about the newest session revision. In scenarios about older ones,
// newer ones must not be offered, because the suite's servers would accept
// them.
func offer(wanted string) []mcp.Revision {
	var older []mcp.Revision
	for _, r := range mcp.Revisions() {
		if r == mcp.Revision20251125 {
			break
		}
		if older = append(older, r); r.String() == wanted {
			return older
		}
	}
	return nil
}

// options declare everything that a client can do.
func options(logger *slog.Logger) *client.Options {
	return &client.Options{
		Info:   mcp.Implementation{Name: "parley-conformance", Version: "1.0.0"},
		Logger: logger,
		Elicit: elicit,
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{
				Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text("A model would say more.")}, Model: "none", StopReason: "endTurn",
			}, nil
		},
		Roots: []*mcp.Root{{URI: "file:///conformance", Name: "Conformance"}},
	}
}
