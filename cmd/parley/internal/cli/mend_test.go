package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A refusal names what is missing and the command that asks for it, as far as
// the server says so.
func TestRefusalsNameTheWayOut(t *testing.T) {
	for _, tt := range []struct {
		name      string
		status    int
		challenge string
		exit      int
		want      []string
	}{
		{"no login", 401, `Bearer resource_metadata="http://127.0.0.1:1/x"`, exitLogin, []string{`"code":"needs_login"`, `"run":["parley","login","URL"]`, "leave out --token"}},
		{"too few rights", 403, `Bearer error="insufficient_scope", scope="a:b c"`, exitLogin, []string{`"code":"needs_scope"`, `"scopes":["a:b","c"]`, `"run":["parley","login","URL","--scope","a:b","--scope","c"]`, "needed: a:b c; run: parley login URL --scope a:b --scope c"}},
		{"scopes without an error", 403, `Bearer scope="a"`, exitLogin, []string{`"code":"needs_scope"`, `"scopes":["a"]`}},
		{"a scope that is more than a word", 403, `Bearer error="insufficient_scope", scope="$(id);x"`, exitLogin, []string{`--scope '$(id);x'`}},
		{"no word about what is missing", 403, "", exitUnreachable, []string{`"code":"http"`, `"status":403`, "does not say what is missing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tt.challenge != "" {
					w.Header().Set("WWW-Authenticate", tt.challenge)
				}
				w.WriteHeader(tt.status)
			}))
			defer site.Close()
			c := new(console)
			code := Run(t.Context(), c.streams("", false), []string{"info", "--token", "x", "--output", "json", site.URL})
			text := strings.ReplaceAll(c.err.String(), site.URL, "URL")
			if code != tt.exit {
				t.Errorf("exit code %d, want %d", code, tt.exit)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s is not in %s", want, text)
				}
			}
		})
	}
}
