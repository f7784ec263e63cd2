package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/telemetry"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/webserver"
)

// telemetryOf returns what sees the gateway: what the file says, and without it what the
// environment says, for files that cannot say it.
func (a *app) telemetryOf(c *config.Config, f *gatewayFlags, logger *slog.Logger) (telemetry.Options, error) {
	o := telemetry.Options{Version: buildVersion(), Logger: logger, Prometheus: c.Listen.Metrics != "" && !f.stdio}
	if s := c.Telemetry; s != nil {
		o.Traces, o.Metrics, o.Endpoint, o.Sample, o.Service = s.Traces, s.Metrics, s.Endpoint, s.Sample, s.Service
		headers, err := s.Headers()
		if err != nil {
			return o, usagef("%w", err)
		}
		o.Headers = headers
	} else {
		o.Traces, o.Metrics = a.collects("TRACES"), a.collects("METRICS")
	}
	off := strings.EqualFold(a.variable("OTEL_SDK_DISABLED"), "true")
	o.Traces = o.Traces && !off && a.variable("OTEL_TRACES_EXPORTER") != "none"
	o.Metrics = o.Metrics && !off && a.variable("OTEL_METRICS_EXPORTER") != "none"
	return o, nil
}

// collects reports whether the environment names a collector for a signal.
func (a *app) collects(signal string) bool {
	return a.variable("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || a.variable("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

func (a *app) variable(name string) string {
	text, _ := a.io.LookupEnv(name)
	return text
}

// sending is how long the gateway waits for a collector when it ends.
const sending = 2 * time.Second

// farewell sends what was seen last. A collector that is away does not matter.
func (r *runningGateway) farewell() {
	ctx, cancel := context.WithTimeout(context.Background(), sending)
	defer cancel()
	if err := r.telemetry.Close(ctx); err != nil {
		r.logger.Warn("the last traces or metrics are lost", "error", err)
	}
}

// sessions counts those that clients have open, by the name of the transport.
func (r *runningGateway) sessions() map[string]int {
	if r.single {
		return map[string]int{"stdio": 1}
	}
	return r.doors.sessions()
}

// metricsPage is where Prometheus finds metrics.
type metricsPage struct {
	pages http.Handler // nil for none
	at    string       // an address, or config.MetricsPage
	hosts []string
}

// guarded keeps pages that a browser shows from reading metrics on this machine.
func (m *metricsPage) guarded() (http.Handler, error) {
	guard, err := httpserve.NewGuard(m.hosts, nil)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := guard.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		m.pages.ServeHTTP(w, r)
	}), nil
}

// isHere reports whether metrics are among the other pages of the server.
func (m *metricsPage) isHere() bool { return m.pages != nil && m.at == config.MetricsPage }

// isApart reports whether metrics have an address of their own.
func (m *metricsPage) isApart() bool { return m.pages != nil && m.at != config.MetricsPage }

// serve serves metrics at an address of their own until stop is called.
func (m *metricsPage) serve(ctx context.Context, logger *slog.Logger) (stop func() error, err error) {
	if !m.isApart() {
		return func() error { return nil }, nil
	}
	page, err := m.guarded()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+config.MetricsPage, page)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", webserver.Address(m.at))
	if err != nil {
		return nil, usagef("listen.metrics: cannot listen on %q: %v", m.at, err)
	}
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }() // ends with stop
	logger.Info("serving metrics", "url", "http://"+listener.Addr().String()+config.MetricsPage)
	return func() error {
		err := web.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}
