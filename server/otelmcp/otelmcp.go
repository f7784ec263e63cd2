// Package otelmcp traces and measures a server with OpenTelemetry, following
// the semantic conventions for the Model Context Protocol. It uses the
// OpenTelemetry API only: without an SDK in the program it does nothing.
//
//	srv.Use(otelmcp.Middleware(nil))
//
// The example of Middleware is whole; examples/http is a program whose traces an SDK
// prints.
//
// Spec: 2026-07-28 basic#meta.
package otelmcp

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Options configure Middleware. The zero value uses the global providers.
type Options struct {
	// TracerProvider makes the spans; nil means otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// MeterProvider measures; nil means otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
	// Propagator reads the trace context of a request; nil means W3C Trace
	// Context and Baggage, which is what the protocol carries.
	Propagator propagation.TextMapPropagator
}

const scope = "github.com/parley-mcp/parley/server/otelmcp"

// Middleware returns middleware that makes a span for each exchange, as a child
// of the span that the client sent in _meta, and records the histogram
// mcp.server.operation.duration in seconds. opts may be nil. If a meter refuses
// to make the histogram, the error goes to otel.Handle, and exchanges are still
// traced.
func Middleware(opts *Options) server.Middleware {
	o := opts.withDefaults()
	in := &instrumentation{tracer: o.TracerProvider.Tracer(scope), propagator: o.Propagator}
	var err error
	in.duration, err = o.MeterProvider.Meter(scope).Float64Histogram("mcp.server.operation.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Time from receiving a request or notification to its result."),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300))
	if err != nil {
		otel.Handle(err)
		in.duration = noop.Float64Histogram{}
	}
	return func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) { return in.serve(ctx, x, next) }
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

func (in *instrumentation) serve(ctx context.Context, x *mcp.Exchange, next mcp.ServeFunc) (any, error) {
	begin, target := time.Now(), targetOf(x)
	ctx, span := in.start(ctx, x, target)
	var out outcome
	// This runs when next panics, too: the panic goes on, and the span must
	// end.
	out.kind = "panic"
	defer func() {
		in.finish(span, out)
		in.duration.Record(ctx, time.Since(begin).Seconds(), metric.WithAttributes(out.measured(x, target)...))
		span.End()
	}()
	result, err := next(ctx, x)
	out = outcomeOf(result, err)
	return result, err
}

// start opens the span under the client's. If this side has a span already, for
// example of an HTTP server, the new span links to it.
func (in *instrumentation) start(ctx context.Context, x *mcp.Exchange, target target) (context.Context, trace.Span) {
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(spanAttributes(x, target)...),
	}
	if x.Trace != (mcp.Trace{}) {
		ambient := trace.SpanContextFromContext(ctx)
		ctx = in.propagator.Extract(ctx, carrier(x.Trace))
		if remote := trace.SpanContextFromContext(ctx); ambient.IsValid() && !remote.Equal(ambient) {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: ambient}))
		}
	}
	name := x.Method
	if target.name != "" {
		name += " " + target.name
	}
	return in.tracer.Start(ctx, name, options...)
}

func (in *instrumentation) finish(span trace.Span, out outcome) {
	if out.kind == "" {
		return
	}
	span.SetAttributes(attribute.String("error.type", out.kind))
	if out.code != "" {
		span.SetAttributes(attribute.String("rpc.response.status_code", out.code))
	}
	span.SetStatus(codes.Error, out.message)
}

// target is what a request is about.
type target struct {
	name string             // of low cardinality, or ""
	attr attribute.KeyValue // for name
	uri  string
}

func targetOf(x *mcp.Exchange) target {
	m := mcp.MethodNamed(x.Method)
	if m == nil || m.Feature == 0 {
		return target{}
	}
	subject := m.SubjectOf(x.Params)
	if len(subject) > maxText {
		subject = strings.ToValidUTF8(subject[:maxText], "")
	}
	switch m.Feature {
	case mcp.ToolFeature:
		return target{name: subject, attr: attribute.String("gen_ai.tool.name", subject)}
	case mcp.PromptFeature:
		return target{name: subject, attr: attribute.String("gen_ai.prompt.name", subject)}
	case mcp.TaskFeature: // an ID may be all that gives access to the task
		return target{}
	default:
		return target{uri: subject}
	}
}

// maxText bounds what a client can put into a name or an attribute, in bytes.
const maxText = 512

func spanAttributes(x *mcp.Exchange, t target) []attribute.KeyValue {
	attrs := commonAttributes(x, t)
	if !x.ID.IsZero() {
		attrs = append(attrs, attribute.String("jsonrpc.request.id", idText(x.ID)))
	}
	if x.Peer.SessionID != "" {
		attrs = append(attrs, attribute.String("mcp.session.id", x.Peer.SessionID))
	}
	if t.uri != "" {
		attrs = append(attrs, attribute.String("mcp.resource.uri", t.uri))
	}
	return attrs
}

func commonAttributes(x *mcp.Exchange, t target) []attribute.KeyValue {
	attrs := make([]attribute.KeyValue, 0, 8)
	attrs = append(attrs, attribute.String("mcp.method.name", x.Method))
	if !x.Peer.Revision.IsZero() {
		attrs = append(attrs, attribute.String("mcp.protocol.version", x.Peer.Revision.String()))
	}
	if t.name != "" {
		attrs = append(attrs, t.attr)
	}
	if x.Method == mcp.MethodCallTool {
		attrs = append(attrs, attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	return attrs
}

// idText returns a string ID without its quotes.
func idText(id jsonrpc.ID) string {
	var text string
	if wire.Unmarshal([]byte(id.String()), &text) == nil {
		return text
	}
	return id.String()
}

// outcome is how an exchange ended; its kind is empty on success.
type outcome struct {
	kind    string // error.type
	code    string // of JSON-RPC, if known here
	message string
	unknown bool // the method, or the feature that it is about, does not exist
}

// measured returns the attributes of the measurement. Names that only the
// client knows are left out: it could make up any number of them.
func (out outcome) measured(x *mcp.Exchange, t target) []attribute.KeyValue {
	attrs := commonAttributes(x, t)
	if out.unknown {
		known := *x
		if out.code == codeText(jsonrpc.CodeMethodNotFound) {
			known.Method = "_OTHER"
		}
		attrs = commonAttributes(&known, target{})
	}
	if out.kind != "" {
		attrs = append(attrs, attribute.String("error.type", out.kind))
	}
	if out.code != "" {
		attrs = append(attrs, attribute.String("rpc.response.status_code", out.code))
	}
	return attrs
}

func outcomeOf(result any, err error) outcome {
	if err == nil {
		if toolresult.Failed(result) {
			return outcome{kind: "tool_error"}
		}
		return outcome{}
	}
	var input *mcp.InputRequired
	if errors.As(err, &input) {
		return outcome{} // the client will be asked
	}
	return failure(err)
}

// failure classifies an error. The number of "resource not found" depends on
// the revision and is not known here.
func failure(err error) outcome {
	var (
		coded      *jsonrpc.Error
		params     *mcp.InvalidParamsError
		method     *mcp.MethodNotFoundError
		capability *mcp.MissingCapabilityError
	)
	switch {
	case errors.As(err, &coded):
		return coding(coded.Code, coded.Message)
	case errors.As(err, &params):
		out := coding(jsonrpc.CodeInvalidParams, params.Error())
		out.unknown = true
		return out
	case errors.As(err, &method):
		out := coding(jsonrpc.CodeMethodNotFound, method.Error())
		out.unknown = true
		return out
	case errors.As(err, &capability):
		return coding(mcp.CodeMissingCapability, capability.Error())
	case errors.Is(err, mcp.ErrResourceNotFound):
		return outcome{kind: "resource_not_found", message: mcp.ErrResourceNotFound.Error()}
	case errors.Is(err, context.Canceled):
		return outcome{kind: "cancelled"}
	case errors.Is(err, context.DeadlineExceeded):
		return outcome{kind: "timeout"}
	}
	return coding(jsonrpc.CodeInternalError, "internal error")
}

func coding(code int64, message string) outcome {
	return outcome{kind: codeText(code), code: codeText(code), message: message}
}

func codeText(code int64) string { return strconv.FormatInt(code, 10) }

// carrier lets a propagator read the trace context of a request.
type carrier mcp.Trace

var _ propagation.TextMapCarrier = carrier{}

// Get returns the value of a key.
func (c carrier) Get(key string) string {
	switch key {
	case mcp.MetaTraceParent:
		return c.Parent
	case mcp.MetaTraceState:
		return c.State
	case mcp.MetaBaggage:
		return c.Baggage
	}
	return ""
}

// Set does nothing: the carrier is only read.
func (carrier) Set(string, string) {}

// Keys returns the keys there are.
func (carrier) Keys() []string {
	return []string{mcp.MetaTraceParent, mcp.MetaTraceState, mcp.MetaBaggage}
}
