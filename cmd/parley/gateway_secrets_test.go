package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

const secretBackends = `version: 1
backends:
  program: {command: [/bin/nosuch, "--token=${env:IN_COMMAND}"]}
  path: {url: "http://127.0.0.1:1/${env:IN_URL}/mcp"}
  query: {url: "http://127.0.0.1:1/mcp?api_key=literal-secret-77"}
  user: {url: "http://admin:${env:IN_URL}@127.0.0.1:1/mcp?key=${env:IN_URL}"}
  crash: {command: [sh, -c, 'echo "invalid API key $SECRET" >&2; exit 3'], env: {SECRET: "${env:IN_COMMAND}"}}
  well: {command: [fixture, full]}
`

// The secrets of a configuration are in none of what a gateway says of servers that cannot
// be reached: to clients, in its log and in its status. Clients do not even learn where
// these servers are. A reload reports on no server that goes on.
func TestGatewayKeepsSecrets(t *testing.T) {
	secrets := []string{"command-secret-1", "url-secret-22", "literal-secret-77"}
	t.Setenv("IN_COMMAND", secrets[0])
	t.Setenv("IN_URL", secrets[1])
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	write := func(more string) {
		if err := os.WriteFile(file, []byte(secretBackends+more), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	s := startProcess(t, "gateway", file, "--http", "127.0.0.1:0")
	c, err := client.Connect(t.Context(), &streamable.Client{URL: s.url}, &client.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var told strings.Builder
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	told.WriteString(string(tools.Meta["com.github.parley-mcp/unavailable"]))
	for _, backend := range []string{"program", "path", "query", "user", "crash"} {
		_, err := c.CallTool(t.Context(), backend+"__x", nil)
		if err == nil {
			t.Errorf("a call of %s does not fail", backend)
			continue
		}
		told.WriteString("\n" + err.Error())
	}
	for _, want := range []string{"it cannot be started", "connection refused", "it has ended: exit status 3"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("clients are not told %q, but %s", want, told.String())
		}
	}
	for _, not := range append(secrets, "/bin/nosuch", "127.0.0.1", "API key", "sh -c") {
		if strings.Contains(told.String(), not) {
			t.Errorf("clients are told %q: %s", not, told.String())
		}
	}
	exe, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	status := exec.CommandContext(t.Context(), exe, "gateway", "status", file, "--stderr")
	status.Env = s.cmd.Env
	shown, err := status.CombinedOutput()
	if err != nil || !strings.Contains(string(shown), "invalid API key") || !strings.Contains(string(shown), "not shown)") {
		t.Errorf("the status is %s, error %v", shown, err)
	}
	write("page_size: 7\n")
	read := func() bool {
		page, err := c.ListTools(t.Context(), nil)
		return err == nil && page.NextCursor != nil
	}
	for !read() {
		if t.Context().Err() != nil {
			t.Fatal("the configuration was not read again")
		}
	}
	_ = c.Close()
	s.end(syscall.SIGTERM)
	log := strings.Join(s.log, "\n")
	for _, secret := range secrets {
		if strings.Contains(log, secret) || strings.Contains(string(shown), secret) {
			t.Errorf("%s stands in the log or the status:\n%s\n%s", secret, log, shown)
		}
	}
	if n := strings.Count(log, `msg="backend is up"`); n != 1 {
		t.Errorf("%d times a backend is reported to be up, which one was once:\n%s", n, log)
	}
}
