// HTTP is a server over HTTP that is ready for production: it lets running calls
// finish when it is told to end, answers /healthz and /readyz, serves HTTPS if it gets a
// certificate, and traces every request. Here the spans go to standard error; any
// other exporter of OpenTelemetry takes the place of that one.
//
//	go run .
//	parley call http://127.0.0.1:7331/mcp divide a=7 b=2
//	curl http://127.0.0.1:7331/readyz
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/server/otelmcp"
	"github.com/parley-mcp/parley/transport/httpserver"
)

type division struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// divide makes a span of its own within that of the call.
func divide(ctx context.Context, _ *server.Call, in division) (float64, error) {
	_, span := otel.Tracer("divider").Start(ctx, "divide")
	defer span.End()
	if in.B == 0 {
		return 0, errors.New("b is 0: there is no such quotient")
	}
	return in.A / in.B, nil
}

// serve serves until ctx ends, and writes spans to traces.
func serve(ctx context.Context, l net.Listener, traces io.Writer, opts httpserver.Options) error {
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(traces))
	if err != nil {
		return err
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter),
		trace.WithResource(resource.NewSchemaless(attribute.String("service.name", "divider"))))
	otel.SetTracerProvider(provider)
	srv := server.New(mcp.Implementation{Name: "divider", Version: "1.0.0"}, nil)
	srv.Use(otelmcp.Middleware(nil))
	server.AddTool(srv, mcp.Tool{Name: "divide", Description: "Divides a by b"}, divide)
	opts.Ready = func(context.Context) error { return nil } // what depends on a database asks it here
	opts.Finish = provider.Shutdown                         // sends the last spans
	return httpserver.ServeOn(ctx, l, srv, &opts)
}

func main() {
	var opts httpserver.Options
	addr := flag.String("addr", "127.0.0.1:7331", "`address` to listen on")
	flag.StringVar(&opts.CertFile, "cert", "", "`file` with a certificate, for HTTPS")
	flag.StringVar(&opts.KeyFile, "key", "", "`file` with its key")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *addr)
	if err == nil {
		err = serve(ctx, l, os.Stderr, opts)
	}
	if err != nil {
		log.Print(err)
	}
}
