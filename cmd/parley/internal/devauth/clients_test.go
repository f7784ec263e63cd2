package devauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

func TestClientCredentials(t *testing.T) {
	w := newWorld(t, nil)
	robot := w.app("robot", "robot secret", "")
	demand := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}}
	got := robot.post("/token", demand).tokens()
	if c := claims(t, got.access); c["sub"] != "robot" || c["client_id"] != "robot" || got.scope != "notes:read" || got.refresh != "" {
		t.Errorf("%+v, %v", got, c)
	}
	if p := robot.post("/token", url.Values{"grant_type": {"client_credentials"}, "scope": {"notes:write"}}); p.failed() != "invalid_scope" {
		t.Errorf("more scopes: %s", p.body)
	}
	if p := w.app("web", "web secret", "").post("/token", demand); p.failed() != "unauthorized_client" {
		t.Errorf("a client for users: %s", p.body)
	}
	if p := robot.post("/token", url.Values{"grant_type": {"password"}}); p.failed() != "unsupported_grant_type" {
		t.Errorf("another grant: %s", p.body)
	}
}

func TestAuthentication(t *testing.T) {
	w := newWorld(t, nil)
	demand := func(extra url.Values) url.Values {
		extra.Set("grant_type", "client_credentials")
		return extra
	}
	for name, tt := range map[string]struct {
		form  url.Values
		basic string
		want  string
	}{
		"post":              {url.Values{"client_id": {"robot"}, "client_secret": {"robot secret"}}, "", ""},
		"basic":             {url.Values{}, "robot:robot+secret", ""},
		"wrong secret":      {url.Values{}, "robot:x", "invalid_client"},
		"no secret":         {url.Values{"client_id": {"robot"}}, "", "invalid_client"},
		"empty secret":      {url.Values{"client_id": {"robot"}, "client_secret": {""}}, "", "invalid_client"},
		"unknown":           {url.Values{"client_id": {"x"}, "client_secret": {"x"}}, "", "invalid_client"},
		"nobody":            {url.Values{}, "", "invalid_client"},
		"public, as secret": {url.Values{"client_id": {"desk"}, "client_secret": {""}}, "", "invalid_client"},
		"two ways":          {url.Values{"client_id": {"robot"}, "client_secret": {"robot secret"}}, "robot:robot+secret", "invalid_request"},
		"two names":         {url.Values{"client_id": {"web"}}, "robot:robot+secret", "invalid_request"},
		"twice":             {url.Values{"client_id": {"robot", "robot"}}, "", "invalid_request"},
		"bad encoding":      {url.Values{}, "robot:%zz", "invalid_request"},
		"odd assertion":     {url.Values{"client_assertion": {"x"}, "client_assertion_type": {"saml"}}, "", "invalid_request"},
	} {
		r := request(t, "POST", "/token", demand(tt.form))
		if id, secret, ok := strings.Cut(tt.basic, ":"); ok {
			r.SetBasicAuth(id, secret)
		}
		p := w.do(r, nil)
		if got := p.failed(); got != tt.want || got == "invalid_client" && p.status != http.StatusUnauthorized {
			t.Errorf("%s: %d, %s", name, p.status, p.body)
		}
		if got := p.header.Get("WWW-Authenticate"); (got != "") != (tt.basic != "" && tt.want != "") {
			t.Errorf("%s: WWW-Authenticate %q", name, got)
		}
	}
}

// signer signs assertions with a key of its own.
func signer(t *testing.T) (*jose.JSONWebKeySet, func(claims map[string]any) string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1"}}}, func(claims map[string]any) string {
		body, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := s.Sign(body)
		if err != nil {
			t.Fatal(err)
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

func TestAssertions(t *testing.T) {
	keys, sign := signer(t)
	_, forge := signer(t)
	w := newWorld(t, func(o *devauth.Options) {
		o.Clients = append(o.Clients, devauth.Client{ID: "signer", Keys: keys, Scopes: []string{"notes:read"}})
	})
	now := time.Now().Unix()
	claims := func(change map[string]any) map[string]any {
		c := map[string]any{"iss": "signer", "sub": "signer", "aud": issuer, "exp": now + 60, "iat": now, "jti": rand.Text()}
		maps.Copy(c, change)
		return c
	}
	post := func(token string) *page {
		return w.do(request(t, "POST", "/token", url.Values{
			"grant_type": {"client_credentials"}, "client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {token},
		}), nil)
	}
	good := sign(claims(nil))
	for name, token := range map[string]string{
		"issuer": good, "endpoint": sign(claims(map[string]any{"aud": issuer + "/token"})), "several": sign(claims(map[string]any{"aud": []string{"x", issuer}})),
	} {
		if p := post(token); p.status != http.StatusOK {
			t.Errorf("%s: %s", name, p.body)
		}
	}
	for name, token := range map[string]string{
		"again":            good,
		"forged":           forge(claims(nil)),
		"another audience": sign(claims(map[string]any{"aud": "https://evil.example.com"})),
		"another issuer":   sign(claims(map[string]any{"iss": "robot"})),
		"another subject":  sign(claims(map[string]any{"sub": "robot"})),
		"expired":          sign(claims(map[string]any{"exp": now - 60})),
		"endless":          sign(claims(map[string]any{"exp": now + 86400})),
		"no expiry":        sign(claims(map[string]any{"exp": 0})),
		"not yet":          sign(claims(map[string]any{"nbf": now + 300})),
		"no jti":           sign(claims(map[string]any{"jti": ""})),
		"unsigned":         "eyJhbGciOiJub25lIn0." + strings.Split(good, ".")[1] + ".",
		"junk":             "x",
	} {
		if p := post(token); p.status != http.StatusUnauthorized || p.failed() != "invalid_client" {
			t.Errorf("%s: %d, %s", name, p.status, p.body)
		}
	}
	w.silent(good)
}

// web serves documents by URL. By default, only public addresses are reached. A
// client described by a document can authenticate with the keys that the
// document names.
func TestTokensOfOthers(t *testing.T) {
	w := newWorld(t, nil)
	got := w.browser().tokens(w.desk(), "notes:read offline_access")
	web := w.app("web", "web secret", remote)
	if p := web.post("/revoke", url.Values{"token": {got.access}}); p.failed() != "unauthorized_client" {
		t.Errorf("revoked another's: %s", p.body)
	}
	for _, token := range []string{got.access, got.refresh, "x", ""} {
		if v := web.post("/introspect", url.Values{"token": {token}}).json(); v["active"] != false || len(v) != 1 {
			t.Errorf("told of another's: %v", v)
		}
	}
	if p := w.desk().post("/introspect", url.Values{"token": {got.access}}); p.status != http.StatusUnauthorized {
		t.Errorf("a public client asks: %d", p.status)
	}
	if p := web.post("/revoke", url.Values{"token": {"x"}}); p.status != http.StatusOK {
		t.Errorf("revoking nothing: %d", p.status)
	}
	if w.introspect(got.access)["active"] != true {
		t.Error("the token has ended")
	}
}

func TestOptions(t *testing.T) {
	for name, change := range map[string]func(*devauth.Options){
		"path":               func(o *devauth.Options) { o.Issuer += "/auth" },
		"slash":              func(o *devauth.Options) { o.Issuer += "/" },
		"scheme":             func(o *devauth.Options) { o.Issuer = "ftp://x" },
		"case":               func(o *devauth.Options) { o.Issuer = "http://LOCALHOST" },
		"no issuer":          func(o *devauth.Options) { o.Issuer = "" },
		"no resource":        func(o *devauth.Options) { o.Resources = nil },
		"no scope":           func(o *devauth.Options) { o.Scopes = nil },
		"odd scope":          func(o *devauth.Options) { o.Scopes = map[string]string{"a b": ""} },
		"reserved scope":     func(o *devauth.Options) { o.Scopes = map[string]string{"offline_access": ""} },
		"no password":        func(o *devauth.Options) { o.Users["x"] = "" },
		"no client ID":       func(o *devauth.Options) { o.Clients = []devauth.Client{{}} },
		"twice":              func(o *devauth.Options) { o.Clients = []devauth.Client{{ID: "a"}, {ID: "a"}} },
		"bad redirect":       func(o *devauth.Options) { o.Clients = []devauth.Client{{ID: "a", RedirectURIs: []string{"http://x"}}} },
		"public, for itself": func(o *devauth.Options) { o.Clients = []devauth.Client{{ID: "a", Scopes: []string{"x"}}} },
		"secret and keys": func(o *devauth.Options) {
			o.Clients = []devauth.Client{{ID: "a", Secret: "x", Keys: &jose.JSONWebKeySet{}}}
		},
	} {
		o := options()
		change(&o)
		if _, err := devauth.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
