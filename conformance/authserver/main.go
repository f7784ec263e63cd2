// Authserver is the authorization server for development by itself, as the
// suite looks at it:
//
//	authserver -http 127.0.0.1:0
//
// It protects a resource that is not there, and its one user is "ada".
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/parley-mcp/parley/internal/devauth"
)

func main() {
	addr := flag.String("http", "127.0.0.1:3002", "listen on `ADDR`; port 0 means any that is free")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	err := serve(ctx, *addr, logger)
	stop()
	if err != nil {
		logger.Error("cannot serve", "error", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, addr string, logger *slog.Logger) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	issuer := "http://" + listener.Addr().String()
	auth, err := devauth.New(devauth.Options{
		Issuer:    issuer,
		Resources: []string{issuer + "/mcp"},
		Users:     map[string]string{"ada": "lovelace"},
		Scopes:    map[string]string{"mcp": "Use the server"},
		Logger:    logger,
	})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: auth.Handler(), ReadHeaderTimeout: 10 * time.Second}
	logger.Info("serving", "url", issuer+"/mcp")
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }() // ends with Shutdown, below
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
