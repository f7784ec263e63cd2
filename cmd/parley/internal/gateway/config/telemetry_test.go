package config

import "testing"

func TestTelemetry(t *testing.T) {
	c := read(t, "testdata/valid/all.yaml", map[string]string{"TOKEN": "s3cret", "SSH_AUTH_SOCK": "/run/ssh"})
	s := c.Telemetry
	headers, err := s.Headers()
	if err != nil || headers["Authorization"] != "Bearer s3cret" {
		t.Errorf("headers %v, %v", headers, err)
	}
	if !s.Traces || s.Metrics || s.Endpoint != "http://localhost:4318" || s.Sample == nil || *s.Sample != 0.25 || s.Service != "tools" {
		t.Errorf("%+v", s)
	}
	dir := t.TempDir()
	least := "version: 1\nbackends: {a: {command: [x]}}\n"
	if c := read(t, write(t, dir, "none.yaml", least), nil); c.Telemetry != nil {
		t.Errorf("%+v, and nobody has asked for it", c.Telemetry)
	}
	c = read(t, write(t, dir, "empty.yaml", least+"telemetry: {}\n"), nil)
	if s := c.Telemetry; s == nil || !s.Traces || !s.Metrics || s.Sample != nil {
		t.Errorf("%+v", s)
	}
	c = read(t, write(t, dir, "missing.yaml", least+"telemetry: {headers: {X: \"${env:MISSING}\"}}\n"), nil)
	if len(c.Warnings) != 1 {
		t.Errorf("a header that leads nowhere: %v", c.Warnings)
	}
	for text, want := range map[string]bool{
		"/metrics": true, ":9464": true, "127.0.0.1:9464": true, "[::1]:9464": true, "host:0": true,
		"": false, "/other": false, "9464": false, "host": false, "host:": false, "host:x": false, "http://host:1": false, "host:70000": false,
	} {
		if isMetrics.check(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
