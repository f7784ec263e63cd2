package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
)

// The attributes, those of the semantic conventions for MCP first. How many values each can
// have does not depend on what clients send.
const (
	methodKey  = attribute.Key("mcp.method.name")
	toolKey    = attribute.Key("gen_ai.tool.name")
	backendKey = attribute.Key("parley.backend")
	viewKey    = attribute.Key("parley.view")
	outcomeKey = attribute.Key("parley.outcome")
	guardKey   = attribute.Key("parley.guard")
	statusKey  = attribute.Key("parley.status")
	doorKey    = attribute.Key("parley.transport")
)

// instruments are what is measured.
type instruments struct {
	meter    metric.Meter
	served   metric.Float64Histogram
	asked    metric.Float64Histogram
	refusals metric.Int64Counter
}

// seconds are the bounds that the semantic conventions recommend.
var seconds = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

func newInstruments(m metric.Meter) (*instruments, error) {
	in, errs := &instruments{meter: m}, make([]error, 3)
	in.served, errs[0] = m.Float64Histogram("mcp.server.operation.duration", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(seconds...),
		metric.WithDescription("Time that the gateway takes for what a client asks for."))
	in.asked, errs[1] = m.Float64Histogram("mcp.client.operation.duration", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(seconds...),
		metric.WithDescription("Time that a backend takes for what the gateway asks for."))
	in.refusals, errs[2] = m.Int64Counter("parley.gateway.refusals",
		metric.WithDescription("Operations that a guard has refused, and results that it has withheld."))
	return in, errors.Join(errs...)
}

// Observe has the metrics say how the backends are, and how many sessions clients have, by
// the name of the transport.
func (t *Telemetry) Observe(backends func() []backend.State, sessions func() map[string]int) error {
	if t == nil || t.instruments == nil {
		return nil
	}
	of := &observed{backends: backends, sessions: sessions}
	if err := of.make(t.meter); err != nil {
		return err
	}
	_, err := t.meter.RegisterCallback(of.read, of.all()...)
	return err
}

// observed is what is looked at when somebody wants to know.
type observed struct {
	backends func() []backend.State
	sessions func() map[string]int

	status, failures, connections, parked, inFlight, open metric.Int64ObservableGauge
	connected, lost                                       metric.Int64ObservableCounter
}

func (o *observed) make(m metric.Meter) error {
	var errs []error
	gauge := func(name, about string) metric.Int64ObservableGauge {
		g, err := m.Int64ObservableGauge(name, metric.WithDescription(about))
		errs = append(errs, err)
		return g
	}
	counter := func(name, about string) metric.Int64ObservableCounter {
		c, err := m.Int64ObservableCounter(name, metric.WithDescription(about))
		errs = append(errs, err)
		return c
	}
	o.status = gauge("parley.gateway.backend.status", "1 for what a backend is now: idle, connecting, up or broken.")
	o.failures = gauge("parley.gateway.backend.failures", "How often in a row a backend has failed.")
	o.connections = gauge("parley.gateway.backend.connections", "Open connections to a backend.")
	o.inFlight = gauge("parley.gateway.backend.requests.active", "Requests that a backend has not answered yet.")
	o.parked = gauge("parley.gateway.backend.calls.parked", "Calls that wait for their clients to come back with an answer.")
	o.open = gauge("parley.gateway.sessions", "Sessions that clients have open.")
	o.connected = counter("parley.gateway.backend.connections.made", "How often a backend was connected to.")
	o.lost = counter("parley.gateway.backend.connections.lost", "How often a connection to a backend has ended by itself.")
	return errors.Join(errs...)
}

func (o *observed) all() []metric.Observable {
	return []metric.Observable{o.status, o.failures, o.connections, o.parked, o.inFlight, o.open, o.connected, o.lost}
}

// read implements metric.Callback.
func (o *observed) read(_ context.Context, to metric.Observer) error {
	for _, s := range o.backends() {
		name := backendKey.String(s.Name)
		for _, status := range backend.Statuses() {
			is := int64(0)
			if s.Status == status {
				is = 1
			}
			to.ObserveInt64(o.status, is, metric.WithAttributes(name, statusKey.String(string(status))))
		}
		of := metric.WithAttributes(name)
		to.ObserveInt64(o.failures, int64(s.Failures), of)
		to.ObserveInt64(o.connections, int64(s.Connections), of)
		to.ObserveInt64(o.inFlight, int64(s.InFlight), of)
		to.ObserveInt64(o.parked, int64(s.Parked), of)
		to.ObserveInt64(o.connected, int64(s.Connected), of)
		to.ObserveInt64(o.lost, int64(s.Lost), of)
	}
	for door, n := range o.sessions() {
		to.ObserveInt64(o.open, int64(n), metric.WithAttributes(doorKey.String(door)))
	}
	return nil
}
