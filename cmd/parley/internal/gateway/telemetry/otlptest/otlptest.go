// Package otlptest is a collector of OpenTelemetry for tests: it takes traces and metrics
// by OTLP over HTTP, and remembers them.
package otlptest

import (
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	spanpb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector remembers what it is sent. It is safe for concurrent use.
type Collector struct {
	// URL is its endpoint, without the paths of the signals.
	URL string

	t        testing.TB
	mu       sync.Mutex
	spans    []*spanpb.Span
	services map[string]bool
	metrics  map[string]bool
	tokens   []string
}

// New returns a collector that runs until the test has ended. What it cannot decode fails
// the test.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t, services: map[string]bool{}, metrics: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(_ http.ResponseWriter, r *http.Request) {
		var in tracepb.ExportTraceServiceRequest
		if c.decode(r, &in) {
			c.keepSpans(&in)
		}
	})
	mux.HandleFunc("POST /v1/metrics", func(_ http.ResponseWriter, r *http.Request) {
		var in metricspb.ExportMetricsServiceRequest
		if c.decode(r, &in) {
			c.keepMetrics(&in)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// Spans returns all spans, in the order in which they came.
func (c *Collector) Spans() []*spanpb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Child returns a span of a method that is the child of another span, or nil. The IDs are
// hexadecimal.
func (c *Collector) Child(method, trace, parent string) *spanpb.Span {
	for _, s := range c.Spans() {
		if strings.HasPrefix(s.GetName(), method) && hex.EncodeToString(s.GetTraceId()) == trace && hex.EncodeToString(s.GetParentSpanId()) == parent {
			return s
		}
	}
	return nil
}

// Metrics returns the names of all metrics, in order.
func (c *Collector) Metrics() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.metrics))
}

// Services returns the names of the services that have sent something, in order.
func (c *Collector) Services() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.services))
}

// Tokens returns the headers Authorization of all requests, in their order.
func (c *Collector) Tokens() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tokens)
}

// Text returns the value of an attribute that is a text, or "".
func Text(attrs []*commonpb.KeyValue, key string) string {
	for _, a := range attrs {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

func (c *Collector) decode(r *http.Request, into proto.Message) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, into)
	}
	if err != nil {
		c.t.Errorf("%s: %v", r.URL.Path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens = append(c.tokens, r.Header.Get("Authorization"))
	return err == nil
}

func (c *Collector) keepSpans(in *tracepb.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range in.GetResourceSpans() {
		c.services[Text(of.GetResource().GetAttributes(), "service.name")] = true
		for _, scope := range of.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

func (c *Collector) keepMetrics(in *metricspb.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range in.GetResourceMetrics() {
		c.services[Text(of.GetResource().GetAttributes(), "service.name")] = true
		for _, scope := range of.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				c.metrics[m.GetName()] = true
			}
		}
	}
}
