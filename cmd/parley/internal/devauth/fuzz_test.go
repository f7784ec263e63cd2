package devauth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

func fuzzed(f *testing.F) http.Handler {
	f.Helper()
	srv, err := devauth.New(options())
	if err != nil {
		f.Fatal(err)
	}
	return srv.Handler()
}

// Whatever the request, browsers are only sent to redirect URIs that clients
// have registered.
func FuzzAuthorize(f *testing.F) {
	h := fuzzed(f)
	f.Add("client_id=desk&response_type=code&redirect_uri=" + url.QueryEscape(callback))
	f.Add("client_id=web&redirect_uri=" + url.QueryEscape(remote) + "&state=x%0d%0aSet-Cookie:%20a")
	f.Add("client_id=desk&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%40evil.example%2Fcallback")
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/authorize", http.NoBody)
		r.URL.RawQuery = query
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		to := rec.Header().Get("Location")
		if to == "" {
			return
		}
		u, err := url.Parse(to)
		if err != nil || !(u.Scheme == "http" && u.Hostname() == "127.0.0.1" && u.Path == "/callback" || strings.HasPrefix(to, remote+"?")) {
			t.Errorf("sent to %q", to)
		}
	})
}

func FuzzRegister(f *testing.F) {
	f.Add(`{"redirect_uris":["` + remote + `"],"client_name":"x","jwks":{"keys":[]},"token_endpoint_auth_method":"private_key_jwt"}`)
	f.Add(`{"redirect_uris":["http://localhost:1/"],"token_endpoint_auth_method":"none","grant_types":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		srv, err := devauth.New(options()) // each has to let somebody in
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/register", strings.NewReader(body))
		rec := httptest.NewRecorder()
		srv.Handler().ServeHTTP(rec, r)
		if rec.Code != http.StatusCreated && rec.Code != http.StatusBadRequest {
			t.Errorf("status %d", rec.Code)
		}
	})
}

func FuzzToken(f *testing.F) {
	h := fuzzed(f)
	f.Add("grant_type=refresh_token&client_id=desk&refresh_token=A.1.B")
	f.Add("grant_type=client_credentials&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion=e30.e30.e30")
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/token", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		form, _ := url.ParseQuery(body)
		if rec.Code == http.StatusOK && form.Get("client_secret") != "robot secret" {
			t.Errorf("tokens for %q", body)
		}
	})
}

// A redirect URI that is accepted can do nothing but redirect.
func FuzzRedirect(f *testing.F) {
	for _, s := range []string{callback, remote, "cursor://host/x", "com.example:/x", "javascript:x", "http://[::1]:9/", "https://a;b/", "https://a.example'/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if target := devauth.FormTarget(s); strings.ContainsAny(target, " ;,'\"*\r\n") {
			t.Errorf("%q would change the policy: %q", s, target)
		}
		if devauth.CheckRedirect(s) != nil {
			if devauth.Registered([]string{callback, "http://localhost/x"}, s) {
				t.Errorf("%q matches, though it cannot be registered", s)
			}
			return
		}
		if u, err := url.Parse(s); err != nil || u.Scheme == "javascript" || u.Scheme == "data" || u.User != nil || u.Fragment != "" {
			t.Errorf("%q was accepted", s)
		}
	})
}

func FuzzPlain(f *testing.F) {
	f.Add("a\u202eb\nc")
	f.Fuzz(func(t *testing.T, s string) {
		got := devauth.Plain(s)
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) || len([]rune(got)) > 81 {
			t.Errorf("%q became %q", s, got)
		}
	})
}
