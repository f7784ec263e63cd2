// Package telemetry lets others see what a gateway does: traces that go on through it, from
// the span of its client to that of a server behind it, and metrics, by OTLP or for
// Prometheus. Both come from one set of instruments.
//
// What does not work here costs the gateway nothing but a line in its log: spans and
// metrics that nobody takes are dropped.
package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Telemetry.
type Options struct {
	// Traces and Metrics are sent to a collector, and Prometheus keeps metrics for Pages.
	Traces, Metrics, Prometheus bool
	// Endpoint is the URL of the collector, without the paths of the signals. "" means what
	// the variables OTEL_EXPORTER_OTLP_ENDPOINT and so on say, or the collector of this
	// machine.
	Endpoint string
	// Headers go with every request to the collector.
	Headers map[string]string
	// Sample is the part of the traces that begin here which is kept; nil means what
	// OTEL_TRACES_SAMPLER says, or all. Those that a client has begun are kept if it keeps
	// them.
	Sample *float64
	// Service is what the gateway is called; "" means what OTEL_SERVICE_NAME says, or
	// parley-gateway.
	Service string
	// Version is that of the program.
	Version string
	// Logger is told, now and then, what does not work. nil means slog.Default().
	Logger *slog.Logger
}

// Telemetry sees what a gateway does. One that is nil sees nothing, and costs nothing.
// Close ends it.
type Telemetry struct {
	opts     Options
	traces   *sdktrace.TracerProvider // nil for none
	metrics  *sdkmetric.MeterProvider // nil for none
	registry *prometheus.Registry     // nil for none
	*instruments
}

// scope is the name of what is measured here.
const scope = "github.com/parley-mcp/parley/cmd/parley/gateway"

// New returns what sees a gateway; nil if nothing is to be seen.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	if !o.Traces && !o.Metrics && !o.Prometheus {
		return nil, nil //nolint:nilnil // one that is nil sees nothing
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	t := &Telemetry{opts: o}
	otel.SetErrorHandler(&complaints{logger: o.Logger})
	about, err := o.resource(ctx)
	if err == nil && o.Traces {
		t.traces, err = o.tracer(ctx, about)
	}
	if err == nil && (o.Metrics || o.Prometheus) {
		err = t.measure(ctx, about)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close(ctx))
	}
	return t, nil
}

// resource describes the gateway. What the user says wins.
func (o *Options) resource(ctx context.Context) (*resource.Resource, error) {
	own := []attribute.KeyValue{attribute.String("service.name", "parley-gateway")}
	if o.Version != "" {
		own = append(own, attribute.String("service.version", o.Version))
	}
	parts := []resource.Option{resource.WithAttributes(own...), resource.WithTelemetrySDK(), resource.WithProcessPID(), resource.WithFromEnv()}
	if o.Service != "" {
		parts = append(parts, resource.WithAttributes(attribute.String("service.name", o.Service)))
	}
	about, err := resource.New(ctx, parts...)
	if errors.Is(err, resource.ErrPartialResource) {
		err = nil // a variable is wrong, and the rest is known
	}
	return about, err
}

// measure makes the instruments, and what reads them.
func (t *Telemetry) measure(ctx context.Context, about *resource.Resource) (err error) {
	options := []sdkmetric.Option{sdkmetric.WithResource(about)}
	if t.opts.Metrics {
		reader, err := t.opts.reader(ctx)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	if t.opts.Prometheus {
		t.registry = prometheus.NewRegistry()
		reader, err := scraped(t.registry)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	t.metrics = sdkmetric.NewMeterProvider(options...)
	t.instruments, err = newInstruments(t.metrics.Meter(scope, metric.WithInstrumentationVersion(t.opts.Version)))
	return err
}

// Pages returns what Prometheus reads, or nil.
func (t *Telemetry) Pages() http.Handler {
	if t == nil || t.registry == nil {
		return nil
	}
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(t.opts.Logger.Handler(), slog.LevelWarn)})
}

// Close sends what has not been sent yet, for as long as ctx lasts.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	var traces, metrics error
	var both sync.WaitGroup
	if t.traces != nil {
		both.Go(func() { traces = t.traces.Shutdown(ctx) })
	}
	if t.metrics != nil {
		both.Go(func() { metrics = t.metrics.Shutdown(ctx) })
	}
	both.Wait()
	return errors.Join(traces, metrics)
}

// complaints are errors of OpenTelemetry, of which there may be many.
type complaints struct {
	logger *slog.Logger

	mu   sync.Mutex
	last time.Time
	more int
}

// quiet is how long nothing is logged after an error.
const quiet = time.Minute

// Handle implements otel.ErrorHandler.
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && time.Since(c.last) < quiet {
		c.more++
		return
	}
	c.logger.Warn("traces or metrics are lost; the gateway goes on without them", "error", err, "before", c.more)
	c.last, c.more = time.Now(), 0
}

// Around is what every exchange with a client goes through; see gateway.Options. It is nil
// if there is nothing to see.
func (t *Telemetry) Around() func(mcp.ServeFunc) mcp.ServeFunc {
	if t == nil {
		return nil
	}
	return t.around
}

// Guards adds what tells a trace and the metrics what guards and operations are about.
func (t *Telemetry) Guards(chain []guard.Guard) []guard.Guard {
	if t == nil {
		return chain
	}
	seen := []guard.Guard{post{t}}
	for _, g := range chain {
		if t.instruments != nil {
			g = watched(t, g)
		}
		seen = append(seen, g)
	}
	return seen
}

// Client is what every request to a backend goes through.
func (t *Telemetry) Client(backend string) []client.Middleware {
	if t == nil {
		return nil
	}
	return t.hop(backend)
}
