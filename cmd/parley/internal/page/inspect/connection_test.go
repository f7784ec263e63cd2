package inspect

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A command is started, spoken to in each revision, restarted, stopped and forgotten.
func TestCommand(t *testing.T) {
	for _, revision := range []string{"auto", "2024-11-05", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			s := newStage(t, Options{})
			form := itself(t)
			form["revision"] = revision
			c := s.open(form)
			want := revision
			if want == "auto" {
				want = "2026-07-28"
			}
			if c.State != "up" || c.Revision != want || c.Transport != overStdio || c.Instructions != "Say something." || !slices.Contains(c.Features, "tools") {
				t.Fatalf("connected as %+v", c)
			}
			c = s.until(c.ID, func(c said) bool { return len(c.Stderr) > 0 })
			if c.Stderr[0] != "ready to serve" {
				t.Errorf("the standard error is %q", c.Stderr)
			}
			must[said](s, "POST", "/connections/"+c.ID+"/disconnect", nil)
			if c = s.settled(c.ID); c.State != "closed" {
				t.Errorf("after disconnect the state is %s", c.State)
			}
			must[said](s, "POST", "/connections/"+c.ID+"/reconnect", nil)
			if c = s.settled(c.ID); c.State != "up" {
				t.Errorf("after reconnect the state is %s: %v", c.State, c.Error)
			}
			must[struct{}](s, "DELETE", "/connections/"+c.ID, nil)
			if err := s.refused("GET", "/connections/"+c.ID, nil); err.Code != "no_connection" || err.Status != 404 {
				t.Errorf("a removed connection: %+v", err)
			}
		})
	}
}

// A URL is reached by the transport that the server speaks, or the one that was asked for.
func TestURL(t *testing.T) {
	over := map[string]string{}
	h, err := streamable.New(newTestServer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(h)
	defer site.Close()
	over[overStreamable] = site.URL
	old, err := sse.New(newTestServer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	oldSite := httptest.NewServer(old)
	defer oldSite.Close()
	over[overSSE] = oldSite.URL
	for _, tt := range []struct{ speaks, transport, revision, state string }{
		{overStreamable, "auto", "auto", "up"},
		{overStreamable, "http", "2024-11-05", "up"},
		{overStreamable, "http", "2025-11-25", "up"},
		{overStreamable, "http", "2026-07-28", "up"},
		{overStreamable, "sse", "auto", "failed"},
		{overSSE, "auto", "auto", "up"},
		{overSSE, "sse", "auto", "up"},
		{overSSE, "http", "auto", "failed"},
		{overSSE, "auto", "2026-07-28", "failed"},
	} {
		t.Run(tt.speaks+" "+tt.transport+" "+tt.revision, func(t *testing.T) {
			s := newStage(t, Options{})
			c := s.open(map[string]any{"url": over[tt.speaks], "transport": tt.transport, "revision": tt.revision})
			if c.State != tt.state {
				t.Fatalf("state %s: %v", c.State, c.Error)
			}
			if c.State == "up" && (c.Transport != tt.speaks || tt.revision != "auto" && c.Revision != tt.revision) {
				t.Errorf("connected over %s in %s", c.Transport, c.Revision)
			}
		})
	}
}

// A form that names no server but a connection means that one's server, with its secrets.
func TestConnectionLikeAnother(t *testing.T) {
	s := newStage(t, Options{})
	first := s.open(itself(t))
	second := s.open(map[string]any{"like": first.ID, "revision": "2024-11-05"})
	if second.State != "up" || second.Revision != "2024-11-05" || second.ID == first.ID {
		t.Errorf("the second connection is %+v", second)
	}
	if e := s.refused("POST", "/connections", map[string]any{"like": "c77"}); e.Field != "url" {
		t.Errorf("like a connection that there is not: %+v", e)
	}
}

// A command that ends is seen at once, and started again by hand.
func TestLost(t *testing.T) {
	s := newStage(t, Options{})
	form := itself(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		form["revision"] = revision
		c := s.open(form)
		live, err := s.server.byID(c.ID).live()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = live.CallTool(t.Context(), "exit", nil) // it does not answer any more
		c = s.until(c.ID, func(c said) bool { return c.State == "lost" })
		if c.Error == nil || c.Error.Code != "disconnected" || !strings.Contains(c.Error.Message, "exit status 7") || strings.Contains(c.Error.Message, "Options") {
			t.Errorf("%s: %+v", revision, c.Error)
		}
		if c.Revision != revision || len(c.Features) == 0 {
			t.Errorf("%s: what the server said of itself is forgotten: %+v", revision, c)
		}
		must[said](s, "POST", "/connections/"+c.ID+"/reconnect", nil)
		if c = s.settled(c.ID); c.State != "up" || c.Error != nil {
			t.Errorf("%s: %s, %v", revision, c.State, c.Error)
		}
	}
}

// What a page keeps of one run must not be found by another one at the same address.
func TestRunsDiffer(t *testing.T) {
	type list struct{ Run string }
	one, other := newStage(t, Options{}), newStage(t, Options{})
	first := must[list](one, "GET", "/connections", nil)
	if again := must[list](one, "GET", "/connections", nil); first.Run == "" || again != first {
		t.Errorf("one run is %q and %q", first.Run, again.Run)
	}
	if second := must[list](other, "GET", "/connections", nil); second == first {
		t.Errorf("two runs are %q", first.Run)
	}
}
