// Server is what the official conformance suite tests as a server: every
// feature its scenarios ask for, in all revisions, on one URL.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/parley-mcp/parley/transport/streamable"
)

func main() {
	addr := flag.String("http", "localhost:3001", "listen on `ADDR`; port 0 means any that is free")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if err := serve(ctx, *addr, logger); err != nil {
		logger.Error("cannot serve", "error", err)
		os.Exit(1)
	}
}

// serve serves until ctx ends.
func serve(ctx context.Context, addr string, logger *slog.Logger) error {
	opts := &streamable.Options{}
	opts.Logger = logger
	fixture := newFixture(logger)
	handler, err := streamable.New(fixture, opts)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(listener) }() // ends with Shutdown
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	logger.Info("serving", "url", fmt.Sprintf("http://%s/mcp", net.JoinHostPort(host, port)))
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(handler.Close(ctx), srv.Shutdown(ctx), fixture.Close(ctx))
}
