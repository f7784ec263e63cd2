package cli

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// cardSite is a host with a server at /mcp.
type cardSite struct {
	*httptest.Server

	mux *http.ServeMux
	srv *server.Server
	// authorization is the last that the server got.
	authorization string
}

func newCardSite(t *testing.T, revisions ...mcp.Revision) *cardSite {
	t.Helper()
	s := &cardSite{mux: http.NewServeMux()}
	s.srv = server.New(mcp.Implementation{Name: "weather", Title: "Weather", Version: "1.0.0", Description: "Forecasts."}, &server.Options{Revisions: revisions})
	h, err := streamable.New(s.srv, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		s.authorization = r.Header.Get("Authorization")
		h.ServeHTTP(w, r)
	})
	s.Server = httptest.NewServer(s.mux)
	t.Cleanup(s.Close)
	return s
}

// publish serves a card of the server, changed.
func (s *cardSite) publish(t *testing.T, change func(*card.Card)) {
	t.Helper()
	c, err := card.New(s.srv, &card.Options{Name: "com.example/weather", URL: s.URL + "/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	change(c)
	if err := card.Mount(s.mux, nil, c); err != nil {
		t.Fatal(err)
	}
}

func runCard(t *testing.T, want int, args ...string) *console {
	t.Helper()
	c := new(console)
	if code := Run(t.Context(), c.streams("", false), append([]string{"card"}, args...)); code != want {
		t.Errorf("card %s: exit code %d, want %d\n%s%s", args, code, want, &c.out, &c.err)
	}
	return c
}

// Check finds each thing in which a card differs from the server.
func TestCardCheckFindsDifferences(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*card.Card)
		want   string
	}{
		{"nothing", func(*card.Card) {}, ""},
		{"name", func(c *card.Card) { c.Name = "com.example/climate" }, "! name         com.example/climate"},
		{"version", func(c *card.Card) { c.Version = "2.0.0" }, "! version      2.0.0"},
		{"title", func(c *card.Card) { c.Title = "Climate" }, "! title        Climate"},
		{"description", func(c *card.Card) { c.Description = "Climates." }, "! description  Climates."},
		{"revisions", func(c *card.Card) { c.Remotes[0].SupportedProtocolVersions = []string{"2025-11-25"} }, "! revisions    2025-11-25"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCardSite(t)
			s.publish(t, c.change)
			want := exitTool
			if c.want == "" {
				want = exitOK
			}
			out := runCard(t, want, "check", s.URL+"/mcp").out.String()
			if n := strings.Count("\n"+out, "\n!"); !strings.Contains(out, c.want) || n != min(1, len(c.want)) {
				t.Errorf("the table is\n%s, want %q, and no other difference", out, c.want)
			}
		})
	}
}

// A server with sessions does not list its revisions: each that the card names is tried.
func TestCardCheckTriesRevisions(t *testing.T) {
	s := newCardSite(t, mcp.Revision20250326, mcp.Revision20251125)
	s.publish(t, func(*card.Card) {})
	runCard(t, exitOK, "check", s.URL+"/mcp")

	s = newCardSite(t, mcp.Revision20250326, mcp.Revision20251125)
	s.publish(t, func(c *card.Card) { c.Remotes[0].SupportedProtocolVersions = []string{"2025-11-25", "2025-06-18"} })
	out := runCard(t, exitTool, "check", s.URL+"/mcp").out.String()
	if !strings.Contains(out, "! revisions    2025-06-18, 2025-11-25") {
		t.Errorf("the table is\n%s", out)
	}
}

// Credentials go to the origin that the user has named, and not to where a card points.
func TestCardCheckKeepsCredentials(t *testing.T) {
	named, other := newCardSite(t), newCardSite(t)
	named.publish(t, func(c *card.Card) {
		c.Remotes = append(c.Remotes, card.Remote{Type: card.StreamableHTTP, URL: other.URL + "/mcp"})
	})
	runCard(t, exitOK, "check", named.URL+"/mcp", "--header", "Authorization: Bearer secret")
	if named.authorization != "Bearer secret" || other.authorization != "" {
		t.Errorf("the named server got %q and the other %q", named.authorization, other.authorization)
	}
	for endpoint, want := range map[string]string{"https://10.0.0.1/mcp": "private network", "http://mcp.example.com/mcp": "not https"} {
		named = newCardSite(t)
		named.publish(t, func(c *card.Card) { c.Remotes[0].URL = endpoint })
		if c := runCard(t, exitUnreachable, "check", named.URL+"/mcp"); !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: the error is %s", endpoint, &c.err)
		}
	}
}

// Variables and headers that a card describes are set with --var.
func TestCardCheckSetsVariables(t *testing.T) {
	s := newCardSite(t)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.publish(t, func(c *card.Card) {
		c.Remotes = append(c.Remotes, card.Remote{
			Type: card.StreamableHTTP, URL: "http://" + u.Host + "/{path}", Variables: map[string]card.Input{"path": {Description: "The path."}},
			Headers: []card.Header{{Name: "Authorization", Input: card.Input{Value: "Bearer {key}"}, Variables: map[string]card.Input{"key": {Secret: true}}}},
		})
	})
	c := runCard(t, exitUsage, "check", s.URL+"/mcp")
	if !strings.Contains(c.err.String(), `a value for "path": The path. (--var path=… sets it)`) {
		t.Errorf("the error is %s", &c.err)
	}
	runCard(t, exitOK, "check", s.URL+"/mcp", "--var", "path=mcp", "--var", "key=k")
	if s.authorization != "Bearer k" {
		t.Errorf("the server got %q", s.authorization)
	}
	runCard(t, exitUsage, "check", s.URL+"/mcp", "--var", "path")
}

// Lint finds what is wrong with how a card is served.
func TestCardLintFindsHowItIsServed(t *testing.T) {
	const doc = `{"$schema":"` + card.SchemaURL + `","name":"com.example/x","version":"1.0.0","description":"d","remotes":[{"type":"sse","url":"https://example.com"}]}`
	good := map[string]string{
		"Content-Type": card.MediaType, "Cache-Control": "max-age=60", "ETag": `"1"`, "Access-Control-Allow-Origin": "*",
		"Access-Control-Allow-Methods": "GET", "Access-Control-Allow-Headers": "Content-Type, If-None-Match", "Access-Control-Expose-Headers": "ETag",
	}
	for _, c := range []struct {
		spoil, value string
		says         string
		exit         int
	}{
		{"", "", "good", exitOK},
		{"Content-Type", "application/json", "advice HTTP Content-Type", exitOK},
		{"Cache-Control", "", "advice HTTP Cache-Control", exitOK},
		{"ETag", "", "advice HTTP ETag", exitOK},
		{"ETag", `"2"`, "advice HTTP ETag: If-None-Match", exitOK},
		{"Access-Control-Allow-Origin", "https://example.com", "error  HTTP Access-Control-Allow-Origin", exitTool},
		{"Access-Control-Allow-Methods", "POST", "error  HTTP Access-Control-Allow-Methods", exitTool},
		{"Access-Control-Allow-Headers", "Content-Type", "error  HTTP Access-Control-Allow-Headers: it does not list If-None-Match", exitTool},
		{"Access-Control-Expose-Headers", "", "error  HTTP Access-Control-Expose-Headers", exitTool},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, value := range good {
				if name == c.spoil {
					value = c.value
				}
				w.Header().Set(name, value)
			}
			if r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, doc)
		}))
		out := runCard(t, c.exit, "lint", web.URL+"/mcp").out.String()
		if !strings.Contains(out, c.says) || c.says != "good" && strings.Count(out, "\n") != 2 {
			t.Errorf("%s %q: the output is\n%s, want %q", c.spoil, c.value, out, c.says)
		}
		web.Close()
	}
}

// A card is found beside the endpoint, at its own URL, and in the catalogue of the host.
func TestCardsAreFound(t *testing.T) {
	s := newCardSite(t)
	s.publish(t, func(*card.Card) {})
	for _, path := range []string{"/mcp", "/mcp/server-card", "", "/", "/elsewhere", "/.well-known/ai-catalog.json"} {
		c := runCard(t, exitOK, "show", s.URL+path)
		if !strings.HasPrefix(c.out.String(), "Weather (com.example/weather) 1.0.0\n") {
			t.Errorf("%s: the output is\n%s", path, &c.out)
		}
		if noted := strings.Contains(c.err.String(), "the host lists"); noted != (path == "/elsewhere") {
			t.Errorf("%s: standard error is\n%s", path, &c.err)
		}
	}
	bare := newCardSite(t)
	c := runCard(t, exitUnreachable, "show", bare.URL+"/mcp")
	for _, place := range []string{"/mcp/server-card (404)", "/mcp (", "/.well-known/ai-catalog.json (404)"} {
		if !strings.Contains(c.err.String(), place) {
			t.Errorf("the error does not name %s: %s", place, &c.err)
		}
	}
}

// A server that listens on every address does not know which of them clients use.
func TestNoCardWithoutAnAddress(t *testing.T) {
	f := httpFlags{card: "com.example/weather"}
	logger := slog.New(slog.DiscardHandler)
	srv := server.New(mcp.Implementation{Name: "weather", Version: "1.0.0", Description: "Forecasts."}, nil)
	for public, want := range map[string]int{"": http.StatusNotFound, "https://example.com": http.StatusOK} {
		f.auth.public = public
		h, err := f.published(http.NotFoundHandler(), &net.TCPAddr{IP: net.IPv4zero, Port: 7331}, srv, logger)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/mcp/server-card", nil))
		if w.Code != want {
			t.Errorf("with the public URL %q the card has status %d, want %d", public, w.Code, want)
		}
	}
}

// A place that leads elsewhere, or to a large page, is no card; the next one may be.
func TestCardsAreFoundBehindOtherPages(t *testing.T) {
	s := newCardSite(t)
	s.publish(t, func(*card.Card) {})
	s.mux.Handle("/login/server-card", http.RedirectHandler("https://login.example.com/", http.StatusFound))
	s.mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("<p>", maxCard)) })
	for _, path := range []string{"/login", "/"} {
		if c := runCard(t, exitOK, "show", s.URL+path); !strings.HasPrefix(c.out.String(), "Weather (com.example/weather) 1.0.0\n") {
			t.Errorf("%s: the output is\n%s", path, &c.out)
		}
	}
	c := runCard(t, exitUnreachable, "show", s.URL+"/login/server-card")
	if want := "/login/server-card (refused a redirect to another origin"; !strings.Contains(c.err.String(), want) {
		t.Errorf("the error is %s, want one that says %q", &c.err, want)
	}
}

// Lint of a catalogue says which cards cannot be had, whatever else is wrong. How a
// catalogue itself is served is up to its host.
func TestLintOfACatalogue(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != card.CatalogPath {
			http.NotFound(w, r)
			return
		}
		entry := func(id, url string) string {
			return `{"identifier":"` + id + `","type":"` + card.MediaType + `","url":"` + url + `"}`
		}
		fmt.Fprint(w, `{"specVersion":"1.0","entries":[`+entry("first", "http://"+r.Host+"/a")+","+entry("second", "http://"+r.Host+"/b")+","+entry("", "")+`]}`)
	}))
	defer web.Close()
	out := runCard(t, exitTool, "lint", web.URL).out.String()
	for _, want := range []string{"error  entries: first: ", "error  entries: second: ", "advice HTTP Access-Control-Allow-Origin"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not say %q:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "error  entries: "); n != 2 {
		t.Errorf("%d entries cannot be had, want 2; the third was said to be wrong\n%s", n, out)
	}
}

// All that show and lint fetch has the time of --timeout.
func TestCardsInTime(t *testing.T) {
	stop := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	}))
	defer web.Close()
	defer close(stop)
	for _, name := range []string{"show", "lint"} {
		if c := runCard(t, exitUnreachable, name, web.URL, "--timeout", "50ms"); !strings.Contains(c.err.String(), "50ms") {
			t.Errorf("card %s: the error is %s", name, &c.err)
		}
	}
}
