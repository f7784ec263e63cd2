package gateway_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A server at a URL that is cut off after it was used costs its own calls no time; lists
// say that it is missing, and clients hear when it is there again.
func TestIsCutOff(t *testing.T) {
	for _, front := range []mcptest.Mode{modes[1], modes[3]} {
		for _, back := range []mcptest.Mode{modes[1], modes[3]} {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { isCutOff(t, newStage(t, front, back, backend.Options{Timeout: 2 * time.Minute})) })
			})
		}
	}
}

func isCutOff(t *testing.T, s *stage) {
	t.Helper()
	h, err := streamable.New(s.bad, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	v := &vanishing{site: mcptest.NewSite(h)}
	t.Cleanup(func() {
		_ = h.Close(context.Background()) // it waits as long as that takes
		v.site.Close()
	})
	l := v.line()
	s.via = &streamable.Client{URL: v.site.URL, HTTP: l.Client, Logger: mcptest.Quiet(), NoSSEFallback: true}
	if err := s.call(t, "bad__write"); err != nil {
		t.Fatal(err)
	}
	changed := make(chan client.Event, 100)
	sub, err := s.c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(_ context.Context, e client.Event) { changed <- e })
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	l.gone.Store(true)
	v.site.Cut()
	for range 5 {
		begun := time.Now()
		fails(t, "a call", s.call(t, "bad__write"), `"bad" is not available`, "it is tried again in")
		if took := time.Since(begun); took > 0 {
			t.Errorf("a call fails after %s", took)
		}
	}
	s.answers(t)
	if state := s.state(); state.Status != backend.Broken || state.Reachable() {
		t.Errorf("it is %+v", state)
	}
	pass(2 * time.Minute) // what it has listed is kept no longer, unless it would say when that changes
	names, lacks, took := s.lists(t)
	if !strings.Contains(names, "bad__write") || stateless(s.back) && lacks["bad"] == "" || took > 3*time.Second {
		t.Errorf("the list is %q, without %v, after %s", names, lacks, took)
	}
	for len(changed) > 0 {
		<-changed
	}
	l.gone.Store(false)
	pass(time.Minute)
	if err := s.call(t, "bad__write"); err != nil {
		t.Errorf("when it is back: %v", err)
	}
	if e := <-changed; e.Change.Kind != mcp.ToolsChanged && !e.Gap {
		t.Errorf("the client hears of %+v", e)
	}
	if n := s.writes.Load(); n != 2 {
		t.Errorf("it has written %d times", n)
	}
}
