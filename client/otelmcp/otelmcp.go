// Package otelmcp traces and measures a client with OpenTelemetry, following
// the semantic conventions for the Model Context Protocol, and tells servers
// which trace a call belongs to. It uses the OpenTelemetry API only: without an
// SDK in the program it passes traces on and does nothing else.
//
//	c.Use(otelmcp.Middleware(nil))
//
// The example of Middleware is whole, with a server in the same process.
//
// Spec: 2026-07-28 basic#meta.
package otelmcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure Middleware. The zero value uses the global providers.
type Options struct {
	// TracerProvider makes the spans; nil means otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// MeterProvider measures; nil means otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
	// Propagator writes the trace context of a call; nil means W3C Trace
	// Context and Baggage, which is what the protocol carries.
	Propagator propagation.TextMapPropagator
}

const scope = "github.com/parley-mcp/parley/client/otelmcp"

// Middleware returns middleware that makes a span for each call, sends its
// context in _meta, and records the histogram mcp.client.operation.duration in
// seconds. opts may be nil. If a meter refuses to make the histogram, the error
// goes to otel.Handle, and calls are still traced.
func Middleware(opts *Options) client.Middleware {
	o := opts.withDefaults()
	in := &instrumentation{tracer: o.TracerProvider.Tracer(scope), propagator: o.Propagator}
	var err error
	in.duration, err = o.MeterProvider.Meter(scope).Float64Histogram("mcp.client.operation.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Time from sending a request to its result."),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300))
	if err != nil {
		otel.Handle(err)
		in.duration = noop.Float64Histogram{}
	}
	return func(next client.CallFunc) client.CallFunc {
		return func(ctx context.Context, req *client.Request) (json.RawMessage, error) {
			return in.call(ctx, req, next)
		}
	}
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.TracerProvider == nil {
		d.TracerProvider = otel.GetTracerProvider()
	}
	if d.MeterProvider == nil {
		d.MeterProvider = otel.GetMeterProvider()
	}
	if d.Propagator == nil {
		d.Propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	}
	return d
}

type instrumentation struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	duration   metric.Float64Histogram
}

func (in *instrumentation) call(ctx context.Context, req *client.Request, next client.CallFunc) (json.RawMessage, error) {
	begin, attrs, name := time.Now(), attributes(req), spanName(req)
	ctx, span := in.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	defer span.End()
	meta := maps.Clone(req.Meta)
	in.propagator.Inject(ctx, carrier{&meta})
	req.Meta = meta
	result, err := next(ctx, req)
	if failed := failure(result, err); failed != nil {
		attrs = append(attrs, failed...)
		span.SetAttributes(failed...)
		span.SetStatus(codes.Error, message(err))
	}
	in.duration.Record(ctx, time.Since(begin).Seconds(), metric.WithAttributes(attrs...))
	return result, err
}

// subject returns what a call is about, if that has low cardinality.
func subject(req *client.Request) attribute.KeyValue {
	m := mcp.MethodNamed(req.Method)
	name := m.SubjectOf(req.Params)
	switch {
	case name == "":
	case m.Feature == mcp.ToolFeature:
		return attribute.String("gen_ai.tool.name", name)
	case m.Feature == mcp.PromptFeature:
		return attribute.String("gen_ai.prompt.name", name)
	}
	return attribute.KeyValue{}
}

func spanName(req *client.Request) string {
	if s := subject(req); s.Valid() {
		return req.Method + " " + s.Value.AsString()
	}
	return req.Method
}

func attributes(req *client.Request) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String("mcp.method.name", req.Method)}
	if !req.Revision.IsZero() {
		attrs = append(attrs, attribute.String("mcp.protocol.version", req.Revision.String()))
	}
	if s := subject(req); s.Valid() {
		attrs = append(attrs, s)
	}
	if req.Method == mcp.MethodCallTool {
		attrs = append(attrs, attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	return attrs
}

// failure returns the attributes of a failed call, or nil on success.
func failure(result json.RawMessage, err error) []attribute.KeyValue {
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc):
		code := strconv.FormatInt(rpc.Code, 10)
		return []attribute.KeyValue{attribute.String("error.type", code), attribute.String("rpc.response.status_code", code)}
	case errors.Is(err, client.ErrTimeout):
		return []attribute.KeyValue{attribute.String("error.type", "timeout")}
	case errors.Is(err, context.Canceled):
		return []attribute.KeyValue{attribute.String("error.type", "cancelled")}
	case err != nil:
		return []attribute.KeyValue{attribute.String("error.type", "_OTHER")}
	case toolresult.Failed(result):
		return []attribute.KeyValue{attribute.String("error.type", "tool_error")}
	}
	return nil
}

func message(err error) string {
	if err == nil {
		return "tool error"
	}
	return err.Error()
}

// carrier lets a propagator write into _meta.
type carrier struct{ meta *mcp.Meta }

var _ propagation.TextMapCarrier = carrier{}

// Get returns the value of a key.
func (c carrier) Get(key string) string {
	var text string
	_, _ = c.meta.Get(key, &text) // a value that is not a string counts as absent
	return text
}

// Set stores the value of a key.
func (c carrier) Set(key, value string) { _ = c.meta.Set(key, value) } // text always encodes

// Keys returns the keys there are.
func (c carrier) Keys() []string {
	keys := make([]string, 0, len(*c.meta))
	for k := range *c.meta {
		keys = append(keys, k)
	}
	return keys
}
