package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-mcp/parley/client"
	clientotel "github.com/parley-mcp/parley/client/otelmcp"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
	serverotel "github.com/parley-mcp/parley/server/otelmcp"
)

// exchange is what becomes known of an exchange on its way.
type exchange struct{ backend, tool, outcome string }

type exchangeKey struct{}

// around makes a span of each exchange with a client, and measures it.
func (t *Telemetry) around(next mcp.ServeFunc) mcp.ServeFunc {
	if t.instruments != nil {
		next = t.timed(next)
	}
	if t.traces != nil {
		next = serverotel.Middleware(&serverotel.Options{TracerProvider: t.traces, MeterProvider: noop.MeterProvider{}})(next)
	}
	return next
}

func (t *Telemetry) timed(next mcp.ServeFunc) mcp.ServeFunc {
	return func(ctx context.Context, x *mcp.Exchange) (any, error) {
		begun, seen := time.Now(), new(exchange)
		result, err := next(context.WithValue(ctx, exchangeKey{}, seen), x)
		attrs := make([]attribute.KeyValue, 0, 4)
		attrs = append(attrs, method(x.Method), outcomeKey.String(cmp.Or(seen.outcome, guard.Outcome(result, err))))
		if seen.backend != "" {
			attrs = append(attrs, backendKey.String(seen.backend))
		}
		if seen.tool != "" {
			attrs = append(attrs, toolKey.String(seen.tool))
		}
		t.served.Record(ctx, time.Since(begun).Seconds(), metric.WithAttributes(attrs...))
		return result, err
	}
}

// method is that of a message. Clients can make up any number of others.
func method(name string) attribute.KeyValue {
	if mcp.MethodNamed(name) == nil {
		name = "_OTHER"
	}
	return methodKey.String(name)
}

// post stands in front of all guards, where it is known what an operation is about.
type post struct{ t *Telemetry }

var _ guard.Observer = post{}

// Sees implements guard.Guard: it hides nothing.
func (post) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

// Observes implements guard.Observer.
func (post) Observes() {}

// Serve implements guard.Guard.
func (p post) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	seen, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		seen = new(exchange) // nobody wants to know
	}
	seen.backend = op.Backend
	if d := op.Definition; d != nil && d.Kind == mcp.ToolFeature {
		seen.tool = d.Shown
	}
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(backendKey.String(op.Backend))
	if op.View != "" {
		span.SetAttributes(viewKey.String(op.View))
	}
	result, err := next(ctx, op)
	outcome := guard.Outcome(result, err)
	if op.Approval.Denied() { // it is told as a result
		outcome = guard.OutcomeDenied
	}
	seen.outcome = outcome
	span.SetAttributes(outcomeKey.String(outcome))
	return result, err
}

// seenGuard is a guard whose refusals are counted.
type seenGuard struct {
	guard.Guard

	t    *Telemetry
	name attribute.KeyValue
}

var _ guard.Wrapper = (*seenGuard)(nil)

// Unwrap implements guard.Wrapper.
func (g *seenGuard) Unwrap() guard.Guard { return g.Guard }

// watched counts what a guard refuses, under the name of its package.
func watched(t *Telemetry, g guard.Guard) guard.Guard {
	name, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", g), "*"), ".")
	return &seenGuard{g, t, guardKey.String(name)}
}

// Serve implements guard.Guard. A guard has refused what it has not passed on, and what has
// an error that does not come from behind it.
func (g *seenGuard) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	passed, failed := false, false
	result, err := g.Guard.Serve(ctx, op, func(ctx context.Context, op *guard.Operation) (any, error) {
		result, err := next(ctx, op)
		passed, failed = true, err != nil
		return result, err
	})
	if !passed || err != nil && !failed {
		g.refused(ctx, op, err)
	}
	return result, err
}

// refused counts a refusal. To ask the client is none.
func (g *seenGuard) refused(ctx context.Context, op *guard.Operation, err error) {
	if guard.Outcome(nil, err) == guard.OutcomeAsked {
		return
	}
	g.t.refusals.Add(ctx, 1, metric.WithAttributes(g.name, backendKey.String(op.Backend), method(op.Method.Name)))
	trace.SpanFromContext(ctx).SetAttributes(g.name)
}

// hop is what a request to a backend goes through: a span of its own, whose context goes
// with it in place of the client's.
//
// Spec: 2026-07-28 basic#meta.
func (t *Telemetry) hop(backend string) (chain []client.Middleware) {
	name := backendKey.String(backend)
	if t.traces != nil {
		chain = append(chain, clientotel.Middleware(&clientotel.Options{TracerProvider: t.traces, MeterProvider: noop.MeterProvider{}}), labelled(name))
	}
	if t.instruments != nil {
		chain = append(chain, t.timedAt(name))
	}
	return chain
}

// labelled says in the span of a request which backend it is for.
func labelled(name attribute.KeyValue) client.Middleware {
	return func(next client.CallFunc) client.CallFunc {
		return func(ctx context.Context, r *client.Request) (json.RawMessage, error) {
			trace.SpanFromContext(ctx).SetAttributes(name)
			return next(ctx, r)
		}
	}
}

func (t *Telemetry) timedAt(name attribute.KeyValue) client.Middleware {
	return func(next client.CallFunc) client.CallFunc {
		return func(ctx context.Context, r *client.Request) (json.RawMessage, error) {
			begun := time.Now()
			result, err := next(ctx, r)
			t.asked.Record(ctx, time.Since(begun).Seconds(), metric.WithAttributes(name, method(r.Method), outcomeKey.String(guard.Outcome(result, err))))
			return result, err
		}
	}
}
