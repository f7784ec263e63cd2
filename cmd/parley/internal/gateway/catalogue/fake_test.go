package catalogue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
)

// fake is a backend. Its members are what it does next.
type fake struct {
	mu    sync.Mutex
	pages map[string][]string // by principal, or by "" for everybody
	hints string
	takes time.Duration
	err   error
	calls int
}

func (f *fake) set(change func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *fake) List(ctx context.Context, peer *mcp.Peer, method string) ([]json.RawMessage, error) {
	f.mu.Lock()
	f.calls++
	takes, err, hints := f.takes, f.err, f.hints
	entries := f.pages[peer.Principal]
	if entries == nil {
		entries = f.pages[""]
	}
	f.mu.Unlock()
	if takes > 0 {
		timer := time.NewTimer(takes)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	var pages []json.RawMessage
	for _, p := range entries {
		pages = append(pages, json.RawMessage(fmt.Sprintf(`{%q:[%s]%s}`, naming.Member(method), p, hints)))
	}
	return pages, nil
}

// tools returns a page with tools of these names.
func tools(names ...string) string {
	for i, name := range names {
		names[i] = fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
	}
	return strings.Join(names, ",")
}

// has returns a backend with tools of these names.
func has(names ...string) *fake { return &fake{pages: map[string][]string{"": {tools(names...)}}} }

// made returns a catalogue of backends named a, b, c and so on.
func made(t testing.TB, change func(*catalogue.Options), fakes ...*fake) *catalogue.Catalogue {
	t.Helper()
	var rules []naming.Rules
	for i := range fakes {
		rules = append(rules, naming.Rules{Backend: string(rune('a' + i))})
	}
	return madeBy(t, change, rules, fakes, nil)
}

func madeBy(t testing.TB, change func(*catalogue.Options), rules []naming.Rules, fakes []*fake, old *catalogue.Catalogue) *catalogue.Catalogue {
	t.Helper()
	n, err := naming.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	var o catalogue.Options
	for i, f := range fakes {
		o.Sources = append(o.Sources, catalogue.Source{Names: n.Backend(rules[i].Backend), Lister: f})
	}
	if change != nil {
		change(&o)
	}
	c := catalogue.New(o, old)
	t.Cleanup(c.Close)
	return c
}

// listed is a list as text: the names of the tools, the hints, and who is missing.
func listed(t testing.TB, c *catalogue.Catalogue, principal string, v catalogue.View) string {
	t.Helper()
	r := page(t, c, principal, v, nil)
	text := names(r)
	text += fmt.Sprintf(" for %s %s", time.Duration(*r.TTLMs)*time.Millisecond, r.CacheScope)
	if missing := r.Meta["com.github.parley-mcp/unavailable"]; missing != nil {
		text += " without " + string(missing)
	}
	return text
}

func names(r *mcp.ListToolsResult) string {
	var all []string
	for _, tool := range r.Tools {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " ")
}

func page(t testing.TB, c *catalogue.Catalogue, principal string, v catalogue.View, cursor *string) *mcp.ListToolsResult {
	t.Helper()
	result, err := c.List(t.Context(), &mcp.Peer{Principal: principal}, mcp.MethodListTools, v, cursor)
	if err != nil {
		t.Fatal(err)
	}
	return result.(*mcp.ListToolsResult)
}

func want(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// pass lets time pass.
func pass(d time.Duration) { <-time.NewTimer(d).C }
