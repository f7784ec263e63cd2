package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	spanpb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/telemetry"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/telemetry/otlptest"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a gateway that is seen, in front of a server in sessions and one without.
type world struct {
	t  *telemetry.Telemetry
	g  *gateway.Gateway
	mu sync.Mutex
	// traces are the trace contexts that the servers got, by their names.
	traces map[string]string
}

func newWorld(t *testing.T, o telemetry.Options, guards ...guard.Guard) *world {
	t.Helper()
	o.Logger = mcptest.Quiet()
	seen, err := telemetry.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: seen, traces: map[string]string{}}
	w.g = gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Around: seen.Around(), Logger: mcptest.Quiet()})
	err = w.g.Load(gateway.Setup{
		ListTimeout: 20 * time.Second, Guards: seen.Guards(guards),
		Servers: []gateway.Server{w.server(t, "sessions", mcp.Revision20251125), w.server(t, "stateless", mcp.Revision20260728)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.g.Close() })
	if failed := w.g.Look(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
	return w
}

// server is a server that remembers the trace context that it gets.
func (w *world) server(t *testing.T, name string, r mcp.Revision) gateway.Server {
	t.Helper()
	s := server.New(mcp.Implementation{Name: name, Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	tool := mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)}
	s.AddRawTool(tool, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("done")}}, nil
	})
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Method == mcp.MethodCallTool {
				w.mu.Lock()
				w.traces[name] = x.Trace.Parent
				w.mu.Unlock()
			}
			return next(ctx, x)
		}
	})
	tr := &mcptest.Transport{Handler: s, Over: mcptest.HTTP, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	t.Cleanup(tr.Wait)
	return gateway.Server{
		Rules: naming.Rules{Backend: name},
		Backend: backend.Options{Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
			o.Revisions = []mcp.Revision{r}
			c, err := client.Connect(ctx, tr, o)
			if err == nil {
				c.Use(w.t.Client(name)...)
			}
			return c, err
		}},
	}
}

func (w *world) connect(t *testing.T, r mcp.Revision) *client.Client {
	t.Helper()
	return mcptest.Connect(t, w.g.View(""), mcptest.Mode{Revision: r, Transport: mcptest.HTTP}, nil)
}

func (w *world) close(t *testing.T) {
	t.Helper()
	if err := w.t.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

const (
	trace  = "0af7651916cd43dd8448eb211c80319c"
	parent = "00f067aa0ba902b7"
)

// call calls a tool in the trace of a client.
func call(t *testing.T, c *client.Client, tool, span string) error {
	t.Helper()
	_, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"`+tool+`","_meta":{"traceparent":"00-`+trace+`-`+span+`-01"}}`))
	return err
}

// TestTrace: a trace goes on from the client's span to a span of the gateway, from there to
// one of its request, and from there to the server.
//
// Spec: 2026-07-28 basic#meta.
func TestTrace(t *testing.T) {
	for _, front := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(front.String(), func(t *testing.T) {
			to := otlptest.New(t)
			w := newWorld(t, telemetry.Options{Traces: true, Endpoint: to.URL, Headers: map[string]string{"Authorization": "Bearer t"}, Service: "tools"})
			c := w.connect(t, front)
			parents := map[string]string{"sessions": parent, "stateless": "00f067aa0ba902b8"}
			for name, span := range parents {
				if err := call(t, c, name+"__work", span); err != nil {
					t.Fatal(err)
				}
			}
			w.close(t)
			for name, span := range parents {
				proves(t, to, name, span, w.traces[name])
			}
			if services, tokens := to.Services(), to.Tokens(); !slices.Contains(services, "tools") || tokens[0] != "Bearer t" {
				t.Errorf("services %v, tokens %q", services, tokens)
			}
			for _, s := range to.Spans() {
				if id := otlptest.Text(s.GetAttributes(), "mcp.session.id"); len(id) != 12 && id != "" {
					t.Errorf("%s gives the session %q away", s.GetName(), id)
				}
			}
		})
	}
}

// proves fails the test if there are no two hops from a span to what a server has got.
func proves(t *testing.T, c *otlptest.Collector, backend, span, got string) {
	t.Helper()
	served := c.Child(mcp.MethodCallTool, trace, span)
	if served == nil {
		t.Fatalf("%s: there is no span of the gateway", backend)
	}
	asked := c.Child(mcp.MethodCallTool, trace, hex.EncodeToString(served.GetSpanId()))
	if asked == nil {
		t.Fatalf("%s: there is no span of the request to the backend", backend)
	}
	if want := "00-" + trace + "-" + hex.EncodeToString(asked.GetSpanId()) + "-01"; got != want {
		t.Errorf("%s: the server got %q, want %q", backend, got, want)
	}
	if served.GetKind() != spanpb.Span_SPAN_KIND_SERVER || served.GetName() != "tools/call "+backend+"__work" || otlptest.Text(served.GetAttributes(), "parley.backend") != backend {
		t.Errorf("%v", served)
	}
	if asked.GetKind() != spanpb.Span_SPAN_KIND_CLIENT || asked.GetName() != "tools/call work" || otlptest.Text(asked.GetAttributes(), "parley.backend") != backend {
		t.Errorf("%v", asked)
	}
}

// TestTracePassesOn: a gateway that is not seen passes the context of its client on.
func TestTracePassesOn(t *testing.T) {
	w := newWorld(t, telemetry.Options{})
	if w.t != nil {
		t.Fatal("nothing is to be seen")
	}
	if err := call(t, w.connect(t, mcp.Revision20260728), "sessions__work", parent); err != nil {
		t.Fatal(err)
	}
	if want := "00-" + trace + "-" + parent + "-01"; w.traces["sessions"] != want {
		t.Errorf("the server got %q, want %q", w.traces["sessions"], want)
	}
	w.close(t)
}

// TestSample: a trace that begins at the gateway is kept as the options say.
func TestSample(t *testing.T) {
	to, none := otlptest.New(t), 0.0
	w := newWorld(t, telemetry.Options{Traces: true, Endpoint: to.URL, Sample: &none})
	c := w.connect(t, mcp.Revision20260728)
	if _, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"sessions__work"}`)); err != nil {
		t.Fatal(err)
	}
	if err := call(t, c, "sessions__work", parent); err != nil {
		t.Fatal(err)
	}
	w.close(t)
	if to.Child(mcp.MethodCallTool, trace, parent) == nil {
		t.Error("the trace of a client was not kept")
	}
	for _, s := range to.Spans() {
		if hex.EncodeToString(s.GetTraceId()) != trace {
			t.Errorf("%s was kept", s.GetName())
		}
	}
}

// refuses is a guard that refuses one backend.
type refuses struct{ backend string }

func (refuses) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

func (r refuses) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	if op.Backend == r.backend {
		return nil, &mcp.ForbiddenError{Reason: "not this one"}
	}
	return next(ctx, op)
}

func scrape(t *testing.T, w *world) string {
	t.Helper()
	r := httptest.NewRecorder()
	w.t.Pages().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if r.Code != http.StatusOK {
		t.Fatalf("%d %s", r.Code, r.Body)
	}
	return r.Body.String()
}

func TestMetrics(t *testing.T) {
	to := otlptest.New(t)
	w := newWorld(t, telemetry.Options{Metrics: true, Prometheus: true, Endpoint: to.URL}, refuses{"stateless"})
	if err := w.t.Observe(w.g.State, func() map[string]int { return map[string]int{"http": 7} }); err != nil {
		t.Fatal(err)
	}
	c := w.connect(t, mcp.Revision20260728)
	if _, err := c.Do(t.Context(), mcp.MethodListTools, nil); err != nil {
		t.Fatal(err)
	}
	if err := call(t, c, "sessions__work", parent); err != nil {
		t.Fatal(err)
	}
	if err := call(t, c, "stateless__work", parent); err == nil {
		t.Error("nobody has refused it")
	}
	for _, made := range []string{"sessions__made_up", "nothing__made_up", "sessions__made_up_2"} {
		_ = call(t, c, made, parent) // it fails
	}
	_, _ = c.Do(t.Context(), "made/up", nil) // it fails
	page := scrape(t, w)
	for _, line := range []string{
		`mcp_server_operation_duration_seconds_count{gen_ai_tool_name="sessions__work",mcp_method_name="tools/call",parley_backend="sessions",parley_outcome="ok"} 1`,
		`mcp_server_operation_duration_seconds_count{gen_ai_tool_name="stateless__work",mcp_method_name="tools/call",parley_backend="stateless",parley_outcome="denied"} 1`,
		`mcp_server_operation_duration_seconds_count{mcp_method_name="tools/list",parley_outcome="ok"} 1`,
		`mcp_client_operation_duration_seconds_count{mcp_method_name="tools/call",parley_backend="sessions",parley_outcome="ok"} 1`,
		`parley_gateway_refusals_total{mcp_method_name="tools/call",parley_backend="stateless",parley_guard="telemetry_test"} 1`,
		`parley_gateway_backend_status{parley_backend="sessions",parley_status="up"} 1`,
		`parley_gateway_backend_status{parley_backend="sessions",parley_status="broken"} 0`,
		`parley_gateway_backend_calls_parked{parley_backend="sessions"} 0`,
		`parley_gateway_backend_requests_active{parley_backend="sessions"} 0`,
		`parley_gateway_sessions{parley_transport="http"} 7`,
		`mcp_method_name="_OTHER"`,
	} {
		if !strings.Contains(page, line) {
			t.Errorf("%s is not there", line)
		}
	}
	if strings.Contains(page, "made_up") || strings.Contains(page, "made/up") {
		t.Error("clients can make names up")
	}
	if t.Failed() {
		t.Log(page)
	}
	w.close(t)
	for _, name := range []string{"mcp.server.operation.duration", "parley.gateway.backend.status"} {
		if got := to.Metrics(); !slices.Contains(got, name) {
			t.Errorf("%s is not among the metrics %v", name, got)
		}
	}
	if n := len(to.Spans()); n > 0 {
		t.Errorf("%d spans were sent", n)
	}
}

// TestCollectorAway: calls work, and the log has a line.
func TestCollectorAway(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	w := newWorld(t, telemetry.Options{Traces: true, Metrics: true, Endpoint: gone.URL})
	if err := call(t, w.connect(t, mcp.Revision20260728), "sessions__work", parent); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := w.t.Close(ctx); err == nil {
		t.Error("somebody has taken what was sent")
	}
}

// TestComplaints: what does not work is said once, and not with every attempt.
func TestComplaints(t *testing.T) {
	var said bytes.Buffer
	seen, err := telemetry.New(t.Context(), telemetry.Options{Prometheus: true, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		otel.Handle(errors.New("connection refused"))
	}
	if n := strings.Count(said.String(), "connection refused"); n != 1 {
		t.Errorf("said %d times:\n%s", n, said.String())
	}
	if err := seen.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
