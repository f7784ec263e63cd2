package otelmcp_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/client/otelmcp"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// printing stands in for the SDK of OpenTelemetry, of which a program has one that
// sends spans to a collector: it prints their names.
type printing struct{ embedded.TracerProvider }

func (printing) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{} }

type tracer struct{ embedded.Tracer }

func (tracer) Start(ctx context.Context, name string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	fmt.Println("span:", name)
	id := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 1}, SpanID: trace.SpanID{7: 2}})
	ctx = trace.ContextWithSpanContext(ctx, id)
	return noop.NewTracerProvider().Tracer("").Start(ctx, name) // its span has the context of ctx
}

// Each call has a span, and its server learns which one it belongs to.
func ExampleMiddleware() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		var parent string
		_, err := call.Meta("traceparent", &parent)
		fmt.Println("the server gets", parent)
		return "Hello.", err
	})

	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	c.Use(otelmcp.Middleware(&otelmcp.Options{TracerProvider: printing{}}))
	fmt.Println(client.Call[string](ctx, c, "greet", nil))
	// Output:
	// span: tools/call greet
	// the server gets 00-00000000000000000000000000000001-0000000000000002-00
	// Hello. <nil>
}
