// Notes keeps notes in an SQLite file. Tools write them, each is a resource that
// clients can watch, and requests are traced with OpenTelemetry, to where the
// usual variables of the environment say (OTEL_EXPORTER_OTLP_ENDPOINT).
//
//	go run . -db /tmp/notes.db
//	parley call http://127.0.0.1:7331/mcp add_note title=Milk text='two bottles'
//	parley list http://127.0.0.1:7331/mcp resources
//	parley watch --resources --uri note:///1 http://127.0.0.1:7331/mcp
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/parley-mcp/parley/server/otelmcp"
	"github.com/parley-mcp/parley/transport/httpserver"
)

func main() {
	addr := flag.String("addr", ":7331", "`address` to listen on; without a host, only this machine reaches it")
	file := flag.String("db", "notes.db", "`file` with the notes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *file); err != nil {
		log.Print(err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, addr, file string) error {
	s, err := openStore(ctx, file)
	if err != nil {
		return err
	}
	defer func() { _ = s.db.Close() }()
	srv, err := newServer(ctx, s)
	if err != nil {
		return err
	}
	traces, err := tracing(ctx)
	if err != nil {
		return err
	}
	srv.Use(otelmcp.Middleware(&otelmcp.Options{TracerProvider: traces}))
	return httpserver.Serve(ctx, addr, srv, &httpserver.Options{Finish: traces.Shutdown})
}

// tracing sends traces where the environment says, if it does.
func tracing(ctx context.Context) (*trace.TracerProvider, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return trace.NewTracerProvider(), nil
	}
	exporter, err := otlptracehttp.New(ctx)
	return trace.NewTracerProvider(trace.WithBatcher(exporter)), err
}
