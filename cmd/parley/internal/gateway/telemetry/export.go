package telemetry

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
)

// patience is how long a collector that is away is tried with the same spans or metrics.
// Others are dropped in the meantime.
const patience = 20 * time.Second

// tracer makes spans, and sends them in the background.
func (o *Options) tracer(ctx context.Context, about *resource.Resource) (*sdktrace.TracerProvider, error) {
	to := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: time.Second, MaxInterval: patience / 2, MaxElapsedTime: patience,
	})}
	if o.Endpoint != "" {
		to = append(to, otlptracehttp.WithEndpointURL(o.signal("traces")))
	}
	if len(o.Headers) > 0 {
		to = append(to, otlptracehttp.WithHeaders(o.Headers))
	}
	exporter, err := otlptracehttp.New(ctx, to...)
	if err != nil {
		return nil, err
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(about), sdktrace.WithSpanProcessor(discretion{}), sdktrace.WithBatcher(exporter)}
	if o.Sample != nil {
		options = append(options, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(*o.Sample))))
	}
	return sdktrace.NewTracerProvider(options...), nil
}

// reader sends metrics to a collector from time to time.
func (o *Options) reader(ctx context.Context) (sdkmetric.Reader, error) {
	to := []otlpmetrichttp.Option{otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{
		Enabled: true, InitialInterval: time.Second, MaxInterval: patience / 2, MaxElapsedTime: patience,
	})}
	if o.Endpoint != "" {
		to = append(to, otlpmetrichttp.WithEndpointURL(o.signal("metrics")))
	}
	if len(o.Headers) > 0 {
		to = append(to, otlpmetrichttp.WithHeaders(o.Headers))
	}
	exporter, err := otlpmetrichttp.New(ctx, to...)
	if err != nil {
		return nil, err
	}
	return sdkmetric.NewPeriodicReader(exporter), nil
}

// signal is where the collector takes traces or metrics.
func (o *Options) signal(name string) string {
	return strings.TrimSuffix(o.Endpoint, "/") + "/v1/" + name
}

// scraped is what Prometheus reads. The name of the instrumentation says nothing there.
func scraped(registry prometheus.Registerer) (sdkmetric.Reader, error) {
	return otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo())
}

// discretion keeps the IDs of sessions, which may be all that it takes to use one, out of
// spans: fingerprints tell them apart as well.
type discretion struct{}

const sessionID = attribute.Key("mcp.session.id")

// OnStart implements sdktrace.SpanProcessor.
func (discretion) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	for _, a := range s.Attributes() {
		if a.Key == sessionID {
			s.SetAttributes(sessionID.String(guard.Fingerprint(a.Value.AsString())))
			return
		}
	}
}

// OnEnd implements sdktrace.SpanProcessor.
func (discretion) OnEnd(sdktrace.ReadOnlySpan) {}

// ForceFlush implements sdktrace.SpanProcessor.
func (discretion) ForceFlush(context.Context) error { return nil }

// Shutdown implements sdktrace.SpanProcessor.
func (discretion) Shutdown(context.Context) error { return nil }
