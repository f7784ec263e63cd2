package main

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"syscall"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/telemetry/otlptest"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A gateway that is told to end sends the traces and metrics of what it did to the collector
// that its file or its environment names. Without the end it would not have sent them for
// hours.
func TestGatewaySendsTelemetry(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "36000000")
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "36000000")
	for name, setup := range map[string]func(t *testing.T, to *otlptest.Collector) (section string){
		"file": func(_ *testing.T, to *otlptest.Collector) string {
			return "telemetry: {endpoint: \"" + to.URL + "\", service: tools, headers: {Authorization: Bearer t}}"
		},
		"environment": func(t *testing.T, to *otlptest.Collector) string {
			t.Helper()
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20t")
			t.Setenv("OTEL_SERVICE_NAME", "tools")
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			behind, stop, err := startHTTP()
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			to := otlptest.New(t)
			s := startProcess(t, "gateway", gatewayFile(t, behind, setup(t, to)), "--http", "127.0.0.1:0")
			callTraced(t, s.url)
			if spans, metrics := to.Spans(), to.Metrics(); len(spans)+len(metrics) > 0 {
				t.Errorf("before the end there are %d spans and the metrics %v", len(spans), metrics)
			}
			s.end(syscall.SIGTERM)
			checkTelemetry(t, to)
		})
	}
}

const (
	aTrace  = "0af7651916cd43dd8448eb211c80319c"
	aParent = "00f067aa0ba902b7"
)

// callTraced calls a tool through a gateway, in the trace of a client.
func callTraced(t *testing.T, url string) {
	t.Helper()
	c, err := client.Connect(t.Context(), &streamable.Client{URL: url, NoSSEFallback: true}, &client.Options{
		Revisions: []mcp.Revision{mcp.Revision20260728}, Logger: mcptest.Quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const params = `{"name":"a__calculate","arguments":{"expression":"1 + 2"},"_meta":{"traceparent":"00-` + aTrace + `-` + aParent + `-01"}}`
	if result, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(params)); err != nil {
		t.Fatalf("the call gave %s, %v", result, err)
	}
}

// checkTelemetry looks for the two spans of the call, one below the other, and for what was
// measured of it.
func checkTelemetry(t *testing.T, to *otlptest.Collector) {
	t.Helper()
	served := to.Child(mcp.MethodCallTool, aTrace, aParent)
	if served == nil {
		t.Fatalf("no span of the gateway is below that of its client: %v", to.Spans())
	}
	if to.Child(mcp.MethodCallTool, aTrace, hex.EncodeToString(served.GetSpanId())) == nil {
		t.Errorf("no span of the request to the backend is below that of the gateway: %v", to.Spans())
	}
	for _, name := range []string{"mcp.server.operation.duration", "mcp.client.operation.duration", "parley.gateway.backend.status"} {
		if got := to.Metrics(); !slices.Contains(got, name) {
			t.Errorf("%s is not among the metrics %v", name, got)
		}
	}
	if got := to.Services(); !slices.Equal(got, []string{"tools"}) {
		t.Errorf("the services are %v, want only tools", got)
	}
	for _, token := range to.Tokens() {
		if token != "Bearer t" {
			t.Errorf("the collector got the token %q", token)
		}
	}
}
