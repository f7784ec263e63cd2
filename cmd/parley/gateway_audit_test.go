package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

const auditedBackend = `version: 1
backends:
  a: {command: [fixture, full]}
audit: {file: logs/audit.jsonl, when_full: refuse}
`

// An audit log whose file was moved goes on at its path as soon as the gateway is told. While
// there can be no file and the log is required, the gateway is not ready, and its status says
// why.
func TestGatewayAuditMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no hangups")
	}
	dir := t.TempDir()
	file, logs := filepath.Join(dir, "gateway.yaml"), filepath.Join(dir, "logs")
	path := filepath.Join(logs, "audit.jsonl")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.WriteFile(file, []byte(auditedBackend), 0o600))
	s := startProcess(t, "gateway", file, "--http", "127.0.0.1:0")
	base := strings.TrimSuffix(s.url, "/mcp")
	is := func(page string) (int, string) {
		t.Helper()
		response, err := http.Get(base + page)
		do(err)
		text, err := io.ReadAll(response.Body)
		do(errors.Join(err, response.Body.Close()))
		return response.StatusCode, string(text)
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); {
			if time.Now().After(end) {
				t.Fatalf("it does not come to it that %s", what)
			}
		}
	}
	c, err := client.Connect(t.Context(), &streamable.Client{URL: s.url}, &client.Options{Logger: mcptest.Quiet()})
	do(err)
	defer func() { _ = c.Close() }()
	call := func() error {
		_, err := c.CallTool(t.Context(), "a__echo", map[string]any{"text": "x"})
		return err
	}
	do(call())

	do(os.Rename(path, path+".1"))
	do(s.cmd.Process.Signal(syscall.SIGHUP))
	until("the log goes on at its path", func() bool {
		is("/healthz") // which takes a while
		_, err := os.Stat(path)
		return err == nil
	})
	do(call())
	for _, name := range []string{path, path + ".1"} {
		if text, err := os.ReadFile(name); err != nil || strings.Count(string(text), `"method":"tools/call"`) != 1 {
			t.Errorf("%s: %v; want the line of one call, not\n%s", name, err, text)
		}
	}

	if code, text := is("/readyz"); code != http.StatusOK {
		t.Errorf("while the log is written, /readyz is %d: %s", code, text)
	}
	do(os.Rename(logs, logs+".away"))
	do(os.WriteFile(logs, nil, 0o600))
	text := ""
	until("the gateway is not ready", func() bool {
		code := 0
		code, text = is("/readyz")
		return code != http.StatusOK
	})
	if !strings.Contains(text, "the audit log cannot be written") || strings.Contains(text, dir) {
		t.Errorf("/readyz says %q; want that the audit log cannot be written, and no path", text)
	}
	if err := call(); err == nil || !strings.Contains(err.Error(), "the audit log cannot be written") {
		t.Errorf("a call ends with %v", err)
	}
	exe, err := exec.LookPath("parley")
	do(err)
	status := exec.CommandContext(t.Context(), exe, "gateway", "status", file)
	status.Env = s.cmd.Env
	shown, err := status.CombinedOutput()
	do(err)
	for _, want := range []string{path + ", level metadata, lines ", "all operations are refused: the audit log cannot be written since ", "lines missing 1: ", "not a directory"} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("the status does not say %q:\n%s", want, shown)
		}
	}

	do(os.Remove(logs))
	do(os.Rename(logs+".away", logs))
	if code, text := is("/readyz"); code != http.StatusOK {
		t.Errorf("when the log can be written again, /readyz is %d: %s", code, text)
	}
	do(call())
	_ = c.Close()
	s.end(syscall.SIGTERM)
}
