package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
)

// The page's address is the first line. It opens the page once; each line that is typed
// brings another one, and the end of the program is its success.
func TestInspectOpensOnce(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	typed, keyboard := io.Pipe()
	printed, screen := io.Pipe()
	streams := piped(screen, io.Discard)
	streams.In = typed
	ended := make(chan int, 1)
	go func() { // ends with interrupt, below
		ended <- cli.Run(ctx, streams, []string{"inspect", "--no-open", "--", "parley", "serve", "--stdio"})
		_ = screen.Close()
	}()
	lines := bufio.NewScanner(printed)
	lines.Scan()
	first := lines.Text()
	_, _ = keyboard.Write([]byte("\n")) // a pipe that is open
	lines.Scan()
	for address, want := range map[string]string{first: "/#key=", lines.Text(): "/#key="} {
		if got := leadsTo(t, address); !strings.HasPrefix(got, want) {
			t.Errorf("%s leads to %q", address, got)
		}
		if got := leadsTo(t, address); got != "/#refused" {
			t.Errorf("%s, used again, leads to %q", address, got)
		}
	}
	interrupt()
	_ = keyboard.Close()
	if code := <-ended; code != 0 {
		t.Errorf("exit code = %d", code)
	}
}

// leadsTo returns where an address redirects.
func leadsTo(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.Header.Get("Location")
}
