package card_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

func ask(h http.Handler, method, path string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "https://example.com"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func mounted(t *testing.T) *http.ServeMux {
	t.Helper()
	mux := http.NewServeMux()
	if err := card.Mount(mux, nil, weatherCard(t)); err != nil {
		t.Fatal(err)
	}
	return mux
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "\r\n\r\n")
	return text
}

// cors are what every answer has, so that pages of any origin can read it.
var cors = map[string]string{
	"Access-Control-Allow-Origin":   "*",
	"Access-Control-Allow-Methods":  "GET",
	"Access-Control-Allow-Headers":  "Content-Type, If-None-Match",
	"Access-Control-Expose-Headers": "ETag",
}

func wantHeader(t *testing.T, r *http.Response, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
}

func TestMountedCard(t *testing.T) {
	mux := mounted(t)
	for path, mediaType := range map[string]string{"/mcp/server-card": card.MediaType, card.CatalogPath: card.CatalogMediaType} {
		t.Run(path, func(t *testing.T) {
			get := ask(mux, http.MethodGet, path)
			if get.StatusCode != http.StatusOK {
				t.Fatalf("status %d", get.StatusCode)
			}
			wantHeader(t, get, cors)
			wantHeader(t, get, map[string]string{"Content-Type": mediaType, "Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"})
			tag, text := get.Header.Get("ETag"), body(t, get)
			if !json.Valid([]byte(text)) {
				t.Errorf("the document is %s", text)
			}

			head := ask(mux, http.MethodHead, path)
			if head.StatusCode != http.StatusOK || head.ContentLength != int64(len(text)) || head.Header.Get("ETag") != tag {
				t.Errorf("HEAD: status %d, length %d, tag %s; want 200, %d, %s", head.StatusCode, head.ContentLength, head.Header.Get("ETag"), len(text), tag)
			}

			for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
				same := ask(mux, http.MethodGet, path, "If-None-Match", known)
				if same.StatusCode != http.StatusNotModified || body(t, same) != "" {
					t.Errorf("If-None-Match: %s: status %d, want 304 without a body", known, same.StatusCode)
				}
				wantHeader(t, same, cors)
				wantHeader(t, same, map[string]string{"ETag": tag, "Cache-Control": "public, max-age=3600"})
			}
			if r := ask(mux, http.MethodGet, path, "If-None-Match", `"other"`); r.StatusCode != http.StatusOK {
				t.Errorf("another tag: status %d, want 200", r.StatusCode)
			}

			preflight := ask(mux, http.MethodOptions, path, "Origin", "https://app.example.com", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "if-none-match")
			if preflight.StatusCode != http.StatusNoContent {
				t.Errorf("OPTIONS: status %d, want 204", preflight.StatusCode)
			}
			wantHeader(t, preflight, cors)

			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, "PROPFIND"} {
				r := ask(mux, method, path)
				if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" || r.Header.Get("ETag") != "" {
					t.Errorf("%s: status %d, Allow %q", method, r.StatusCode, r.Header.Get("Allow"))
				}
			}
		})
	}
	if r := ask(mux, http.MethodGet, "/mcp/server-card/more"); r.StatusCode != http.StatusNotFound {
		t.Errorf("a path below the card: status %d, want 404", r.StatusCode)
	}
}

// The entity tag is that of the text: it survives a restart, and no change.
func TestTagsOfCards(t *testing.T) {
	tag := func(change func(*card.Card)) string {
		c := weatherCard(t)
		c.Meta = mcp.Meta{"com.example/a": json.RawMessage("1"), "com.example/b": json.RawMessage("2"), "com.example/c": json.RawMessage("3")}
		change(c)
		h, err := c.Handler(nil)
		if err != nil {
			t.Fatal(err)
		}
		return ask(h, http.MethodGet, "/").Header.Get("ETag")
	}
	same := tag(func(*card.Card) {})
	for range 20 {
		if again := tag(func(*card.Card) {}); again != same {
			t.Fatalf("the same card has the tags %s and %s", same, again)
		}
	}
	if other := tag(func(c *card.Card) { c.Version = "1.2.4" }); other == same {
		t.Errorf("another version has the same tag, %s", same)
	}
}

func TestMaxAge(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "3600", time.Minute: "60", -1: "0"} {
		h, err := weatherCard(t).Handler(&card.HandlerOptions{MaxAge: age})
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(h, http.MethodGet, "/").Header.Get("Cache-Control"); got != "public, max-age="+want {
			t.Errorf("MaxAge %s: Cache-Control is %q", age, got)
		}
	}
}

// One address cannot keep the server busy; others are served meanwhile.
func TestRateOfCards(t *testing.T) {
	h, err := weatherCard(t).Handler(&card.HandlerOptions{Rate: mcp.Rate{PerSecond: 0.001, Burst: 2}, TrustedProxies: []string{"192.0.2.1"}})
	if err != nil {
		t.Fatal(err)
	}
	status := func(from string) int { // the requests come from 192.0.2.1
		r := ask(h, http.MethodGet, "/", "X-Forwarded-For", from)
		if r.StatusCode == http.StatusTooManyRequests {
			wantHeader(t, r, cors)
			if r.Header.Get("Retry-After") == "" {
				t.Error("there is no Retry-After")
			}
		}
		return r.StatusCode
	}
	got := []int{status("198.51.100.1"), status("198.51.100.1"), status("198.51.100.1"), status("198.51.100.2")}
	if want := []int{200, 200, 429, 200}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the statuses are %v, want %v", got, want)
	}
	if _, err := weatherCard(t).Handler(&card.HandlerOptions{TrustedProxies: []string{"x"}}); err == nil {
		t.Error("a proxy that is no address is no error")
	}
}

// Several servers of one origin share a catalogue.
func TestMountOfSeveral(t *testing.T) {
	other := mustCard(t, server.New(weather, nil), &card.Options{Name: "com.example.labs/radar", URL: "https://example.com/radar/"})
	mux := http.NewServeMux()
	if err := card.Mount(mux, nil, weatherCard(t), other); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/mcp/server-card": `"com.example/weather"`, "/radar/server-card": `"com.example.labs/radar"`} {
		if text := body(t, ask(mux, http.MethodGet, path)); !strings.Contains(text, want) {
			t.Errorf("%s is %s, want the card of %s", path, text, want)
		}
	}
	got := body(t, ask(mux, http.MethodGet, card.CatalogPath))
	want := `{"specVersion":"1.0","entries":[` +
		`{"identifier":"urn:air:example.com:mcp:weather","type":"application/mcp-server-card+json","url":"https://example.com/mcp/server-card"},` +
		`{"identifier":"urn:air:labs.example.com:mcp:radar","type":"application/mcp-server-card+json","url":"https://example.com/radar/server-card"}]}`
	if got != want {
		t.Errorf("the catalogue is\n%s, want\n%s", got, want)
	}
}

// The card has its place beside patterns for everything else, with a method and without.
func TestMountBesideOtherPatterns(t *testing.T) {
	for _, other := range []string{"/", "GET /", "POST /", "/{any...}", "GET /{any}/server-card", "GET /.well-known/{file}", "example.com/"} {
		mux := http.NewServeMux()
		mux.HandleFunc(other, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		if err := card.Mount(mux, nil, weatherCard(t)); err != nil {
			t.Errorf("beside %q: %v", other, err)
		}
		if r := ask(mux, http.MethodGet, "/mcp/server-card"); r.StatusCode != http.StatusOK && other != "example.com/" {
			t.Errorf("beside %q the card has the status %d", other, r.StatusCode)
		}
	}
}

// Mount serves all of it or nothing.
func TestMountRefuses(t *testing.T) {
	homeless := mustCard(t, server.New(weather, nil), &card.Options{Name: "com.example/w", Remotes: []card.Remote{{Type: card.SSE, URL: "https://example.com/sse"}}})
	bad := weatherCard(t)
	bad.Description = ""
	for name, c := range map[string]struct {
		cards []*card.Card
		taken string
		says  string
	}{
		"no card":                 {[]*card.Card{nil}, "", "card.New"},
		"no reserved place":       {[]*card.Card{homeless}, "", "Options.URL"},
		"changed for the worse":   {[]*card.Card{bad}, "", "description"},
		"the same twice":          {[]*card.Card{weatherCard(t), weatherCard(t)}, "", "twice"},
		"a place that is taken":   {[]*card.Card{weatherCard(t)}, "/mcp/server-card", "/mcp/server-card already"},
		"a preflight of its own":  {[]*card.Card{weatherCard(t)}, "OPTIONS /mcp/server-card", "/mcp/server-card already"},
		"a catalogue that exists": {[]*card.Card{weatherCard(t)}, "GET " + card.CatalogPath, "one call"},
	} {
		mux := http.NewServeMux()
		if c.taken != "" {
			mux.HandleFunc(c.taken, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		}
		if err := card.Mount(mux, nil, c.cards...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, c.says)
		}
		for _, path := range []string{"/mcp/server-card", card.CatalogPath} {
			if r := ask(mux, http.MethodGet, path); r.StatusCode == http.StatusOK {
				t.Errorf("%s: %s is served", name, path)
			}
		}
	}
}
