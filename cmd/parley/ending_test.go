package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// gatewayFile writes the file of a gateway in front of a server.
func gatewayFile(t *testing.T, url, more string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	writeGateway(t, file, url, more)
	return file
}

func writeGateway(t *testing.T, file, url, more string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("version: 1\n"+more+"\nbackends: {a: {url: \""+url+"\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// served is a process that serves, and a call that runs there: it has asked its client
// something, which answers once the gate is open.
type served struct {
	*aServer

	gate   chan struct{}
	answer chan string
	failed chan error
}

// serveCall starts a command that serves the reference server, and makes a call.
func serveCall(t *testing.T, command, transport string, flags ...string) *served {
	t.Helper()
	args, tool := []string{command, "--http", "127.0.0.1:0"}, "classify_log"
	if command != "serve" {
		behind, stop, err := startHTTP()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop() })
		if command == "gateway" {
			behind, tool = gatewayFile(t, behind, "listen: {grace: 1h}"), "a__"+tool
		}
		args = append(args, behind)
	}
	s := &served{startProcess(t, append(args, flags...)...), make(chan struct{}), make(chan string, 1), make(chan error, 1)}
	asked := make(chan struct{})
	c, err := client.Connect(t.Context(), s.transport(transport), &client.Options{
		Revisions: []mcp.Revision{mcp.Revision20250618}, Logger: mcptest.Quiet(),
		Sample: func(ctx context.Context, _ *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			close(asked)
			select {
			case <-s.gate:
			case <-ctx.Done():
			}
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text("ERROR")}, Model: "m"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the server is gone
	go func() {                         // ends with the call
		got, err := client.Call[struct {
			Severity string `json:"severity"`
		}](t.Context(), c, tool, map[string]string{"entry": "disk full"})
		s.answer <- got.Severity
		s.failed <- err
	}()
	<-asked
	return s
}

func (s *served) page(path string) string { return strings.TrimSuffix(s.url, "/mcp") + path }

func (s *served) transport(name string) mcp.Transport {
	if name == "sse" {
		return &sse.Client{URL: s.page("/sse")}
	}
	return &streamable.Client{URL: s.url, NoSSEFallback: true, Logger: mcptest.Quiet()}
}

// status is that of a response on a connection of its own: while a server ends, it closes
// those that are idle.
func (s *served) status(method, path, body string, headers ...string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.page(path), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	own := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := own.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// tell tells the process to end, and waits until it does so.
func (s *served) tell() {
	s.t.Helper()
	if status := s.status(http.MethodGet, "/readyz", ""); status != http.StatusOK {
		s.t.Errorf("before, /readyz is %d", status)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	for s.status(http.MethodGet, "/readyz", "") != http.StatusServiceUnavailable {
		if s.t.Context().Err() != nil {
			s.t.Fatal("the server stayed ready")
		}
	}
}

const pings = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// A call that runs when a server gets SIGTERM is answered, on either transport, and what
// has no end of its own does not hold up the end. Meanwhile the server is alive, not ready,
// and takes nothing new.
func TestCallsFinish(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "bridge", "gateway"} {
		for _, transport := range []string{"http", "sse"} {
			t.Run(command+" "+transport, func(t *testing.T) {
				t.Parallel()
				s := serveCall(t, command, transport, "--grace", "1h")
				s.tell()
				if status := s.status(http.MethodGet, "/healthz", ""); status != http.StatusOK {
					t.Errorf("/healthz is %d", status)
				}
				if status := s.status(http.MethodGet, "/sse", ""); status != http.StatusServiceUnavailable {
					t.Errorf("a stream that is opened gets %d", status)
				}
				if status := s.status(http.MethodPost, "/mcp", pings, "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
					"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"); status != http.StatusServiceUnavailable {
					t.Errorf("a new call gets %d", status)
				}
				close(s.gate)
				if got, err := <-s.answer, <-s.failed; err != nil || got != "ERROR" {
					t.Errorf("the call gave %q, %v", got, err)
				}
				if err := s.wait(); err != nil {
					t.Errorf("the server ended with %v:\n%s", err, strings.Join(s.log, "\n"))
				}
			})
		}
	}
}

// A call that does not finish in the grace period is cancelled, and the server ends well.
// The flag wins over the file of a gateway.
func TestCallsAreCancelled(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "bridge", "gateway"} {
		for _, grace := range []string{"0", "1ms"} {
			t.Run(command+" "+grace, func(t *testing.T) {
				t.Parallel()
				s := serveCall(t, command, "http", "--grace", grace)
				s.end(syscall.SIGTERM)
				if got, err := <-s.answer, <-s.failed; err == nil {
					t.Errorf("the call gave %q, want an error", got)
				}
			})
		}
	}
}

// A second signal ends a server at once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "gateway"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			var flags []string
			if command == "serve" {
				flags = []string{"--grace", "1h"} // the file of the gateway says so
			}
			s := serveCall(t, command, "http", flags...)
			s.tell()
			if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			var failed *exec.ExitError
			if err := s.wait(); !errors.As(err, &failed) || failed.Exited() {
				t.Errorf("the server ended with %v, want the signal:\n%s", err, strings.Join(s.log, "\n"))
			}
		})
	}
}

// A call that runs in a view of a gateway that its file does not name any more is answered,
// while nobody finds the view.
func TestCallsOfAViewFinish(t *testing.T) {
	t.Parallel()
	begun, gate := make(chan struct{}), make(chan struct{})
	srv := server.New(mcp.Implementation{Name: "behind", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		close(begun)
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return "done", ctx.Err()
	})
	h, err := streamable.New(srv, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	behind := httptest.NewServer(h)
	t.Cleanup(func() {
		_ = h.Close(context.Background()) // nothing is in flight
		behind.Close()
	})
	file := gatewayFile(t, behind.URL, "listen: {grace: 1h}\nviews: {some: {}}")
	s := &served{aServer: startProcess(t, "gateway", file, "--http", "127.0.0.1:0")}
	c, err := client.Connect(t.Context(), &streamable.Client{URL: s.url + "/some", NoSSEFallback: true, Logger: mcptest.Quiet()}, &client.Options{Revisions: []mcp.Revision{mcp.Revision20250618}, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the view is gone
	ended := make(chan error, 1)
	go func() { // ends with the call
		_, err := client.Call[string](t.Context(), c, "a__wait", struct{}{})
		ended <- err
	}()
	<-begun
	writeGateway(t, file, behind.URL, "listen: {grace: 1h}")
	for s.status(http.MethodGet, "/mcp/some", "") != http.StatusNotFound {
		if t.Context().Err() != nil {
			t.Fatal("the view stayed")
		}
	}
	close(gate)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
