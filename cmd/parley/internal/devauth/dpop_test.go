package devauth_test

import (
	"net/url"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
	"github.com/parley-mcp/parley/internal/dpop"
)

func TestDPoP(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.desk(), w.browser()
	key, other := proofKey(t), proofKey(t)
	prove := func(k *dpop.Key) { a.header.Set("DPoP", proof(t, k, "")) }
	prove(key)
	got := b.tokens(a, "notes:read offline_access")
	if confirm, _ := claims(t, got.access)["cnf"].(map[string]any); got.kind != "DPoP" || confirm["jkt"] != key.Thumbprint() {
		t.Errorf("%+v, %v", got, claims(t, got.access))
	}
	if got := w.introspect(got.access); got["token_type"] != "DPoP" {
		t.Errorf("introspected: %v", got)
	}
	for name, change := range map[string]func(){
		"no proof":       func() { a.header.Del("DPoP") },
		"another key":    func() { prove(other) },
		"the same again": func() { a.header.Set("DPoP", "x") },
		"two proofs":     func() { a.header["Dpop"] = []string{proof(t, key, ""), proof(t, key, "")} },
	} {
		change()
		if p := a.refresh(got.refresh, nil); p.failed() != "invalid_grant" && p.failed() != "invalid_dpop_proof" {
			t.Errorf("%s: %s", name, p.body)
		}
	}
	prove(key)
	once := a.header.Clone()
	a.refresh(got.refresh, nil).tokens()
	a.header = once
	if p := a.refresh(got.refresh, nil); p.failed() != "invalid_dpop_proof" {
		t.Errorf("a replayed proof: %s", p.body)
	}
	// A code can be bound before there is a token.
	p := b.open(a.url("notes:read", url.Values{"dpop_jkt": {key.Thumbprint()}}))
	prove(other)
	if p := a.redeem(b.allow(p).answer().Get("code"), nil); p.failed() != "invalid_grant" {
		t.Errorf("a bound code: %s", p.body)
	}
}

func TestDPoPNonces(t *testing.T) {
	w := newWorld(t, func(o *devauth.Options) { o.DPoPNonces = true })
	a, b, key := w.desk(), w.browser(), proofKey(t)
	code := b.code(a, "notes:read")
	a.header.Set("DPoP", proof(t, key, ""))
	p := a.redeem(code, nil)
	nonce := p.header.Get("DPoP-Nonce")
	if p.failed() != "use_dpop_nonce" || nonce == "" {
		t.Fatalf("%s, nonce %q", p.body, nonce)
	}
	a.header.Set("DPoP", proof(t, key, nonce))
	if got := a.redeem(code, nil).tokens(); got.kind != "DPoP" {
		t.Errorf("got %+v", got)
	}
}

func proofKey(t *testing.T) *dpop.Key {
	t.Helper()
	k, err := dpop.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func proof(t *testing.T, k *dpop.Key, nonce string) string {
	t.Helper()
	p, err := k.Proof("POST", issuer+"/token", "", nonce)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
