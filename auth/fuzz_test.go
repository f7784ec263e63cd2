package auth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth"
)

// Whatever the headers and the query hold, no request gets in without the
// token, and no response contains it.
func FuzzProtect(f *testing.F) {
	i := newIssuer(f)
	g, log := i.guard(f, func(o *auth.Options) { o.DPoP = auth.DPoPAccepted })
	token := i.token(f, nil)
	for _, s := range []string{"Bearer T", "bearer  T", "DPoP T", "Bearer T, DPoP T", "Basic T", "Bearer", "T", "Bearer T=", "Bearer\tT", ""} {
		f.Add(s, "", "")
		f.Add(s, "junk", "access_token=T")
	}
	f.Fuzz(func(t *testing.T, header, proof, query string) {
		header, query = strings.ReplaceAll(header, "T", token), strings.ReplaceAll(query, "T", token)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
		r.URL.RawQuery = query
		r.Header["Authorization"] = []string{header}
		if proof != "" {
			r.Header["Dpop"] = []string{proof}
		}
		w, s := httptest.NewRecorder(), new(seen)
		g.Protect(s).ServeHTTP(w, r)
		words := strings.Fields(header)
		good := len(words) == 2 && strings.EqualFold(words[0], "Bearer") && words[1] == token
		if s.calls > 0 && !good {
			t.Errorf("%q got in", header)
		}
		if values, err := url.ParseQuery(query); err == nil && values.Has("access_token") && s.calls > 0 {
			t.Errorf("the query %q got in", query)
		}
		if s.calls == 0 && w.Code != 400 && w.Code != 401 {
			t.Errorf("%q: status %d", header, w.Code)
		}
		answer := w.Body.String() + w.Header().Get("WWW-Authenticate")
		if strings.Contains(answer, token) || strings.Contains(log.take(), token) {
			t.Errorf("%q: the token leaks", header)
		}
	})
}
