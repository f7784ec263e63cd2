package otelmcp_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/server/otelmcp"
	"github.com/parley-mcp/parley/transport/frames"
)

// printing stands in for the SDK of OpenTelemetry, of which a program has one that
// sends spans to a collector: it prints their names.
type printing struct{ embedded.TracerProvider }

func (printing) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{} }

type tracer struct{ embedded.Tracer }

func (tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	fmt.Println("span:", name)
	return noop.NewTracerProvider().Tracer("").Start(ctx, name, opts...)
}

func ExampleMiddleware() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	srv.Use(otelmcp.Middleware(&otelmcp.Options{TracerProvider: printing{}}))
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(context.Context, *server.Call, struct{}) (string, error) { return "Hello.", nil })

	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	fmt.Println(client.Call[string](ctx, c, "greet", nil))
	// Output:
	// span: tools/call greet
	// Hello. <nil>
}
