package config

import (
	"slices"
	"testing"
)

// Secrets are found wherever a file can have them, and as what they stand for.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "from-file\n")
	write(t, dir, "more.env", "MORE=from-env-file\n")
	path := write(t, dir, "g.yaml", `version: 1
auth: {bearer: "${env:BEARER}"}
backends:
  a: {command: [x], env: {A: "${file:file}", B: literal}, env_file: more.env}
  b: {url: "https://u:in-url@x.example/mcp?key=in-query", headers: {Authorization: "Bearer ${env:HEADER}"}, auth: {client: {issuer: "https://x.example", id: x, secret: of-program}}}
  c: {command: [x], env: {A: "${env:MISSING}"}}
  d: {command: [x, "--id=${env:IN_COMMAND}", --password, as-option], cwd: "/x/${env:IN_FOLDER}"}
  e: {url: "https://x.example/${env:IN_PATH}/0123456789abcdef0123"}
telemetry: {endpoint: "https://x.example", headers: {X: of-collector}}
`)
	c := read(t, path, map[string]string{"BEARER": "bearer-of-clients", "HEADER": "of-header", "IN_COMMAND": "in-command", "IN_FOLDER": "in-folder", "IN_PATH": "in-path"})
	want := []string{"0123456789abcdef0123", "Bearer of-header", "as-option", "bearer-of-clients", "from-env-file", "from-file", "in-command", "in-folder", "in-path", "in-query", "in-url", "literal", "of-collector", "of-header", "of-program"}
	if got := c.Secrets(); !slices.Equal(got, want) {
		t.Errorf("they are %q, want %q", got, want)
	}
}
