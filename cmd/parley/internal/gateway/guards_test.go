package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// strict lets nothing of the server "two" through, and changes arguments.
type strict struct{ w *world }

func (s strict) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	s.w.say(&s.w.noted, "%s %s %s is %s, known %t", op.Method.Name, op.Backend, op.Subject, op.Shown, op.Definition != nil)
	if op.Backend == "two" {
		return nil, &mcp.ForbiddenError{Reason: "not two"}
	}
	changed := *op
	changed.Params = json.RawMessage(strings.Replace(string(op.Params), "secret", "***", 1))
	return next(ctx, &changed)
}

func (strict) Sees(_ context.Context, _ *mcp.Peer, d *guard.Definition) bool {
	return d.Backend != "two"
}

// Guards see what a request is about, and decide about lists, calls and subscriptions.
func TestGuards(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
			one := w.server("one")
			setup := gateway.Setup{Guards: []guard.Guard{strict{w}}, ListTimeout: 20 * time.Second, Servers: []gateway.Server{
				behind(t, "one", one, modes[2], bridge.SharePrincipal), behind(t, "two", w.server("two"), modes[2], bridge.SharePrincipal),
			}}
			t.Cleanup(func() { _ = w.g.Close() })
			if err := w.g.Load(setup); err != nil {
				t.Fatal(err)
			}
			w.c = mcptest.Connect(t, w.g.View(""), front, nil)
			tools, err := client.Collect(w.c.Tools(t.Context()))
			if err != nil || len(tools) != 2 || !strings.HasPrefix(tools[0].Name, "one__") {
				t.Errorf("the tools are %+v, error %v", tools, err)
			}
			w.call(t, `{"name":"one__work","arguments":{"word":"secret"}}`)
			w.heard(t, &w.noted, "tools/call one work is one__work, known true")
			w.heard(t, &w.got, `"word":"***"`)
			if _, err := w.c.CallTool(t.Context(), "two__work", nil); err == nil || !strings.Contains(err.Error(), "not two") {
				t.Errorf("a call: %v", err)
			}
			raw, err := w.c.Do(t.Context(), mcp.MethodReadResource, json.RawMessage(`{"uri":"mcp:one:test://static"}`))
			if err != nil || strings.Contains(string(raw), "public") {
				t.Errorf("anybody may keep %s, error %v", raw, err)
			}
			events := make(chan client.Event, 10)
			sub, err := w.c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"mcp:one:test://static"}}, func(_ context.Context, e client.Event) { events <- e })
			if err != nil {
				t.Fatal(err)
			}
			one.ResourceUpdated("test://static")
			within(t, "the change", events)
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
			_, err = w.c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"mcp:two:test://static"}}, func(context.Context, client.Event) {})
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a subscription to what is forbidden: %v", err)
			}
		})
	}
}
