package dpop_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/dpop"
)

const target = "https://example.com/mcp"

func key(t testing.TB) *dpop.Key {
	t.Helper()
	k, err := dpop.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func proof(t testing.TB, k *dpop.Key, method, url, token, nonce string) string {
	t.Helper()
	p, err := k.Proof(method, url, token, nonce)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProof(t *testing.T) {
	k, v := key(t), dpop.NewVerifier(dpop.Options{})
	for _, url := range []string{target, target + "?a=b#c", "HTTPS://EXAMPLE.com:443/mcp"} {
		print, err := v.Verify(proof(t, k, "POST", url, "token", ""), dpop.Request{Method: "POST", URL: target, AccessToken: "token"})
		if err != nil || print != k.Thumbprint() {
			t.Errorf("%s: %q, %v; want %q", url, print, err, k.Thumbprint())
		}
	}
}

func TestProofsOfOtherThings(t *testing.T) {
	k, v := key(t), dpop.NewVerifier(dpop.Options{})
	for name, tt := range map[string]struct{ method, url, token, want string }{
		"method":   {"GET", target, "token", "another method"},
		"host":     {"POST", "https://example.org/mcp", "token", "another URL"},
		"path":     {"POST", "https://example.com/mcp/", "token", "another URL"},
		"scheme":   {"POST", "http://example.com/mcp", "token", "another URL"},
		"port":     {"POST", "https://example.com:8443/mcp", "token", "another URL"},
		"token":    {"POST", target, "other", "another access token"},
		"no token": {"POST", target, "", "another access token"},
	} {
		_, err := v.Verify(proof(t, k, tt.method, tt.url, tt.token, ""), dpop.Request{Method: "POST", URL: target, AccessToken: "token"})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// forge signs any claims, with any header.
func forge(t *testing.T, alg jose.SignatureAlgorithm, with any, o *jose.SignerOptions, claims string) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: with}, o)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.Sign([]byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	p, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestForgedProofs(t *testing.T) {
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	options := func(kind string) *jose.SignerOptions {
		return (&jose.SignerOptions{EmbedJWK: true}).WithType(jose.ContentType(kind))
	}
	claims := `{"jti":"1","htm":"POST","htu":"` + target + `","iat":1}`
	good := proof(t, key(t), "POST", target, "", "")
	parts := strings.Split(good, ".")
	for name, tt := range map[string]struct{ proof, want string }{
		"nothing":       {"", "no JWT"},
		"junk":          {"a.b.c", "no JWT"},
		"too long":      {strings.Repeat("a", 9<<10), "over"},
		"alg none":      {"eyJhbGciOiJub25lIiwidHlwIjoiZHBvcCtqd3QifQ." + parts[1] + ".", "no JWT"},
		"symmetric":     {forge(t, jose.HS256, []byte(strings.Repeat("k", 32)), (&jose.SignerOptions{}).WithType("dpop+jwt"), claims), "no JWT"},
		"type":          {forge(t, jose.ES256, mine, options("JWT"), claims), "of type"},
		"no key":        {forge(t, jose.ES256, mine, (&jose.SignerOptions{}).WithType("dpop+jwt"), claims), "public key"},
		"another's key": {forge(t, jose.ES256, other, (&jose.SignerOptions{}).WithType("dpop+jwt").WithHeader("jwk", jose.JSONWebKey{Key: mine.Public()}), claims), "not signed with"},
		"private key":   {forge(t, jose.ES256, mine, (&jose.SignerOptions{}).WithType("dpop+jwt").WithHeader("jwk", jose.JSONWebKey{Key: mine}), claims), ""},
		"no claims":     {forge(t, jose.ES256, mine, options("dpop+jwt"), `[]`), "malformed"},
		"no jti":        {forge(t, jose.ES256, mine, options("dpop+jwt"), `{"htm":"POST","htu":"`+target+`","iat":1}`), "no usable jti"},
		"old":           {forge(t, jose.ES256, mine, options("dpop+jwt"), claims), "too old"},
	} {
		_, err := dpop.NewVerifier(dpop.Options{}).Verify(tt.proof, dpop.Request{Method: "POST", URL: target})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, v := key(t), dpop.NewVerifier(dpop.Options{MaxAge: time.Minute})
		r := dpop.Request{Method: "POST", URL: target}
		p := proof(t, k, "POST", target, "", "")
		if _, err := v.Verify(p, r); err != nil {
			t.Fatal(err)
		}
		for _, wait := range []time.Duration{0, 30 * time.Second, 29 * time.Second, 2 * time.Second, time.Hour} {
			pass(wait)
			if _, err := v.Verify(p, r); err == nil {
				t.Fatalf("accepted again after another %s", wait)
			}
		}
		if _, err := v.Verify(proof(t, k, "POST", target, "", ""), r); err != nil {
			t.Errorf("a new one: %v", err)
		}
	})
}

func TestReplayMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, v := key(t), dpop.NewVerifier(dpop.Options{MaxProofs: 3})
		r := dpop.Request{Method: "POST", URL: target}
		for i := range 4 {
			_, err := v.Verify(proof(t, k, "POST", target, "", ""), r)
			if (err != nil) != (i == 3) || errors.Is(err, dpop.ErrBusy) != (i == 3) {
				t.Errorf("proof %d: %v", i, err)
			}
		}
		pass(5 * time.Minute)
		if _, err := v.Verify(proof(t, k, "POST", target, "", ""), r); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

func TestNonces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := dpop.NewNonces(time.Minute)
		k, v := key(t), dpop.NewVerifier(dpop.Options{Nonces: n})
		r := dpop.Request{Method: "POST", URL: target}
		nonce := n.New()
		for _, bad := range []string{"", "x", dpop.NewNonces(0).New(), nonce + "A"} {
			if _, err := v.Verify(proof(t, k, "POST", target, "", bad), r); !errors.Is(err, dpop.ErrNonce) {
				t.Errorf("nonce %q: %v, want ErrNonce", bad, err)
			}
		}
		if _, err := v.Verify(proof(t, k, "POST", target, "", nonce), r); err != nil {
			t.Errorf("good nonce: %v", err)
		}
		pass(62 * time.Second)
		if _, err := v.Verify(proof(t, k, "POST", target, "", nonce), r); !errors.Is(err, dpop.ErrNonce) {
			t.Errorf("old nonce: %v, want ErrNonce", err)
		}
	})
}

func TestKeyIsKept(t *testing.T) {
	k := key(t)
	doc, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := dpop.ParseKey(doc)
	if err != nil || again.Thumbprint() != k.Thumbprint() {
		t.Fatalf("%v, %v; want %v", again, err, k)
	}
	if strings.Contains(k.String(), string(doc)) {
		t.Error("String shows the key")
	}
	for _, bad := range []string{"", "{}", `{"kty":"oct","k":"AAAA"}`} {
		if _, err := dpop.ParseKey([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// Whatever is accepted names a key, and is not accepted again.
func FuzzVerify(f *testing.F) {
	f.Add(proof(f, key(f), "POST", target, "", ""))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, p string) {
		v, r := dpop.NewVerifier(dpop.Options{}), dpop.Request{Method: "POST", URL: target}
		print, err := v.Verify(p, r)
		if err != nil {
			return
		}
		if print == "" {
			t.Error("accepted a proof by nobody")
		}
		if _, err := v.Verify(p, r); err == nil {
			t.Error("accepted twice")
		}
	})
}

// pass lets fake time pass in a bubble of synctest.
func pass(d time.Duration) { <-time.NewTimer(d).C }
