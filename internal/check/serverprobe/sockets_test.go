package serverprobe_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/child"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// What is judged in memory is judged alike over sockets, by a clock that runs.
func TestInnocentOverSockets(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds of real time")
	}
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2024-11-05"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			s := specimen.New(nil)
			defer func() { _ = s.Close(context.Background()) }() // there is nothing that it could not end
			var h interface {
				closer
				http.Handler
			}
			var err error
			if serve := (mcp.ServeOptions{Logger: mcptest.Quiet()}); revision == "2024-11-05" {
				h, err = sse.New(s, &sse.Options{ServeOptions: serve})
			} else {
				h, err = streamable.New(s, &streamable.Options{ServeOptions: serve})
			}
			if err != nil {
				t.Fatal(err)
			}
			site := httptest.NewServer(h)
			defer site.Close()
			defer func() { _ = h.Close(context.Background()) }() // nobody is connected any more
			accuses(t, revision, serverprobe.Target{Name: "specimen", Site: &peer.Site{URL: site.URL, Client: site.Client()}})
		})
	}
}

// A server that is a process, which is started again for some probes, is judged
// as one in memory is.
func TestInnocentProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "parley")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "..", "..", "cmd", "parley")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			accuses(t, revision, serverprobe.Target{Name: "parley serve", Lines: func(context.Context) (io.ReadWriteCloser, error) {
				return child.Start(child.Options{Args: []string{program, "serve", "--stdio", "--log-level", "error"}, Stderr: io.Discard})
			}})
		})
	}
}

// accuses fails the test if the target is accused of anything, or hardly judged.
func accuses(t *testing.T, revision string, target serverprobe.Target) {
	t.Helper()
	report, err := serverprobe.Check(t.Context(), target, &serverprobe.Options{
		Revisions: []string{revision}, Rate: 1e6, AllowAll: true, Patience: peer.Patience{Reply: 30 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, v := range report.Runs[0].Verdicts {
		if v.Outcome == verdict.Fail || v.Outcome == verdict.Warn {
			t.Errorf("%s", describe(v))
		}
		if v.Outcome == verdict.Pass {
			passed++
		}
	}
	if passed < 20 {
		t.Errorf("only %d rows were seen to be kept", passed)
	}
}
