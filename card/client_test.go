package card_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/mcptest"
)

// on runs a test with a client of a site in memory.
func on(t *testing.T, h http.Handler, test func(t *testing.T, c *card.Client, url string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		site := mcptest.NewSite(h)
		defer site.Close()
		test(t, &card.Client{HTTP: site.Client}, site.URL)
	})
}

func serve(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
}

// The client gets what Mount serves, and asks for it as it should.
func TestClientReadsWhatIsMounted(t *testing.T) {
	var accepts []string
	mux := mounted(t)
	on(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepts = append(accepts, r.Header.Get("Accept"))
		mux.ServeHTTP(w, r)
	}), func(t *testing.T, c *card.Client, url string) {
		catalog, err := c.Catalog(t.Context(), url)
		if err != nil || len(catalog.Entries) != 1 {
			t.Fatalf("%+v, %v", catalog, err)
		}
		got, err := c.Card(t.Context(), url+"/mcp/server-card")
		if err != nil || got.Name != "com.example/weather" || got.Remotes[0].URL != "https://example.com/mcp" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	if want := []string{card.CatalogMediaType, card.MediaType}; fmt.Sprint(accepts) != fmt.Sprint(want) {
		t.Errorf("the client accepted %v, want %v", accepts, want)
	}
}

// A card is asked for again once it is stale, and transferred only if it has changed.
func TestClientAsksAgain(t *testing.T) {
	var answers []int
	h, err := weatherCard(t).Handler(&card.HandlerOptions{MaxAge: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	on(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := ask(h, http.MethodGet, "/", "If-None-Match", r.Header.Get("If-None-Match")).StatusCode
		answers = append(answers, answer)
		h.ServeHTTP(w, r)
	}), func(t *testing.T, c *card.Client, url string) {
		for _, wait := range []time.Duration{0, 59 * time.Second, 2 * time.Second, 30 * time.Second, time.Minute} {
			time.Sleep(wait) //nolint:forbidigo // the clock is the bubble's
			if got, err := c.Card(t.Context(), url); err != nil || got.Version != "1.2.3" {
				t.Fatalf("%+v, %v", got, err)
			}
		}
	})
	if want := []int{200, 304, 304}; fmt.Sprint(answers) != fmt.Sprint(want) {
		t.Errorf("the server answered %v, want %v", answers, want)
	}
}

// What must not be kept is not, and many documents do not fill the memory.
func TestClientKeepsWithinBounds(t *testing.T) {
	var asked atomic.Int32
	on(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Cache-Control", strings.TrimPrefix(r.URL.Path, "/"))
		if r.Header.Get("If-None-Match") != "" {
			t.Errorf("%s: the client has kept it", r.URL)
		}
		fmt.Fprint(w, small)
	}), func(t *testing.T, c *card.Client, url string) {
		count := func(path string) int32 {
			before := asked.Load()
			for range 2 {
				if _, err := c.Card(t.Context(), url+"/"+path); err != nil {
					t.Fatal(err)
				}
			}
			return asked.Load() - before
		}
		for path, want := range map[string]int32{"no-store,max-age=60": 2, "no-cache,max-age=60": 2, "max-age=0": 2, "max-age=-1": 2, "max-age=99999999999999999999": 2, "public": 2, "max-age=60": 1} {
			if got := count(path); got != want {
				t.Errorf("%s: asked %d times, want %d", path, got, want)
			}
		}
		for i := range 100 {
			count(fmt.Sprintf("max-age=%d", 1000+i))
		}
		if got := count("max-age=60"); got != 1 {
			t.Errorf("after 100 others: asked %d times, want 1", got)
		}
	})
}

func TestClientErrors(t *testing.T) {
	on(t, http.NotFoundHandler(), func(t *testing.T, c *card.Client, url string) {
		var missing *card.HTTPError
		if _, err := c.Card(t.Context(), url); !errors.As(err, &missing) || missing.Status != http.StatusNotFound || !strings.Contains(err.Error(), "404 Not Found") {
			t.Errorf("the error is %v", err)
		}
	})
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html><html>") })
	on(t, page, func(t *testing.T, c *card.Client, url string) {
		if _, err := c.Card(t.Context(), url); err == nil || !strings.Contains(err.Error(), "text/html") {
			t.Errorf("the error is %v, want one that says what was served", err)
		}
	})
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	on(t, endless, func(t *testing.T, c *card.Client, url string) {
		if _, err := c.Card(t.Context(), url); err == nil || !strings.Contains(err.Error(), "over 1048576 bytes") {
			t.Errorf("the error is %v", err)
		}
	})
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	on(t, silent, func(t *testing.T, c *card.Client, url string) {
		begin := time.Now()
		if _, err := c.Card(t.Context(), url); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 10*time.Second {
			t.Errorf("after %s the error is %v, want a time limit of 10 s", time.Since(begin), err)
		}
	})
	loop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) })
	on(t, loop, func(t *testing.T, c *card.Client, url string) {
		if _, err := c.Card(t.Context(), url); err == nil || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("the error is %v", err)
		}
	})
	away := http.RedirectHandler("https://other.example.com/card", http.StatusFound)
	on(t, away, func(t *testing.T, c *card.Client, url string) {
		if _, err := c.Card(t.Context(), url); err == nil || !strings.Contains(err.Error(), "another origin") {
			t.Errorf("the error is %v", err)
		}
	})
}

// A URL that somebody else has written does not lead to places that only this machine reaches.
func TestClientStaysOutside(t *testing.T) {
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, small)
	}))
	defer web.Close()
	var strict card.Client
	defer strict.Close()
	for _, at := range []string{
		web.URL, "http://localhost:1/", "https://10.0.0.1/card", "https://192.168.1.1/card", "https://169.254.169.254/latest/meta-data",
		"https://[::1]/card", "http://example.com/card", "file:///etc/passwd", "https://user:pass@example.com/card",
	} {
		if c, err := strict.Card(t.Context(), at); !errors.Is(err, safehttp.ErrRefused) {
			t.Errorf("%s: %+v, %v, want it to be refused", at, c, err)
		} else if strings.Contains(err.Error(), "pass@") {
			t.Errorf("the error %q repeats the password", err)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("the server of this machine was asked %d times", asked.Load())
	}
	for name, c := range map[string]*card.Client{"Origin": {Origin: web.URL}, "AllowPrivate": {AllowPrivate: true}} {
		if _, err := c.Card(t.Context(), web.URL); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
		c.Close()
	}
}

// Icons that a client must not fetch or show are not in what the application gets.
func TestClientLeavesOutUnsafeIcons(t *testing.T) {
	doc := string(with(t, map[string]string{"icons": `[{"src":"javascript:alert(1)"},{"src":"http://example.com/a.png"},{"src":"https://example.com/b.png"}]`}))
	on(t, serve(doc), func(t *testing.T, c *card.Client, url string) {
		got, err := c.Card(t.Context(), url)
		if err != nil || len(got.Icons) != 1 || got.Icons[0].Src != "https://example.com/b.png" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
