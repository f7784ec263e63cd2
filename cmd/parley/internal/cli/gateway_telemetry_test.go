package cli

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
)

// get returns what a page says to a request with a header.
func get(t *testing.T, url, header, value string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(header, value)
	if header == "Host" {
		r.Host = value
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// Metrics can have an address of their own, where pages of others cannot read them.
func TestMetricsApart(t *testing.T) {
	var log bytes.Buffer
	page := metricsPage{at: "127.0.0.1:0", pages: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "up 1")
	})}
	stop, err := page.serve(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://[^ \n]+`).FindString(log.String())
	if status, text := get(t, url, "Accept", "*/*"); status != http.StatusOK || text != "up 1" {
		t.Errorf("%d %q", status, text)
	}
	if status, _ := get(t, url, "Host", "evil.example"); status != http.StatusForbidden {
		t.Errorf("another host: %d", status)
	}
	if status, _ := get(t, url, "Origin", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("another origin: %d", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// Without a word of the file, the environment decides; without either, nothing is seen.
func TestTelemetryOf(t *testing.T) {
	for name, test := range map[string]struct {
		env                         map[string]string
		file                        *config.Telemetry
		metrics                     string
		traces, measures, published bool
	}{
		"nothing":           {},
		"a page":            {metrics: "/metrics", published: true},
		"the environment":   {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, traces: true, measures: true},
		"one signal":        {env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, traces: true},
		"one signal is off": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_METRICS_EXPORTER": "none"}, traces: true},
		"off":               {env: map[string]string{"OTEL_SDK_DISABLED": "true"}, file: &config.Telemetry{Traces: true, Metrics: true}},
		"the file":          {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, file: &config.Telemetry{Traces: true}, traces: true},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := newTestApp("", false)
			a.io.LookupEnv = func(name string) (string, bool) { text, ok := test.env[name]; return text, ok }
			o, err := a.telemetryOf(&config.Config{Telemetry: test.file, Listen: config.Listen{Metrics: test.metrics}}, new(gatewayFlags), slog.Default())
			if err != nil || o.Traces != test.traces || o.Metrics != test.measures || o.Prometheus != test.published {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
}
