package otelmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/client/otelmcp"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// provider has one tracer.
type provider struct {
	embedded.TracerProvider
	tracer *recorder
}

func (p *provider) Tracer(string, ...trace.TracerOption) trace.Tracer { return p.tracer }

// recorder is a tracer that remembers its spans.
type recorder struct {
	embedded.Tracer
	mu    sync.Mutex
	spans []*span
}

type span struct {
	noop.Span
	name   string
	attrs  map[attribute.Key]string
	status codes.Code
}

func (r *recorder) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := &span{name: name, attrs: map[attribute.Key]string{}}
	config := trace.NewSpanStartConfig(opts...)
	s.SetAttributes(config.Attributes()...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans = append(r.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

func (s *span) SetAttributes(attrs ...attribute.KeyValue) {
	for _, a := range attrs {
		s.attrs[a.Key] = a.Value.String()
	}
}

func (s *span) SetStatus(c codes.Code, _ string) { s.status = c }

func (s *span) SpanContext() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
}

const traceparent = "00-01000000000000000000000000000000-0200000000000000-01"

func TestCallsAreTraced(t *testing.T) {
	var got mcp.Trace
	handler := func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
		server.AddTool(s, mcp.Tool{Name: "good"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
			got = call.Exchange().Trace
			return "", nil
		})
		server.AddTool(s, mcp.Tool{Name: "bad"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", errors.New("no") })
		return s
	}
	mcptest.Run(t, handler, nil, func(t *testing.T, c *client.Client) {
		r := new(recorder)
		c.Use(otelmcp.Middleware(&otelmcp.Options{TracerProvider: &provider{tracer: r}}))
		for _, name := range []string{"good", "bad", "none"} {
			_, _ = c.CallTool(t.Context(), name, nil) // the spans tell
		}
		if got.Parent != traceparent {
			t.Errorf("the server was sent traceparent %q, want %q", got.Parent, traceparent)
		}
		want := []struct {
			name, kind string
			status     codes.Code
		}{{"tools/call good", "", codes.Unset}, {"tools/call bad", "tool_error", codes.Error}, {"tools/call none", "-32602", codes.Error}}
		for i, w := range want {
			s := r.spans[i]
			if s.name != w.name || s.attrs["error.type"] != w.kind || s.status != w.status ||
				s.attrs["mcp.method.name"] != "tools/call" || s.attrs["mcp.protocol.version"] != c.Revision().String() {
				t.Errorf("span %d = %q %v %v, want %+v", i, s.name, s.attrs, s.status, w)
			}
		}
	})
}

// refusing is a provider whose meter refuses to make instruments.
type refusing struct{ metricnoop.MeterProvider }

type refusingMeter struct{ metricnoop.Meter }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errors.New("refused")
}

// Middleware that only observes a client must not make it fail.
func TestMiddlewareWithoutHistogram(t *testing.T) {
	var reported error
	before := otel.GetErrorHandler()
	defer otel.SetErrorHandler(before)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { reported = err }))
	r := new(recorder)
	mw := otelmcp.Middleware(&otelmcp.Options{TracerProvider: &provider{tracer: r}, MeterProvider: refusing{}})
	answer := func(context.Context, *client.Request) (json.RawMessage, error) { return json.RawMessage("{}"), nil }
	result, err := mw(answer)(t.Context(), &client.Request{Method: mcp.MethodPing})
	if string(result) != "{}" || err != nil || len(r.spans) != 1 {
		t.Errorf("got %s, %v and %d spans, want {}, no error and 1 span", result, err, len(r.spans))
	}
	if reported == nil || reported.Error() != "refused" {
		t.Errorf("reported %v, want the meter's error", reported)
	}
}
