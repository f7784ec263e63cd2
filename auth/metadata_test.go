package auth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/auth"
)

func ask(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w
}

func TestMetadata(t *testing.T) {
	i := newIssuer(t)
	g, _ := i.guard(t, func(o *auth.Options) {
		o.Name, o.Documentation, o.Policy, o.Terms = "Files", "https://a/doc", "https://a/policy", "https://a/terms"
		o.DPoP = auth.DPoPRequired
	})
	mux := http.NewServeMux()
	g.Mount(mux)
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"} {
		w := ask(t, mux, http.MethodGet, path)
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		algorithms := got["dpop_signing_alg_values_supported"]
		delete(got, "dpop_signing_alg_values_supported")
		want := map[string]any{
			"resource": resource, "authorization_servers": []any{issuerURL}, "scopes_supported": []any{"mcp"},
			"bearer_methods_supported": []any{"header"}, "resource_name": "Files", "resource_documentation": "https://a/doc",
			"resource_policy_uri": "https://a/policy", "resource_tos_uri": "https://a/terms", "dpop_bound_access_tokens_required": true,
		}
		if !reflect.DeepEqual(got, want) || len(algorithms.([]any)) == 0 {
			t.Errorf("%s: %v, %v", path, got, algorithms)
		}
		h := w.Header()
		if h.Get("Content-Type") != "application/json" || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Cache-Control") == "" {
			t.Errorf("%s: %v", path, h)
		}
	}
	if w := ask(t, mux, http.MethodOptions, "/.well-known/oauth-protected-resource/mcp"); w.Code != 204 || w.Header().Get("Access-Control-Allow-Headers") != "*" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	if w := ask(t, mux, http.MethodPost, "/.well-known/oauth-protected-resource/mcp"); w.Code != 405 || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d %v", w.Code, w.Header())
	}
	if w := ask(t, mux, http.MethodGet, "/.well-known/oauth-protected-resource/other"); w.Code != 404 {
		t.Errorf("another resource: %d", w.Code)
	}
}

func TestMetadataURL(t *testing.T) {
	i := newIssuer(t)
	for resource, want := range map[string]string{
		"https://a.example":            "https://a.example/.well-known/oauth-protected-resource",
		"https://a.example/":           "https://a.example/.well-known/oauth-protected-resource",
		"https://a.example:8443/x/mcp": "https://a.example:8443/.well-known/oauth-protected-resource/x/mcp",
		"https://a.example/mcp/":       "https://a.example/.well-known/oauth-protected-resource/mcp/",
		"https://a.example/a%20b":      "https://a.example/.well-known/oauth-protected-resource/a%20b",
		"https://a.example/%7Bname%7D": "https://a.example/.well-known/oauth-protected-resource/%7Bname%7D",
		"http://127.0.0.1:7331/mcp":    "http://127.0.0.1:7331/.well-known/oauth-protected-resource/mcp",
	} {
		g, _ := i.guard(t, func(o *auth.Options) { o.Resource = resource })
		if g.MetadataURL() != want {
			t.Errorf("%s: %s, want %s", resource, g.MetadataURL(), want)
		}
		mux := http.NewServeMux()
		g.Mount(mux)
		if w := ask(t, mux, http.MethodGet, want); w.Code != 200 {
			t.Errorf("%s: GET %s: %d", resource, want, w.Code)
		}
	}
}

// Two resources of one origin do not collide.
func TestMountTwice(t *testing.T) {
	i := newIssuer(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	first, _ := i.guard(t, nil)
	second, _ := i.guard(t, func(o *auth.Options) { o.Resource += "2" })
	first.Mount(mux)
	second.Mount(mux)
	for path, want := range map[string]string{"/mcp": resource, "/mcp2": resource + "2", "": resource} {
		var got struct{ Resource string }
		if err := json.Unmarshal(ask(t, mux, http.MethodGet, "/.well-known/oauth-protected-resource"+path).Body.Bytes(), &got); err != nil || got.Resource != want {
			t.Errorf("%s: %q, %v", path, got.Resource, err)
		}
	}
}

// Spec: 2025-03-26 basic/authorization#server-metadata-discovery.
// A client of 2025-03-26 finds an external authorization server by way of the
// origin of the resource.
func TestIssuerMetadata(t *testing.T) {
	i := newIssuer(t)
	const at = "/.well-known/oauth-authorization-server"
	i.reply(issuerURL+at, `{"issuer":"`+issuerURL+`","authorization_endpoint":"`+issuerURL+`/go","token_endpoint":"`+issuerURL+`/token","x_more":[1]}`)
	synctest.Test(t, func(t *testing.T) {
		g, _ := i.guard(t, nil)
		mux := http.NewServeMux()
		g.Mount(mux)
		get := func() (int, string) {
			w := ask(t, mux, http.MethodGet, at)
			return w.Code, w.Body.String()
		}
		i.setDown(true)
		if code, body := get(); code != http.StatusBadGateway || strings.Contains(body, "no route") {
			t.Errorf("without the issuer: %d %s", code, body)
		}
		i.setDown(false)
		if code, _ := get(); code != http.StatusBadGateway {
			t.Errorf("at once: %d; want that the issuer is left alone for a moment", code)
		}
		wait(6 * time.Second)
		for range 3 {
			if code, body := get(); code != 200 || !strings.Contains(body, `"x_more":[1]`) {
				t.Errorf("got %d %s, want the issuer's document as it is", code, body)
			}
		}
		if n := i.count(issuerURL + at); n != 2 {
			t.Errorf("fetched %d times, want 2", n)
		}
		i.setDown(true)
		wait(time.Hour)
		if code, _ := get(); code != 200 {
			t.Errorf("the issuer is down, and its last document forgotten: %d", code)
		}
	})
}

// An authorization server in the same process keeps its place.
func TestIssuerMetadataIsThere(t *testing.T) {
	g, _ := newIssuer(t).guard(t, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	g.Mount(mux)
	if w := ask(t, mux, http.MethodGet, "/.well-known/oauth-authorization-server"); w.Code != http.StatusTeapot {
		t.Errorf("got %d", w.Code)
	}
}
