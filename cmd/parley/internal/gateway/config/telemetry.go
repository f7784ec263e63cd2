package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Telemetry says which traces and metrics of the gateway go where.
type Telemetry struct {
	// Traces and Metrics say what is sent.
	Traces, Metrics bool
	// Endpoint is the URL of the collector; "" is that of the environment.
	Endpoint string
	// Sample is the part of the traces that is kept; nil is what the environment says.
	Sample *float64
	// Service is what the gateway is called; "" is what the environment says.
	Service string

	headers []setting
	same    string // identifies what is said here
}

func (t *Telemetry) keys() []key {
	return []key{
		{
			name: "endpoint", value: word{&t.Endpoint, isURL}, example: "http://localhost:4318",
			doc: "The collector, which takes OTLP over HTTP, without /v1/traces. The default is what OTEL_EXPORTER_OTLP_ENDPOINT says, or the example.",
		},
		{
			name: "headers", value: table[setting]{&t.headers, settingOf(oneLine), "HEADER", isHeader}, example: `{Authorization: "Bearer ${env:COLLECTOR_TOKEN}"}`,
			doc: "Headers for every request to the collector.",
		},
		{name: "traces", value: enabled{boolean{&t.Traces}}, doc: "Send traces: a span for each operation, and one for each request to a backend."},
		{name: "metrics", value: enabled{boolean{&t.Metrics}}, doc: "Send metrics."},
		{
			name: "sample", value: maybe[float64]{&t.Sample, func(into *float64) value { return part{into} }}, example: "0.1",
			doc: "Which part is kept of the traces that begin at the gateway. Those of clients are kept if the client keeps them.",
		},
		{
			name: "service", value: word{&t.Service, notEmpty}, example: "tools-gateway",
			doc: "What the gateway is called in traces and metrics. The default is what OTEL_SERVICE_NAME says, or parley-gateway.",
		},
	}
}

// Headers returns the headers for the collector, as they are at this moment.
func (t *Telemetry) Headers() (map[string]string, error) {
	headers := make(map[string]string, len(t.headers))
	var errs []error
	for _, h := range t.headers {
		text, err := h.value.Reveal()
		errs = append(errs, err)
		headers[h.name] = text
	}
	return headers, errors.Join(errs...)
}

// files are those that secrets come from.
func (t *Telemetry) files() (paths []string) {
	if t == nil {
		return nil
	}
	for _, h := range t.headers {
		paths = append(paths, h.value.files()...)
	}
	return paths
}

// probe identifies what is said here.
func (t *Telemetry) probe() error {
	if t == nil {
		return nil
	}
	headers, err := t.Headers()
	sample := -1.0
	if t.Sample != nil {
		sample = *t.Sample
	}
	t.same = digest(t.Traces, t.Metrics, t.Endpoint, sample, t.Service, headers)
	return err
}

// identity tells sections apart, also one that is not there.
func (t *Telemetry) identity() string {
	if t == nil {
		return ""
	}
	return t.same
}

// enabled is a boolean that is true without the key.
type enabled struct{ boolean }

func (v enabled) preset()          { *v.into = true }
func (v enabled) fallback() string { return "true" }

// part is a number from 0 to 1.
type part struct{ into *float64 }

func (v part) preset()          { *v.into = 0 }
func (v part) fallback() string { return "" }
func (v part) expects() string  { return "a number from 0 to 1, such as 0.1" }
func (v part) bounds() string   { return "From 0 to 1" }
func (v part) schema() schema   { return schema{"type": "number", "minimum": 0, "maximum": 1} }

func (v part) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.ScalarNode || !slices.Contains([]string{"!!int", "!!float"}, n.ShortTag()) {
		r.wrong(v, n, at)
		return
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	if err != nil || !(f >= 0 && f <= 1) { // NaN is neither
		r.fault(n, at, "%.40q does not fit; it must be %s", n.Value, v.expects())
		return
	}
	*v.into = f
}

// MetricsPage is where metrics are among the other pages of the gateway.
const MetricsPage = "/metrics"

// isMetrics is the rule of where Prometheus finds metrics.
var isMetrics = rule{
	is:      MetricsPage + ", or an address such as 127.0.0.1:9464",
	pattern: `^(/metrics|[^/]*:[0-9]+)$`,
	check:   func(s string) bool { return s == MetricsPage || isAddress(s) },
}

func isAddress(s string) bool {
	_, port, ok := strings.Cut(s[strings.LastIndexByte(s, ']')+1:], ":")
	return ok && isPort(port) && !strings.Contains(s, "/")
}
