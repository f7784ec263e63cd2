package devauth_test

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

// pass lets time pass in a synctest bubble.
func pass(d time.Duration) { <-time.NewTimer(d).C }

func TestMetadata(t *testing.T) {
	w := newWorld(t, nil)
	p := w.get("/.well-known/oauth-authorization-server")
	m := p.json()
	want := map[string]any{
		"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token", "jwks_uri": issuer + "/jwks.json",
		"code_challenge_methods_supported": []any{"S256"}, "authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported": true, "scopes_supported": []any{"notes:read", "notes:write", "offline_access"},
		"token_endpoint_auth_methods_supported": []any{"none", "client_secret_basic", "client_secret_post", "private_key_jwt"},
	}
	for name, v := range want {
		if !reflect.DeepEqual(m[name], v) {
			t.Errorf("%s: %v, want %v", name, m[name], v)
		}
	}
	if alias := w.get("/.well-known/openid-configuration"); alias.body != p.body {
		t.Errorf("where OpenID Connect has it: %d, %s", alias.status, alias.body)
	}
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/jwks.json", "/token", "/register"} {
		r := request(t, "OPTIONS", path, nil)
		r.Header.Set("Origin", "http://localhost:6274")
		if p := w.do(r, nil); p.status != http.StatusNoContent || p.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("preflight of %s: %d, %v", path, p.status, p.header)
		}
	}
	if p := w.get("/token"); p.status != http.StatusMethodNotAllowed {
		t.Errorf("GET /token: %d", p.status)
	}
}

// The whole flow: register, log in, consent, token, refresh, revoke.
func TestFlow(t *testing.T) {
	w := newWorld(t, nil)
	b := w.browser()
	made := w.do(registration(t, `{"redirect_uris":["http://localhost/callback"],"client_name":"Notes","token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]}`), nil)
	if made.status != http.StatusCreated || made.json()["client_secret"] != nil {
		t.Fatalf("%d: %s", made.status, made.body)
	}
	a := w.app(made.json()["client_id"].(string), "", "http://localhost:41234/callback")
	p := b.login(b.open(a.url("notes:read offline_access", nil)), "ada", password)
	for _, part := range []string{"<q>Notes</q>", resource, "Read your notes", "notes:read", "Keep this access", "localhost:41234", "any program on this computer", "nobody has checked it"} {
		if !strings.Contains(p.body, part) {
			t.Errorf("the consent page does not say %q:\n%s", part, p.body)
		}
	}
	p = b.allow(p)
	if to := p.header.Get("Location"); !strings.HasPrefix(to, a.redirect+"?") {
		t.Fatalf("redirected to %q", to)
	}
	answer := p.answer()
	if answer.Get("state") != "state&=#" || answer.Get("iss") != issuer {
		t.Errorf("got %v", answer)
	}
	p = a.redeem(answer.Get("code"), nil)
	if p.header.Get("Cache-Control") != "no-store" || p.json()["expires_in"] != 300.0 {
		t.Errorf("%v %s", p.header, p.body)
	}
	first := p.tokens()
	if first.scope != "notes:read offline_access" || first.kind != "Bearer" || first.refresh == "" {
		t.Errorf("got %+v", first)
	}
	second := a.refresh(first.refresh, url.Values{"scope": {"notes:read"}}).tokens()
	if second.scope != "notes:read" || second.refresh == first.refresh || second.access == first.access {
		t.Errorf("got %+v", second)
	}
	if got := w.introspect(second.access); got["active"] != true || got["username"] != "ada" || got["scope"] != "notes:read" || got["aud"] != resource || got["token_type"] != "Bearer" {
		t.Errorf("introspected: %v", got)
	}
	if p := a.post("/revoke", url.Values{"token": {second.refresh}}); p.status != http.StatusOK {
		t.Errorf("revoke: %d, %s", p.status, p.body)
	}
	for _, token := range []string{first.access, second.access, second.refresh} {
		if got := w.introspect(token); got["active"] != false || len(got) != 1 {
			t.Errorf("after revocation: %v", got)
		}
	}
	if id := claims(t, second.access)["jti"].(string); !w.srv.Revoked(id) {
		t.Error("the access token is not revoked")
	}
	if got := a.refresh(second.refresh, nil).failed(); got != "invalid_grant" {
		t.Errorf("refresh after revocation: %q", got)
	}
	w.silent(answer.Get("code"), first.access, first.refresh, second.access, second.refresh, a.verifier)
}

// A resource server in the same process verifies tokens with Keys.
func TestAccessToken(t *testing.T) {
	w := newWorld(t, nil)
	token := w.browser().tokens(w.desk(), "notes:write")
	signed, err := jose.ParseSignedCompact(token.access, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	header := signed.Signatures[0].Protected
	if header.ExtraHeaders[jose.HeaderType] != "at+jwt" || header.KeyID == "" {
		t.Errorf("header: %+v", header)
	}
	if _, err := signed.Verify(w.srv.Keys()); err != nil {
		t.Error(err)
	}
	c := claims(t, token.access)
	for name, want := range map[string]any{"iss": issuer, "sub": "ada", "aud": resource, "client_id": "desk", "scope": "notes:write"} {
		if c[name] != want {
			t.Errorf("%s: %v, want %v", name, c[name], want)
		}
	}
	if lifetime := c["exp"].(float64) - c["iat"].(float64); lifetime < 300 || lifetime > 301 || w.srv.Revoked(c["jti"].(string)) {
		t.Errorf("claims: %v", c)
	}
	keys := w.get("/jwks.json").json()["keys"].([]any)
	if key := keys[0].(map[string]any); len(keys) != 1 || key["kid"] != header.KeyID || key["d"] != nil {
		t.Errorf("published keys: %v", keys)
	}
}

func TestNoRefreshTokenUnasked(t *testing.T) {
	w := newWorld(t, nil)
	if got := w.browser().tokens(w.desk(), "notes:read"); got.refresh != "" {
		t.Errorf("got %+v", got)
	}
}

// Registering the grant type is also a way to ask for refresh tokens; the user
// is asked all the same, and the scope stays what the client requested.
func TestRefreshTokenByRegistration(t *testing.T) {
	w := newWorld(t, nil)
	made := w.do(registration(t, `{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]}`), nil).json()
	a, b := w.app(made["client_id"].(string), "", callback), w.browser()
	p := b.login(b.open(a.url("notes:read", nil)), "ada", password)
	refused := b.submit(p, url.Values{"action": {"allow"}, "scope": {"notes:read"}})
	if got := a.redeem(refused.answer().Get("code"), nil).tokens(); got.refresh != "" || got.scope != "notes:read" {
		t.Errorf("unticked: %+v", got)
	}
	got := b.tokens(a, "notes:read")
	if got.refresh == "" || got.scope != "notes:read" {
		t.Fatalf("got %+v", got)
	}
	if again := a.refresh(got.refresh, nil).tokens(); again.refresh == "" || again.scope != "notes:read" {
		t.Errorf("refreshed: %+v", again)
	}
}

// Requests may lack the parameters that clients of older revisions do not send.
func TestDefaults(t *testing.T) {
	w := newWorld(t, func(o *devauth.Options) { o.Resources = append(o.Resources, "https://mcp.example.com") })
	a, b := w.desk(), w.browser()
	p := b.allow(b.login(b.open(a.url("", url.Values{"resource": nil, "redirect_uri": nil, "scope": nil, "state": nil})), "ada", password))
	if p.answer().Has("state") {
		t.Errorf("a state out of nowhere: %s", p.header.Get("Location"))
	}
	got := a.redeem(p.answer().Get("code"), url.Values{"resource": nil, "redirect_uri": nil}).tokens()
	if got.scope != "notes:read notes:write" || claims(t, got.access)["aud"] != resource {
		t.Errorf("got %+v", got)
	}
}

func TestResources(t *testing.T) {
	other := "https://mcp.example.com"
	w := newWorld(t, func(o *devauth.Options) { o.Resources = append(o.Resources, other) })
	a, b := w.desk(), w.browser()
	for name, named := range map[string][]string{"unknown": {"https://evil.example.com"}, "two": {resource, other}, "empty": {""}, "fragment": {resource + "#x"}, "below": {resource + "/x"}} {
		if got := b.open(a.url("notes:read", url.Values{"resource": named})).answer().Get("error"); got != "invalid_target" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, named := range []string{"HTTPS://MCP.example.com/", other} {
		p := b.open(a.url("notes:read", url.Values{"resource": {named}}))
		if strings.Contains(p.body, "password") {
			p = b.login(p, "ada", password)
		}
		got := a.redeem(b.allow(p).answer().Get("code"), url.Values{"resource": {named}}).tokens()
		if claims(t, got.access)["aud"] != other {
			t.Errorf("%s: %v", named, claims(t, got.access))
		}
	}
}

// What was allowed before is not asked for again.
func TestLifetimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *devauth.Options) { o.RefreshLifetime = time.Hour })
		a, b := w.desk(), w.browser()
		old := b.code(a, "notes:read")
		pass(time.Minute)
		if got := a.redeem(old, nil).failed(); got != "invalid_grant" {
			t.Errorf("an old code: %q", got)
		}
		got := b.tokens(a, "notes:read offline_access")
		pass(299 * time.Second)
		if w.introspect(got.access)["active"] != true {
			t.Error("the access token ends before its time")
		}
		pass(time.Second)
		if w.introspect(got.access)["active"] != false {
			t.Error("the access token outlives its time")
		}
		for range 3 {
			pass(50 * time.Minute)
			got = a.refresh(got.refresh, nil).tokens()
		}
		pass(time.Hour)
		if got := a.refresh(got.refresh, nil).failed(); got != "invalid_grant" {
			t.Errorf("an old refresh token: %q", got)
		}
		pass(12 * time.Hour)
		if p := b.open(a.url("notes:read", nil)); !strings.Contains(p.body, "password") {
			t.Errorf("the login outlives its time: %s", p.body)
		}
	})
}

func registration(t *testing.T, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", issuer+"/register", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}
