// Ours plays Parley's part in the suite tasks where the program cannot: a server whose
// tools fail with errors of the protocol, and which asks its clients by tasks; and a
// client that follows tasks step by step, and answers questions as tasks.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/parley-mcp/parley/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	err := run(ctx, os.Args[1:], newServer(logger), logger)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, s *server.Server, logger *slog.Logger) error {
	switch {
	case len(args) == 2 && args[0] == "server":
		return serve(ctx, s, args[1], logger)
	case len(args) > 2 && args[0] == "client":
		return check(ctx, args[1], args[2:], logger)
	}
	return errors.New("usage: ours server stdio|http, or ours client REVISION URL, or with a command in place of the URL")
}
