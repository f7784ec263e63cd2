package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/httpserver"
	"github.com/parley-mcp/parley/transport/streamable"
)

// All revisions are served, and when the server is told to end, it does, and the
// spans of all calls are written.
func TestServe(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var traces bytes.Buffer
	served := make(chan error, 1)
	go func() { served <- serve(ctx, l, &traces, httpserver.Options{}) }() // ends with stop
	calls := 0
	for _, mode := range mcptest.AllModes() {
		if mode.Transport == mcptest.HTTP {
			calls++
			use(t, url+"/mcp", mode.Revision)
		}
	}
	resp, err := http.Get(url + "/readyz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("/readyz: %+v, %v", resp, err)
	}
	resp.Body.Close()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	for _, name := range []string{`"Name":"tools/call divide"`, `"Name":"divide"`} {
		if got := strings.Count(traces.String(), name); got != calls {
			t.Errorf("%d spans with %s, want %d", got, name, calls)
		}
	}
}

func use(t *testing.T, url string, r mcp.Revision) {
	t.Helper()
	c, err := client.Connect(t.Context(), &streamable.Client{URL: url}, &client.Options{Revisions: []mcp.Revision{r}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if got, err := client.Call[float64](t.Context(), c, "divide", division{7, 2}); err != nil || got != 3.5 {
		t.Errorf("%s: %v, %v", r, got, err)
	}
}
