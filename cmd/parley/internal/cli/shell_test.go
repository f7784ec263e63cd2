package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "history")
	h := loadHistory(file)
	for _, line := range []string{"one", "two", "two", " secret", ""} {
		h.Add(line)
	}
	for range 2 * maxHistory {
		h.Add("three")
		h.Add("four")
	}
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the history: %v, %v", info, err)
	}
	h = loadHistory(file)
	if h.Len() != maxHistory || h.At(0) != "four" || h.At(1) != "three" {
		t.Errorf("%d lines, the last %q", h.Len(), h.At(0))
	}
	if line, at := h.search("hre", 0); line != "three" || at != 1 {
		t.Errorf("found %q at %d", line, at)
	}
	if _, at := h.search("secret", 0); at != -1 {
		t.Error("a line that begins with a blank is kept")
	}
}

// shellOn returns a shell on a server with one feature of each kind.
func shellOn(t *testing.T) (*shell, *console) {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(srv, mcp.Tool{Name: "paint"}, func(_ context.Context, _ *server.Call, _ struct {
		Colour string `json:"colour" description:"The colour" enum:"red,green"`
		Gloss  bool   `json:"gloss"`
		Depth  int    `json:"depth"`
	},
	) (string, error) {
		return "", nil
	})
	server.AddTool(srv, mcp.Tool{Name: "pair"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	server.AddPrompt(srv, mcp.Prompt{Name: "greet"}, func(context.Context, *server.Call, struct {
		Name string `json:"name"`
	},
	) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}}, nil
	})
	srv.CompletePrompt("greet", "name", server.CompleteFrom("Ann", "Anton"))
	server.AddTemplate(srv, mcp.ResourceTemplate{URITemplate: "db://tables/{table}/rows", Name: "rows"}, func(context.Context, *server.Call, string, struct {
		Table string `json:"table"`
	},
	) (*mcp.ReadResourceResult, error) {
		return server.Contents(), nil
	})
	srv.CompleteTemplate("db://tables/{table}/rows", "table", server.CompleteFrom("customers"))
	a, c := newTestApp("", true)
	s := &shell{app: a, client: mcptest.Connect(t, srv, mcptest.Mode{Revision: mcp.Revision20260728}, nil), subs: map[string]*client.Subscription{}}
	a.shell = s
	return s, c
}

func TestShellCompletes(t *testing.T) {
	s, c := shellOn(t)
	for _, test := range []struct{ line, want, shown string }{
		{"ca", "call ", ""},
		{"pai", "pai", "pair"},
		{"pain", "paint ", ""},
		{"call p", "call pai", ""},
		{"call paint ", "call paint ", "colour=  \x1b[2mThe colour"},
		{"call paint gl", "call paint gloss=", ""},
		{"paint gloss=t", "paint gloss=true ", ""},
		{"paint colour=gr", "paint colour=green ", ""},
		{"paint colour=r de", "paint colour=r depth=", ""},
		{"list to", "list tools ", ""},
		{"prompt greet n", "prompt greet name=", ""},
		{"prompt greet name=A", "prompt greet name=An", ""},
		{"prompt greet name=An", "prompt greet name=An", "name=Anton"},
		{"read ", "read db://tables/", ""},
		{"read db://tables/cus", "read db://tables/customers/rows ", ""},
		{"complete pr", "complete prompt ", ""},
		{"call --an", "call --answer ", ""},
		{"call --hea", "call --hea", ""},
		{"che", "check ", ""},
		{"check --allow-", "check --allow-all ", ""},
		{"check --output mark", "check --output markdown ", ""},
		{"check --allow pain", "check --allow paint ", ""},
		{"check --probe stdio/exits", "check --probe stdio/exits-with-its-input ", ""},
		{"log warn", "log warning ", ""},
		{"nonsense x", "nonsense x", ""},
	} {
		c.err.Reset()
		line, pos := s.completeLine(t.Context(), test.line, len(test.line))
		if line != test.want || pos != len(test.want) {
			t.Errorf("%q becomes %q with the cursor at %d, want %q", test.line, line, pos, test.want)
		}
		if !strings.Contains(c.err.String(), test.shown) {
			t.Errorf("%q shows %q, want %q", test.line, c.err.String(), test.shown)
		}
	}
	if line, pos := s.completeLine(t.Context(), "ca x", 2); line != "call x" || pos != 5 {
		t.Errorf("in the middle of a line: %q with the cursor at %d", line, pos)
	}
}

// A question that comes while a command is typed waits until the line has ended, and
// then comes first.
func TestQuestionsWaitForTheLine(t *testing.T) {
	s, c := shellOn(t)
	a := s.app
	a.screen.Lock() // as while a line is typed
	asked := make(chan struct{})
	go func() { // ends when it has the screen
		a.takeScreen()
		close(asked)
		a.screen.Unlock()
	}()
	for {
		a.turns.mu.Lock()
		waiting := a.turns.waiting
		a.turns.mu.Unlock()
		if waiting > 0 {
			break
		}
	}
	a.screen.Unlock()
	a.turns.wait()
	<-asked
	if !strings.Contains(c.err.String(), "press Enter to see it") {
		t.Errorf("the user is told %q", c.err.String())
	}
}

// Changes that were subscribed to are shown in the form that the shell was asked for.
func TestShellShowsEvents(t *testing.T) {
	s, c := shellOn(t)
	s.event(client.Event{Change: mcp.Change{Kind: mcp.ResourceUpdated, URI: "note://1"}})
	if !strings.Contains(c.out.String(), "resource updated note://1") {
		t.Errorf("shown is %q", &c.out)
	}
	s.flags.output = "json"
	c.out.Reset()
	s.event(client.Event{Gap: true})
	if !strings.Contains(c.out.String(), `"event":"gap"`) {
		t.Errorf("shown is %q", &c.out)
	}
}
