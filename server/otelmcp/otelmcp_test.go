package otelmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// recorder is a provider of spans and instruments that remembers all of them.
type recorder struct {
	tracenoop.TracerProvider
	metricnoop.MeterProvider
	spans   []*span
	records []string
}

func (r *recorder) Tracer(string, ...trace.TracerOption) trace.Tracer { return &tracer{r: r} }

func (r *recorder) Meter(string, ...metric.MeterOption) metric.Meter { return &meter{r: r} }

type tracer struct {
	tracenoop.Tracer
	r *recorder
}

type span struct {
	tracenoop.Span
	name   string
	parent string
	links  int
	kind   trace.SpanKind
	attrs  []attribute.KeyValue
	status codes.Code
	text   string
	ended  bool
}

func (t *tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	c := trace.NewSpanStartConfig(opts...)
	s := &span{name: name, kind: c.SpanKind(), attrs: c.Attributes(), links: len(c.Links())}
	if parent := trace.SpanContextFromContext(ctx); parent.IsValid() {
		s.parent = parent.SpanID().String()
	}
	t.r.spans = append(t.r.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

func (s *span) SetAttributes(attrs ...attribute.KeyValue) { s.attrs = append(s.attrs, attrs...) }
func (s *span) SetStatus(c codes.Code, text string)       { s.status, s.text = c, text }
func (s *span) End(...trace.SpanEndOption)                { s.ended = true }

type meter struct {
	metricnoop.Meter
	r *recorder
}

type histogram struct {
	metricnoop.Float64Histogram
	r    *recorder
	name string
}

func (m *meter) Float64Histogram(name string, opts ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return &histogram{r: m.r, name: name + " " + metric.NewFloat64HistogramConfig(opts...).Unit()}, nil
}

func (h *histogram) Record(_ context.Context, _ float64, opts ...metric.RecordOption) {
	set := metric.NewRecordConfig(opts).Attributes()
	h.r.records = append(h.r.records, h.name+" "+text(set.ToSlice()))
}

func text(attrs []attribute.KeyValue) string {
	var parts []string
	for _, a := range attrs {
		parts = append(parts, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func exchange(method, params string) *mcp.Exchange {
	return &mcp.Exchange{
		ID: jsonrpc.StringID("r1"), Method: method, Params: []byte(params),
		Peer: mcp.Peer{Revision: mcp.Revision20251125, SessionID: "s1"},
	}
}

func TestMiddleware(t *testing.T) {
	const base = " mcp.protocol.version=2025-11-25"
	for _, c := range []struct {
		name   string
		x      *mcp.Exchange
		result any
		err    error
		span   string
		record string
		status codes.Code
	}{
		{
			"tool", exchange(mcp.MethodCallTool, `{"name":"add"}`), &mcp.CallToolResult{}, nil,
			"tools/call add: gen_ai.operation.name=execute_tool gen_ai.tool.name=add jsonrpc.request.id=r1 mcp.method.name=tools/call" + base + " mcp.session.id=s1",
			"gen_ai.operation.name=execute_tool gen_ai.tool.name=add mcp.method.name=tools/call" + base, codes.Unset,
		},
		{
			"tool error", exchange(mcp.MethodCallTool, `{"name":"add"}`), mcp.ToolError("x"), nil,
			"tools/call add: error.type=tool_error gen_ai.operation.name=execute_tool gen_ai.tool.name=add jsonrpc.request.id=r1 mcp.method.name=tools/call" + base + " mcp.session.id=s1",
			"error.type=tool_error gen_ai.operation.name=execute_tool gen_ai.tool.name=add mcp.method.name=tools/call" + base, codes.Error,
		},
		{
			"failed task", exchange(mcp.MethodTaskResult, `{"taskId":"t"}`), json.RawMessage(`{"content":[],"isError":true}`), nil,
			"tasks/result: error.type=tool_error jsonrpc.request.id=r1 mcp.method.name=tasks/result" + base + " mcp.session.id=s1",
			"error.type=tool_error mcp.method.name=tasks/result" + base, codes.Error,
		},
		{
			"unknown tool", exchange(mcp.MethodCallTool, `{"name":"made up"}`), nil, mcp.InvalidParams("unknown"),
			"tools/call made up: error.type=-32602 gen_ai.operation.name=execute_tool gen_ai.tool.name=made up jsonrpc.request.id=r1 mcp.method.name=tools/call" + base + " mcp.session.id=s1 rpc.response.status_code=-32602",
			"error.type=-32602 gen_ai.operation.name=execute_tool mcp.method.name=tools/call" + base + " rpc.response.status_code=-32602", codes.Error,
		},
		{
			"unknown method", exchange("made/up", ``), nil, &mcp.MethodNotFoundError{Method: "made/up"},
			"made/up: error.type=-32601 jsonrpc.request.id=r1 mcp.method.name=made/up" + base + " mcp.session.id=s1 rpc.response.status_code=-32601",
			"error.type=-32601 mcp.method.name=_OTHER" + base + " rpc.response.status_code=-32601", codes.Error,
		},
		{
			"resource", exchange(mcp.MethodReadResource, `{"uri":"x:y"}`), nil, &mcp.ResourceNotFoundError{URI: "x:y"},
			"resources/read: error.type=resource_not_found jsonrpc.request.id=r1 mcp.method.name=resources/read" + base + " mcp.resource.uri=x:y mcp.session.id=s1",
			"error.type=resource_not_found mcp.method.name=resources/read" + base, codes.Error,
		},
		{
			"prompt asks", exchange(mcp.MethodGetPrompt, `{"name":"p"}`), nil, fmt.Errorf("w: %w", &mcp.InputRequired{}),
			"prompts/get p: gen_ai.prompt.name=p jsonrpc.request.id=r1 mcp.method.name=prompts/get" + base + " mcp.session.id=s1",
			"gen_ai.prompt.name=p mcp.method.name=prompts/get" + base, codes.Unset,
		},
		{
			"notification", &mcp.Exchange{Method: "x/note"}, nil, errors.New("secret"),
			"x/note: error.type=-32603 mcp.method.name=x/note rpc.response.status_code=-32603",
			"error.type=-32603 mcp.method.name=x/note rpc.response.status_code=-32603", codes.Error,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{}
			serve := Middleware(&Options{TracerProvider: r, MeterProvider: r})(func(context.Context, *mcp.Exchange) (any, error) { return c.result, c.err })
			result, err := serve(t.Context(), c.x)
			if !reflect.DeepEqual(result, c.result) || !errors.Is(err, c.err) {
				t.Errorf("changed the answer: %v, %v", result, err)
			}
			s := r.spans[0]
			if got := s.name + ": " + text(s.attrs); got != c.span {
				t.Errorf("span\ngot  %s\nwant %s", got, c.span)
			}
			if s.kind != trace.SpanKindServer || s.status != c.status || !s.ended || strings.Contains(s.text, "secret") {
				t.Errorf("got %+v", s)
			}
			if want := "mcp.server.operation.duration s " + c.record; r.records[0] != want {
				t.Errorf("record\ngot  %s\nwant %s", r.records[0], want)
			}
		})
	}
}

func TestParent(t *testing.T) {
	r := &recorder{}
	serve := Middleware(&Options{TracerProvider: r, MeterProvider: r})(func(context.Context, *mcp.Exchange) (any, error) { return nil, nil })
	ambient := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}}))
	x := exchange(mcp.MethodPing, "")
	_, _ = serve(ambient, x)
	x.Trace.Parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
	_, _ = serve(ambient, x)
	_, _ = serve(t.Context(), x)
	x.Trace.Parent = "nonsense"
	_, _ = serve(ambient, x)
	var got []string
	for _, s := range r.spans {
		got = append(got, fmt.Sprintf("%s/%d", s.parent, s.links))
	}
	if want := "[0100000000000000/0 00f067aa0ba902b7/1 00f067aa0ba902b7/0 0100000000000000/0]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestPanicEndsTheSpan(t *testing.T) {
	r := &recorder{}
	serve := Middleware(&Options{TracerProvider: r, MeterProvider: r})(func(context.Context, *mcp.Exchange) (any, error) { panic("x") })
	func() {
		defer func() { _ = recover() }()
		_, _ = serve(t.Context(), exchange(mcp.MethodPing, ""))
	}()
	if s := r.spans[0]; !s.ended || !strings.Contains(text(s.attrs), "error.type=panic") {
		t.Errorf("got %+v", s)
	}
}

func TestWithoutSDK(t *testing.T) {
	serve := Middleware(nil)(func(context.Context, *mcp.Exchange) (any, error) { return 1, nil })
	if result, err := serve(t.Context(), exchange(mcp.MethodCallTool, strings.Repeat(" ", 10))); result != 1 || err != nil {
		t.Errorf("got %v, %v", result, err)
	}
}

// refusing is a provider whose meter refuses to make instruments.
type refusing struct{ metricnoop.MeterProvider }

type refusingMeter struct{ metricnoop.Meter }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errors.New("refused")
}

// Middleware that only observes a server must not make it fail.
func TestMiddlewareWithoutHistogram(t *testing.T) {
	var reported error
	before := otel.GetErrorHandler()
	defer otel.SetErrorHandler(before)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { reported = err }))
	r := new(recorder)
	mw := Middleware(&Options{TracerProvider: r, MeterProvider: refusing{}})
	result, err := mw(func(context.Context, *mcp.Exchange) (any, error) { return 1, nil })(t.Context(), exchange("ping", ""))
	if result != 1 || err != nil || len(r.spans) != 1 {
		t.Errorf("got %v, %v and %d spans, want 1, no error and 1 span", result, err, len(r.spans))
	}
	if reported == nil || reported.Error() != "refused" {
		t.Errorf("reported %v, want the meter's error", reported)
	}
}
