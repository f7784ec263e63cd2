package client_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// shop is a site whose list of tools is private, and the count of lists served.
func shop(t *testing.T, scope mcp.CacheScope, tools ...mcp.Tool) (*mcptest.Site, *atomic.Int64, *atomic.Value) {
	t.Helper()
	s := newServer(&server.Options{Cache: map[string]server.CacheHint{mcp.MethodListTools: {TTL: time.Hour, Scope: scope}}})
	for _, tool := range append(tools, mcp.Tool{Name: "one", InputSchema: []byte(`{"type":"object"}`)}) {
		s.AddRawTool(tool, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	}
	var lists atomic.Int64
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Method == mcp.MethodListTools {
				lists.Add(1)
			}
			return next(ctx, x)
		}
	})
	h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	var last atomic.Value
	last.Store(http.Header{})
	site := mcptest.NewSite(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r.Header)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		_ = h.Close(context.Background())
		site.Close()
	})
	return site, &lists, &last
}

// stamp is a RoundTripper that adds a token, and may say so.
type stamp struct {
	base  http.RoundTripper
	token atomic.Value
}

func (s *stamp) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	token, _ := s.token.Load().(string)
	r.Header.Set("Authorization", "Bearer "+token)
	return s.base.RoundTrip(r)
}

type honestStamp struct{ *stamp }

func (s honestStamp) Credentials(context.Context) (string, bool) {
	token, _ := s.token.Load().(string)
	return token, true
}

func visit(t *testing.T, tr *streamable.Client, shared *client.Cache) *client.Client {
	t.Helper()
	tr.Logger = mcptest.Quiet()
	c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: stateless, Cache: shared, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// A private result is served to those who have the credentials that it was fetched
// with, and to nobody else; where they are not known, it is not kept.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func TestPrivateResultsBelongToCredentials(t *testing.T) {
	site, lists, _ := shop(t, mcp.CachePrivate)
	shared := client.NewCache(0)
	list := func(c *client.Client, why string, served int64) {
		t.Helper()
		before := lists.Load()
		if _, err := c.ListTools(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", why, err)
		}
		if got := lists.Load() - before; got != served {
			t.Errorf("%s: the server was asked %d times, want %d", why, got, served)
		}
	}
	with := func(token string) *streamable.Client {
		return &streamable.Client{URL: site.URL, HTTP: site.Client, Header: http.Header{"Authorization": {"Bearer " + token}}}
	}
	anonymous := visit(t, &streamable.Client{URL: site.URL, HTTP: site.Client}, shared)
	list(anonymous, "anonymous", 1)
	list(anonymous, "anonymous again", 0)
	list(visit(t, &streamable.Client{URL: site.URL, HTTP: site.Client}, shared), "another without credentials", 1)
	list(visit(t, with("a"), shared), "token a", 1)
	list(visit(t, with("b"), shared), "token b", 1)
	list(visit(t, with("a"), shared), "another client with token a", 0)

	jar, _ := cookiejar.New(nil)
	u, _ := url.Parse(site.URL)
	baked := visit(t, &streamable.Client{URL: site.URL, HTTP: &http.Client{Transport: site.Client.Transport, Jar: jar}}, shared)
	list(baked, "without a cookie", 1)
	jar.SetCookies(u, []*http.Cookie{{Name: "session", Value: "1"}})
	list(baked, "with a cookie", 1)
	list(baked, "with the same cookie", 0)
	jar.SetCookies(u, []*http.Cookie{{Name: "session", Value: "2"}})
	list(baked, "with another cookie", 1)

	silent := &stamp{base: site.Client.Transport}
	silent.token.Store("s")
	unknown := visit(t, &streamable.Client{URL: site.URL, HTTP: &http.Client{Transport: silent}}, shared)
	list(unknown, "a RoundTripper that does not say what it adds", 1)
	list(unknown, "the same again", 1)

	honest := honestStamp{&stamp{base: site.Client.Transport}}
	honest.token.Store("h")
	known := visit(t, &streamable.Client{URL: site.URL, HTTP: &http.Client{Transport: honest}}, shared)
	list(known, "a RoundTripper that says what it adds", 1)
	list(known, "the same token", 0)
	honest.token.Store("other")
	list(known, "another token", 1)
	honest.token.Store("h")
	list(known, "the first token again", 0)
}

// A tool that was listed from a shared cache has its headers mirrored, as the server
// demands it.
//
// Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
func TestToolsFromASharedCacheAreMirrored(t *testing.T) {
	site, lists, last := shop(t, mcp.CachePublic, mcp.Tool{Name: "routed", InputSchema: []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)})
	shared := client.NewCache(0)
	for i := range 2 {
		c := visit(t, &streamable.Client{URL: site.URL, HTTP: site.Client}, shared)
		if _, err := client.Collect(c.Tools(t.Context())); err != nil {
			t.Fatal(err)
		}
		before := lists.Load()
		if _, err := c.CallTool(t.Context(), "routed", map[string]any{"region": "north"}); err != nil {
			t.Fatal(err)
		}
		h, _ := last.Load().(http.Header)
		if got := h.Get("Mcp-Param-Region"); got != "north" || lists.Load() != before {
			t.Errorf("client %d: Mcp-Param-Region is %q after %d more lists, want %q at once", i, got, lists.Load()-before, "north")
		}
	}
	if lists.Load() != 1 {
		t.Errorf("%d lists served, want 1", lists.Load())
	}
}
