package gateway_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// overheard is a log that says when a subscription has ended.
type overheard struct {
	*audit.Log

	over chan struct{}
}

func (o overheard) Record(e *guard.Event) error {
	err := o.Log.Record(e)
	if e.Over {
		o.over <- struct{}{}
	}
	return err
}

// TestEverythingIsLogged: each exchange has one line, also one that no guard is asked about.
func TestEverythingIsLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.New(audit.Options{Path: path, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(mcp.Implementation{Name: "one", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "work"}, func(context.Context, *server.Call, struct{}) (string, error) { return "done", nil })
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	over := make(chan struct{}, 1)
	one := behind(t, "one", s, modes[0], bridge.SharePrincipal)
	t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
	err = g.Load(gateway.Setup{
		Servers: []gateway.Server{one},
		Views:   map[string]gateway.Part{"private": {Principals: []string{"alice"}}},
		Guards:  []guard.Guard{overheard{log, over}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := mcptest.Connect(t, g.View(""), modes[2], nil)
	do := func(c *client.Client, method, params string) {
		_, _ = c.Do(t.Context(), method, json.RawMessage(params)) // what comes of it is in the log
	}
	do(c, mcp.MethodListTools, `{}`)
	do(c, mcp.MethodCallTool, `{"name":"one__work"}`)
	do(c, mcp.MethodCallTool, `{"name":"nothing__work"}`)
	do(mcptest.Connect(t, g.View("private"), modes[2], nil), mcp.MethodCallTool, `{"name":"one__work"}`)
	sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = sub.Close()
	within(t, "the end of the subscription", over)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"outcome":"ok".*"method":"tools/list".*"entries":1`, `"method":"tools/call","subject":"work"`,
		`"outcome":"error".*"method":"tools/call","shown":"nothing__work"`, `"outcome":"denied".*"view":"private".*"method":"tools/call"`,
		`"outcome":"ok".*"method":"subscriptions/listen"`, `"outcome":"ended".*"method":"subscriptions/listen"`,
	} {
		if n := matching(string(text), want); n != 1 {
			t.Errorf("%d lines for %s, in\n%s", n, want, text)
		}
	}
}

// matching counts the lines of a text that have parts, in their order.
func matching(text, parts string) (n int) {
	for line := range strings.Lines(text) {
		ok := true
		for part := range strings.SplitSeq(parts, ".*") {
			_, line, ok = strings.Cut(line, part)
			if !ok {
				break
			}
		}
		if ok {
			n++
		}
	}
	return n
}
