package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/internal/dpop"
)

func proofKey(t testing.TB) *dpop.Key {
	t.Helper()
	k, err := dpop.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func prove(t testing.TB, k *dpop.Key, method, url, token, nonce string) string {
	t.Helper()
	p, err := k.Proof(method, url, token, nonce)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bound(k *dpop.Key) map[string]any {
	return map[string]any{"cnf": map[string]any{"jkt": k.Thumbprint()}}
}

func TestDPoP(t *testing.T) {
	i := newIssuer(t)
	k := proofKey(t)
	token, plain := i.token(t, bound(k)), i.token(t, nil)
	for _, policy := range []auth.DPoPPolicy{auth.DPoPAccepted, auth.DPoPRequired} {
		g, log := i.guard(t, func(o *auth.Options) { o.DPoP = policy })
		once := prove(t, k, "POST", resource, token, "")
		w, s := try(t, g, "/mcp?x=1", "Authorization", "DPoP "+token, "DPoP", once)
		if w.Code != 200 || s.header.Get("DPoP") != "" || s.header.Get("Authorization") != "" {
			t.Fatalf("policy %d: %d %s, %v", policy, w.Code, w.Body, s.header)
		}
		for name, tt := range map[string]struct {
			headers    []string
			code, want string
		}{
			"replayed":        {[]string{"Authorization", "DPoP " + token, "DPoP", once}, "invalid_dpop_proof", "used before"},
			"no proof":        {[]string{"Authorization", "DPoP " + token}, "invalid_dpop_proof", "header DPoP once"},
			"two proofs":      {[]string{"Authorization", "DPoP " + token, "DPoP", prove(t, k, "POST", resource, token, ""), "DPoP", prove(t, k, "POST", resource, token, "")}, "invalid_dpop_proof", "header DPoP once"},
			"junk":            {[]string{"Authorization", "DPoP " + token, "DPoP", "junk"}, "invalid_dpop_proof", "no JWT"},
			"another method":  {[]string{"Authorization", "DPoP " + token, "DPoP", prove(t, k, "GET", resource, token, "")}, "invalid_dpop_proof", "another method"},
			"another URL":     {[]string{"Authorization", "DPoP " + token, "DPoP", prove(t, k, "POST", "https://mcp.example.com/other", token, "")}, "invalid_dpop_proof", "another URL"},
			"another host":    {[]string{"Authorization", "DPoP " + token, "DPoP", prove(t, k, "POST", "https://evil.example/mcp", token, "")}, "invalid_dpop_proof", "another URL"},
			"another token":   {[]string{"Authorization", "DPoP " + token, "DPoP", prove(t, k, "POST", resource, plain, "")}, "invalid_dpop_proof", "another access token"},
			"another key":     {[]string{"Authorization", "DPoP " + token, "DPoP", prove(t, proofKey(t), "POST", resource, token, "")}, "invalid_dpop_proof", "another key"},
			"not bound":       {[]string{"Authorization", "DPoP " + plain, "DPoP", prove(t, k, "POST", resource, plain, "")}, "invalid_token", "not bound"},
			"wrong signature": {[]string{"Authorization", "DPoP " + token + "x", "DPoP", prove(t, k, "POST", resource, token+"x", "")}, "invalid_token", ""},
		} {
			w, s := try(t, g, "/mcp", tt.headers...)
			c := challengeOf(t, w, "DPoP")
			if w.Code != 401 || s.calls != 0 || c.Get("error") != tt.code || !strings.Contains(c.Get("error_description"), tt.want) || !strings.Contains(c.Get("algs"), "ES256") {
				t.Errorf("%s: %d %+v, want %s %q", name, w.Code, c, tt.code, tt.want)
			}
			if strings.Contains(log.String(), token) || strings.Contains(log.String(), once) {
				t.Errorf("%s: a secret is in the log", name)
			}
		}
	}
}

func TestBoundTokenAsBearer(t *testing.T) {
	i := newIssuer(t)
	k := proofKey(t)
	token := i.token(t, bound(k))
	for _, policy := range []auth.DPoPPolicy{auth.DPoPOff, auth.DPoPAccepted, auth.DPoPRequired} {
		g, _ := i.guard(t, func(o *auth.Options) { o.DPoP = policy })
		// A proof beside it does not help: the scheme says what it is for.
		w, s := try(t, g, "/mcp", "Authorization", "Bearer "+token, "DPoP", prove(t, k, "POST", resource, token, ""))
		if w.Code != 401 || s.calls != 0 || !strings.Contains(w.Body.String(), "bound to a key") {
			t.Errorf("policy %d: %d %s", policy, w.Code, w.Body)
		}
	}
}

func TestDPoPPolicies(t *testing.T) {
	i := newIssuer(t)
	plain := i.token(t, nil)
	for policy, want := range map[auth.DPoPPolicy]struct {
		status  int
		schemes string
	}{auth.DPoPOff: {200, "Bearer"}, auth.DPoPAccepted: {200, "Bearer DPoP"}, auth.DPoPRequired: {401, "DPoP"}} {
		g, _ := i.guard(t, func(o *auth.Options) { o.DPoP = policy })
		w, _ := try(t, g, "/mcp", "Authorization", "Bearer "+plain)
		if w.Code != want.status {
			t.Errorf("policy %d: %d, want %d", policy, w.Code, want.status)
		}
		w, _ = try(t, g, "/mcp")
		header := w.Header().Get("WWW-Authenticate")
		for _, scheme := range []string{"Bearer", "DPoP"} {
			if strings.Contains(header, scheme+" ") != strings.Contains(want.schemes, scheme) {
				t.Errorf("policy %d: %s", policy, header)
			}
		}
		if strings.Contains(header, "error=") {
			t.Errorf("policy %d: without credentials there is an error: %s", policy, header)
		}
	}
}

func TestDPoPNonces(t *testing.T) {
	i := newIssuer(t)
	k := proofKey(t)
	token := i.token(t, bound(k))
	g, _ := i.guard(t, func(o *auth.Options) { o.DPoP, o.DPoPNonces = auth.DPoPAccepted, true })
	w, _ := try(t, g, "/mcp", "Authorization", "DPoP "+token, "DPoP", prove(t, k, "POST", resource, token, ""))
	nonce := w.Header().Get("DPoP-Nonce")
	if c := challengeOf(t, w, "DPoP"); w.Code != 401 || c.Get("error") != "use_dpop_nonce" || nonce == "" {
		t.Fatalf("%d %+v %q", w.Code, c, nonce)
	}
	w, _ = try(t, g, "/mcp", "Authorization", "DPoP "+token, "DPoP", prove(t, k, "POST", resource, token, nonce))
	if w.Code != 200 || w.Header().Get("DPoP-Nonce") == "" {
		t.Errorf("with the nonce: %d %s %v", w.Code, w.Body, w.Header())
	}
	w, _ = try(t, g, "/mcp", "Authorization", "DPoP "+token, "DPoP", prove(t, k, "POST", resource, token, "made up"))
	if c := challengeOf(t, w, "DPoP"); c.Get("error") != "use_dpop_nonce" {
		t.Errorf("a nonce of nobody: %+v", c)
	}
}

// If there are more proofs than can be remembered, the client is not at fault:
// a 401 would send its user to log in.
func TestTooManyProofs(t *testing.T) {
	i := newIssuer(t)
	k := proofKey(t)
	token := i.token(t, bound(k))
	g, _ := i.guard(t, func(o *auth.Options) { o.DPoP = auth.DPoPAccepted })
	auth.BoundProofsForTest(g, 1)
	for n, want := range []int{200, 503} {
		w, _ := try(t, g, "/mcp", "Authorization", "DPoP "+token, "DPoP", prove(t, k, "POST", resource, token, ""))
		if w.Code != want || want == 503 && (w.Header().Get("WWW-Authenticate") != "" || w.Header().Get("Retry-After") == "") {
			t.Errorf("request %d: %d %v, want %d", n, w.Code, w.Header(), want)
		}
	}
}

// If a prefix is stripped on the way, Options.URL supplies the URL that proofs
// must name.
func TestURLOfAProof(t *testing.T) {
	i := newIssuer(t)
	k := proofKey(t)
	token := i.token(t, bound(k))
	g, _ := i.guard(t, func(o *auth.Options) {
		o.DPoP = auth.DPoPAccepted
		o.URL = func(r *http.Request) string {
			return "https://mcp.example.com" + r.Header.Get("X-Forwarded-Prefix") + r.URL.Path
		}
	})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/mcp", nil)
	r.Header.Set("X-Forwarded-Prefix", "/api")
	r.Header.Set("Authorization", "DPoP "+token)
	r.Header.Set("DPoP", prove(t, k, "GET", "https://mcp.example.com/api/mcp", token, ""))
	w := httptest.NewRecorder()
	g.Protect(new(seen)).ServeHTTP(w, r)
	if w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
