package sse_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	codec "github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
)

// draining is a handler whose tool "wait" says when it has begun, and waits for its gate.
type draining struct {
	*httptest.Server

	h           *sse.Handler
	begun, gate chan struct{}
}

func startDraining(t *testing.T) *draining {
	t.Helper()
	d := &draining{begun: make(chan struct{}), gate: make(chan struct{})}
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		d.begun <- struct{}{}
		select {
		case <-d.gate:
			return "waited", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	type name struct {
		Name string `json:"name"`
	}
	server.AddTool(s, mcp.Tool{Name: "greet"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		who, err := server.Elicit[name](ctx, call, "who", "Who?")
		return "Hello, " + who.Name, err
	})
	h, err := sse.New(s, &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	d.h, d.Server = h, httptest.NewServer(h)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		d.Close()
	})
	return d
}

// open opens a stream, and a session on it.
func (d *draining) open(t *testing.T, revision string) (*codec.Reader, string) {
	t.Helper()
	events, endpoint := dial(t, d.Server, "/sse")
	post(t, d.Server, endpoint, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	if e, err := events.Next(); err != nil || !strings.Contains(string(e.Data), revision) {
		t.Fatalf("initialize gave %s, %v", e.Data, err)
	}
	return events, endpoint
}

var errImpatient = errors.New("enough")

// drainBegins begins to drain a handler that has a call in flight.
func drainBegins(t *testing.T, h *sse.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errImpatient)
	if err := h.Drain(ctx); !errors.Is(err, errImpatient) {
		t.Errorf("Drain: %v, want %v, as there is a call in flight", err, errImpatient)
	}
}

const waits = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`

// While a handler drains, what was begun goes on, and nothing else begins.
func TestDrain(t *testing.T) {
	for name, send := range map[string]string{"call": waits, "batch": "[" + waits + "]"} {
		t.Run(name, func(t *testing.T) {
			d := startDraining(t)
			events, endpoint := d.open(t, "2025-03-26")
			if status := post(t, d.Server, endpoint, send); status != http.StatusAccepted {
				t.Fatalf("the call: %d", status)
			}
			<-d.begun
			drainBegins(t, d.h)
			const note = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
			for what, step := range map[string]struct {
				send string
				want int
			}{
				"a call":                {strings.Replace(waits, `"id":1`, `"id":2`, 1), http.StatusServiceUnavailable},
				"a batch":               {"[" + note + `,{"jsonrpc":"2.0","id":3,"method":"ping"}]`, http.StatusServiceUnavailable},
				"a notification":        {note, http.StatusAccepted},
				"a batch without calls": {"[" + note + "]", http.StatusAccepted},
			} {
				if status := post(t, d.Server, endpoint, step.send); status != step.want {
					t.Errorf("%s: %d, want %d", what, status, step.want)
				}
			}
			resp, err := d.Client().Get(d.URL + "/sse")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
				t.Errorf("a stream: %s %v", resp.Status, resp.Header)
			}
			close(d.gate)
			if err := d.h.Drain(t.Context()); err != nil {
				t.Errorf("Drain: %v", err)
			}
			if e, err := events.Next(); err != nil || !strings.Contains(string(e.Data), "waited") {
				t.Errorf("the call that was in flight: %s, %v", e.Data, err)
			}
		})
	}
}

// Every call of a batch is waited for.
func TestDrainWaitsForABatch(t *testing.T) {
	d := startDraining(t)
	events, endpoint := d.open(t, "2025-03-26")
	post(t, d.Server, endpoint, "["+waits+","+strings.Replace(waits, `"id":1`, `"id":2`, 1)+"]")
	for range 2 {
		<-d.begun
	}
	d.gate <- struct{}{}
	drainBegins(t, d.h)
	d.gate <- struct{}{}
	if err := d.h.Drain(t.Context()); err != nil {
		t.Errorf("Drain: %v", err)
	}
	if e, err := events.Next(); err != nil || strings.Count(string(e.Data), "waited") != 2 {
		t.Errorf("the batch: %s, %v", e.Data, err)
	}
}

// Streams do not hold up a drain, and end with Close.
func TestDrainWaitsForNoStream(t *testing.T) {
	d := startDraining(t)
	events, _ := d.open(t, "2024-11-05")
	if err := d.h.Drain(t.Context()); err != nil {
		t.Errorf("Drain: %v", err)
	}
	if n := d.h.Sessions(); n != 1 {
		t.Errorf("after Drain there are %d streams, want the one that was open", n)
	}
	if err := d.h.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if e, err := events.Next(); err == nil {
		t.Errorf("the stream went on with %s", e.Data)
	}
}

// A call that waits for its client's answer gets it while the handler drains.
func TestDrainLetsAnswersIn(t *testing.T) {
	d := startDraining(t)
	c, err := client.Connect(t.Context(), &sse.Client{URL: d.URL + "/sse"}, &client.Options{
		Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet(),
		Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			drainBegins(t, d.h)
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: []byte(`{"name":"Di"}`)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Call[string](t.Context(), c, "greet", nil); err != nil || got != "Hello, Di" {
		t.Errorf("the call gave %q, %v", got, err)
	}
	if err := d.h.Drain(t.Context()); err != nil {
		t.Errorf("Drain: %v", err)
	}
	_ = c.Close() // nothing is lost
}

// A call that its client cancels, or whose client is gone, no longer holds up a drain.
func TestDrainEndsWithCancellation(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *draining, string){
		"cancelled": func(t *testing.T, d *draining, endpoint string) {
			t.Helper()
			post(t, d.Server, endpoint, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		},
		"gone": func(_ *testing.T, d *draining, _ string) { d.CloseClientConnections() },
	} {
		t.Run(name, func(t *testing.T) {
			d := startDraining(t)
			_, endpoint := d.open(t, "2024-11-05")
			post(t, d.Server, endpoint, waits)
			<-d.begun
			drainBegins(t, d.h)
			end(t, d, endpoint)
			if err := d.h.Drain(t.Context()); err != nil {
				t.Errorf("Drain: %v", err)
			}
		})
	}
}
