package oauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/dpop"
	"github.com/parley-mcp/parley/mcp"
)

func withGrant(g oauth.Grant) func(*oauth.Options) { return func(o *oauth.Options) { o.Grant = g } }

// A program gets a token for itself, and another one before that one expires.
func TestClientCredentials(t *testing.T) {
	for _, method := range []string{oauth.AuthBasic, oauth.AuthPost} {
		w := newWorld(t)
		w.method = method
		c := w.client(nil, withGrant(&oauth.ClientCredentials{
			Issuer: w.issuer, Client: oauth.Credentials{ClientID: "me", Secret: "secret-of/the client", AuthMethod: method},
		}))
		w.ok(c)
		f := lastForm(w)
		if f.Get("grant_type") != "client_credentials" || f.Get("resource") != w.url || f.Get("scope") != "read" {
			t.Errorf("%s: %v", method, f)
		}
		age(t, c, 3600*time.Second-10*time.Second)
		w.ok(c)
		if f = lastForm(w); f.Get("grant_type") != "client_credentials" {
			t.Errorf("%s: renewed with %v", method, f)
		}
		w.wantCount("POST /token", 2)
		w.wantCount("POST /mcp", 3)
		w.perRequest = true
		w.ok(c, "need=write")
		if f = lastForm(w); f.Get("scope") != "read write" {
			t.Errorf("%s: stepped up with %v", method, f)
		}
	}
}

func keys(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.Signer{"ES256": ec, "RS256": r, "EdDSA": ed}
}

func TestPrivateKeyJWT(t *testing.T) {
	for alg, private := range keys(t) {
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		key, err := oauth.ParseSigningKey("", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), "k1")
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		w.method = oauth.AuthPrivateKeyJWT
		c := w.client(nil, withGrant(&oauth.ClientCredentials{Issuer: w.issuer, Client: oauth.Credentials{ClientID: "me", Key: key}}))
		w.ok(c)
		f := lastForm(w)
		if f.Has("client_id") || f.Has("client_secret") {
			t.Errorf("%s: %v", alg, f)
		}
		signed, err := jose.ParseSignedCompact(f.Get("client_assertion"), []jose.SignatureAlgorithm{jose.SignatureAlgorithm(alg)})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := signed.Verify(private.Public())
		if err != nil || signed.Signatures[0].Header.KeyID != "k1" {
			t.Errorf("%s: %v", alg, err)
		}
		var claims struct {
			Iss, Sub, Aud, Jti string
			Exp                int64
		}
		if err := json.Unmarshal(payload, &claims); err != nil || claims.Iss != "me" || claims.Sub != "me" || claims.Aud != w.issuer || claims.Jti == "" || claims.Exp > time.Now().Unix()+60 {
			t.Errorf("%s: %s, %v", alg, payload, err)
		}
		d := w.serverDoc()
		d["token_endpoint_auth_signing_alg_values_supported"] = []string{"PS512"}
		w.set(func() { w.asDocs[serverAt] = d; clear(w.valid) })
		if _, err := w.get(c); err == nil || !strings.Contains(err.Error(), "PS512") {
			t.Errorf("%s: %v", alg, err)
		}
	}
}

func TestSigningKeys(t *testing.T) {
	all := keys(t)
	for _, tt := range []struct{ alg, key string }{{"RS256", "ES256"}, {"ES384", "ES256"}, {"HS256", "RS256"}, {"none", "RS256"}} {
		if _, err := oauth.NewSigningKey(tt.alg, all[tt.key], ""); err == nil {
			t.Errorf("%s with the key of %s", tt.alg, tt.key)
		}
	}
	for _, bad := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := oauth.ParseSigningKey("", []byte(bad), ""); err == nil {
			t.Errorf("%q was a key", bad)
		}
	}
}

// Credentials only go to the authorization server that they are for.
func TestCredentialsAreBound(t *testing.T) {
	client := oauth.Credentials{ClientID: "me", Secret: "secret-of/the client"}
	assertion := func(context.Context, oauth.Audience) (oauth.Secret, error) {
		t.Error("an assertion was made")
		return "", nil
	}
	subject := func(context.Context) (oauth.Secret, string, error) { return "secret-subject", "", nil }
	for _, g := range []oauth.Grant{
		&oauth.ClientCredentials{Issuer: "https://honest.example", Client: client},
		&oauth.WorkloadIdentity{Issuer: "https://honest.example", Assertion: assertion},
		&oauth.EnterpriseManaged{Issuer: "https://honest.example", Client: client, TokenEndpoint: "https://idp.example/token", Subject: subject},
		&oauth.TokenExchange{Issuer: "https://honest.example", Client: client, Subject: subject},
	} {
		w := newWorld(t)
		if _, err := w.get(w.client(nil, withGrant(g))); !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), "honest.example") {
			t.Errorf("%T: %v", g, err)
		}
		w.wantCount("POST /token", 0)
	}
}

func TestWorkloadIdentity(t *testing.T) {
	w := newWorld(t)
	var got oauth.Audience
	c := w.client(nil, withGrant(&oauth.WorkloadIdentity{
		Issuer: w.issuer,
		Assertion: func(_ context.Context, a oauth.Audience) (oauth.Secret, error) {
			got = a
			return "secret-assertion", nil
		},
		Client: oauth.Credentials{ClientID: "me"},
	}))
	w.ok(c)
	f := lastForm(w)
	if f.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || f.Get("assertion") != "secret-assertion" || f.Get("resource") != w.url {
		t.Errorf("%v", f)
	}
	if got.Issuer != w.issuer || got.Resource != w.url {
		t.Errorf("audience %+v", got)
	}
}

// A refusal is final: no other way is tried, and no other attempt is made for a
// while.
func TestWorkloadIdentityRefused(t *testing.T) {
	w := newWorld(t)
	w.token = func(f url.Values) (int, doc) {
		return 400, doc{"error": "invalid_grant", "error_description": f.Get("assertion")}
	}
	c := w.client(nil, withGrant(&oauth.WorkloadIdentity{
		Issuer: w.issuer, Assertion: func(context.Context, oauth.Audience) (oauth.Secret, error) { return "secret-assertion", nil },
	}))
	for range 2 {
		if _, err := w.get(c); !errors.Is(err, mcp.ErrUnauthorized) || strings.Contains(err.Error(), "secret-") {
			t.Errorf("got %v", err)
		}
	}
	w.wantCount("POST /token", 1)
	w.wantCount("GET /authorize", 0)
	if f := lastForm(w); f.Has("client_id") {
		t.Errorf("%v", f)
	}
}

func TestEnterpriseManaged(t *testing.T) {
	var exchange url.Values
	kind := "urn:ietf:params:oauth:token-type:id-jag"
	idp := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		exchange = r.PostForm
		reply(rw, 200, doc{"issued_token_type": kind, "access_token": "secret-jag", "token_type": "N_A"})
	}))
	defer idp.Close()
	w := newWorld(t)
	w.method = oauth.AuthBasic
	g := &oauth.EnterpriseManaged{
		TokenEndpoint: idp.URL + "/token", Provider: oauth.Credentials{ClientID: "at-idp"},
		Subject: func(context.Context) (oauth.Secret, string, error) { return "secret-id", "", nil },
		Issuer:  w.issuer, Client: oauth.Credentials{ClientID: "at-as", Secret: "secret-of/the client"},
	}
	w.ok(w.client(nil, withGrant(g)))
	for name, want := range map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "requested_token_type": kind, "audience": w.issuer, "resource": w.url,
		"scope": "read", "subject_token": "secret-id", "subject_token_type": oauth.TokenTypeID, "client_id": "at-idp",
	} {
		if got := exchange.Get(name); got != want {
			t.Errorf("exchange: %s is %q, want %q", name, got, want)
		}
	}
	if f := lastForm(w); f.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || f.Get("assertion") != "secret-jag" {
		t.Errorf("%v", f)
	}
	kind = "urn:ietf:params:oauth:token-type:access_token"
	if _, err := w.get(w.client(nil, withGrant(g))); err == nil || !strings.Contains(err.Error(), "not an identity assertion") {
		t.Errorf("another type: %v", err)
	}
	// A client that has no ID at the authorization server registers.
	kind = "urn:ietf:params:oauth:token-type:id-jag"
	g.Client = oauth.Credentials{}
	w.ok(w.client(nil, withGrant(g)))
	if r := w.registered[0]; r["redirect_uris"] != nil {
		t.Errorf("registered as %v", r)
	}
}

// A server gets a token for another in exchange for its user's, once for all who wait for
// it, and another when that is refused.
func TestTokenExchange(t *testing.T) {
	w := newWorld(t)
	w.method = oauth.AuthBasic
	kind := oauth.TokenTypeAccess
	w.token = func(f url.Values) (int, doc) {
		if kind == "" {
			return 400, doc{"error": "invalid_request", "error_description": f.Get("subject_token") + f.Get("actor_token")}
		}
		w.n++
		token := fmt.Sprintf("secret-exchanged-%d", w.n)
		w.valid[token] = grant{scopes: []string{"read"}}
		return 200, doc{"access_token": token, "issued_token_type": kind, "token_type": "Bearer", "expires_in": 3600}
	}
	g := &oauth.TokenExchange{
		Issuer: w.issuer, Client: oauth.Credentials{ClientID: "gateway", Secret: "secret-of/the client"}, Audience: "shop",
		Subject: func(context.Context) (oauth.Secret, string, error) { return "secret-subject", "", nil },
		Actor:   func(context.Context) (oauth.Secret, string, error) { return "secret-actor", "", nil },
	}
	c := w.client(nil, withGrant(g))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { w.ok(c) })
	}
	group.Wait()
	w.wantCount("POST /token", 1)
	for name, want := range map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "requested_token_type": oauth.TokenTypeAccess,
		"subject_token": "secret-subject", "subject_token_type": oauth.TokenTypeAccess, "actor_token": "secret-actor", "actor_token_type": oauth.TokenTypeJWT,
		"resource": w.url, "audience": "shop", "scope": "read",
	} {
		if got := lastForm(w).Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	w.revokeAll()
	w.ok(c)
	w.wantCount("POST /token", 2)
	for bad, want := range map[string]string{oauth.TokenTypeSAML: "not an access token", "": "invalid_request"} {
		w.set(func() { kind = bad; clear(w.valid) })
		if _, err := w.get(w.client(nil, withGrant(g))); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Both servers get proofs, with their nonces; nothing is used twice, which the
// verifiers check.
func TestDPoP(t *testing.T) {
	for _, how := range []string{"option", "demanded", "nonces"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			w.proofs = dpop.NewVerifier(dpop.Options{})
			if how == "nonces" {
				w.asNonces, w.mcpNonces = dpop.NewNonces(0), dpop.NewNonces(0)
			}
			if how == "demanded" {
				d := w.resourceDoc()
				d["dpop_bound_access_tokens_required"] = true
				w.mcpDocs[resourceAt+"/mcp"] = d
			}
			store := oauth.NewMemoryStore()
			with := func(o *oauth.Options) { o.Store, o.DPoP = store, how != "demanded" }
			c := w.client(nil, with)
			w.ok(c)
			if w.asked[0].Get("dpop_jkt") == "" {
				t.Error("the code is not bound")
			}
			w.revokeAll()
			w.ok(c) // the refresh is with the same key, which the server checks
			w.ok(w.client(nil, with))
			if w.mcpNonces != nil {
				w.mcpNonces = dpop.NewNonces(0)
				w.ok(c)
			}
			w.wantCount("GET /authorize", 1)
			if s := c.Status(t.Context()); !s.DPoP {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A token that anybody could use is not accepted in place of a bound one.
func TestDPoPDowngrade(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil, func(o *oauth.Options) { o.DPoP = true })
	w.token = func(url.Values) (int, doc) { return 200, doc{"access_token": "secret-access", "token_type": "Bearer"} }
	if _, err := w.get(c); err == nil || !strings.Contains(err.Error(), "not bound") {
		t.Errorf("got %v", err)
	}
	w = newWorld(t)
	w.token = func(url.Values) (int, doc) { return 200, doc{"access_token": "secret-access", "token_type": "mac"} }
	if _, err := w.get(w.client(nil)); err == nil || !strings.Contains(err.Error(), `"mac"`) {
		t.Errorf("got %v", err)
	}
	w = newWorld(t)
	d := w.serverDoc()
	d["dpop_signing_alg_values_supported"] = []string{"RS256"}
	w.asDocs[serverAt] = d
	if _, err := w.get(w.client(nil, func(o *oauth.Options) { o.DPoP = true })); err == nil || !strings.Contains(err.Error(), "ES256") {
		t.Errorf("got %v", err)
	}
}

// A server that demands a new nonce each time does not get one forever.
func TestNonceLimit(t *testing.T) {
	w := newWorld(t)
	w.proofs = dpop.NewVerifier(dpop.Options{})
	c := w.client(nil, func(o *oauth.Options) { o.DPoP = true })
	w.ok(c)
	n := 0
	w.mcpDocs["/mcp"] = func(rw http.ResponseWriter, _ *http.Request) {
		n++
		rw.Header().Set("DPoP-Nonce", strings.Repeat("n", n))
		rw.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		rw.WriteHeader(http.StatusUnauthorized)
	}
	if _, err := w.get(c); !errors.Is(err, statusError(http.StatusUnauthorized)) || n != 3 {
		t.Errorf("%d requests, %v", n, err)
	}
	w.wantCount("GET /authorize", 1)
}
