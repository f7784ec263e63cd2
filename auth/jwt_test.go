package auth_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/auth"
)

// refused fails unless a Verifier refuses a token for a reason.
func refused(t *testing.T, v auth.Verifier, name, token, want string) {
	t.Helper()
	got, err := v.Verify(t.Context(), token)
	var bad *auth.TokenError
	if got != nil || !errors.As(err, &bad) || !strings.Contains(bad.Reason, want) {
		t.Errorf("%s: %+v, %v; want %q", name, got, err, want)
	}
	if err != nil && len(token) > 20 && strings.Contains(err.Error(), token[:20]) {
		t.Errorf("%s: the token is in the error", name)
	}
}

func TestJWT(t *testing.T) {
	i := newIssuer(t)
	expires := time.Now().Add(time.Minute).Unix()
	got, err := i.jwt(t, nil).Verify(t.Context(), i.token(t, map[string]any{
		"exp": expires, "scope": "a b  c", "scp": []string{"c", "d"}, "cnf": map[string]any{"jkt": "thumb"}, "roles": []int{1},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(got.Scopes, " ") != "a b c d" || got.KeyThumbprint != "thumb" || got.Audience[0] != resource {
		t.Errorf("got %+v", got)
	}
	if got.Expires.Unix() != expires+30 {
		t.Errorf("expires %v, want the leeway after %v", got.Expires, time.Unix(expires, 0))
	}
	var all map[string]any
	if err := json.Unmarshal(got.Claims, &all); err != nil || all["roles"] == nil {
		t.Errorf("claims %s, %v", got.Claims, err)
	}
}

func TestClaims(t *testing.T) {
	i := newIssuer(t)
	v := i.jwt(t, nil)
	now := time.Now().Unix()
	for name, tt := range map[string]struct {
		change map[string]any
		want   string // "" is good
	}{
		"scp as text":           {map[string]any{"scope": nil, "scp": "a b"}, ""},
		"fractions":             {map[string]any{"exp": float64(now) + 10.5}, ""},
		"within the leeway":     {map[string]any{"exp": now - 20, "nbf": now + 20, "iat": now + 20}, ""},
		"no iat":                {map[string]any{"iat": nil}, ""},
		"only azp":              {map[string]any{"client_id": nil, "azp": "x"}, ""},
		"expired":               {map[string]any{"exp": now - 31}, "expired"},
		"no exp":                {map[string]any{"exp": nil}, "does not say when it expires"},
		"exp null":              {map[string]any{"exp": json.RawMessage("null")}, "does not say when it expires"},
		"exp as text":           {map[string]any{"exp": "tomorrow"}, "malformed"},
		"exp out of reach":      {map[string]any{"exp": 1e300}, "malformed"},
		"negative exp":          {map[string]any{"exp": -1}, "malformed"},
		"not yet":               {map[string]any{"nbf": now + 60}, "not good yet"},
		"issued in the future":  {map[string]any{"iat": now + 3600}, "not good yet"},
		"wrong issuer":          {map[string]any{"iss": "https://evil.example"}, "another issuer"},
		"issuer with slash":     {map[string]any{"iss": issuerURL + "/"}, "another issuer"},
		"no issuer":             {map[string]any{"iss": nil}, "another issuer"},
		"issuers":               {map[string]any{"iss": []string{issuerURL}}, "malformed"},
		"audience of numbers":   {map[string]any{"aud": []int{1}}, "malformed"},
		"subject":               {map[string]any{"sub": 7}, "malformed"},
		"bound to certificate":  {map[string]any{"cnf": map[string]any{"x5t#S256": "x"}}, "cannot be checked"},
		"bound to nothing":      {map[string]any{"cnf": map[string]any{}}, "cannot be checked"},
		"bound to what is none": {map[string]any{"cnf": 1}, "malformed"},
	} {
		token := i.token(t, tt.change)
		if tt.want != "" {
			refused(t, v, name, token, tt.want)
			continue
		}
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused(t, v, "duplicate claims", sign(t, jose.ES256, i.key, json.RawMessage(`{"iss":"`+issuerURL+`","exp":1,"exp":99999999999}`), map[string]any{"kid": "k1"}), "malformed")
	refused(t, v, "no object", sign(t, jose.ES256, i.key, []string{issuerURL}, map[string]any{"kid": "k1"}), "malformed")
}

// A client that has a token for itself is not the user of that name.
func TestClientIsNoUser(t *testing.T) {
	i := newIssuer(t)
	v := i.jwt(t, nil)
	user, err := v.Verify(t.Context(), i.token(t, map[string]any{"sub": "ann", "client_id": "desktop"}))
	if err != nil {
		t.Fatal(err)
	}
	client, err := v.Verify(t.Context(), i.token(t, map[string]any{"sub": "ann", "client_id": "ann"}))
	if err != nil {
		t.Fatal(err)
	}
	if user.Principal() == client.Principal() || client.Principal() != issuerURL+" client ann" {
		t.Errorf("%q and %q", user.Principal(), client.Principal())
	}
}

func TestTypes(t *testing.T) {
	i := newIssuer(t)
	v := i.jwt(t, nil)
	for kind, good := range map[any]bool{
		"at+jwt": true, "AT+JWT": true, "application/at+jwt": true, "JWT": true, nil: true,
		"dpop+jwt": false, "logout+jwt": false, "application/x": false, 7: false, "": false,
	} {
		header := map[string]any{"kid": "k1"}
		if kind != nil {
			header["typ"] = kind
		}
		token := sign(t, jose.ES256, i.key, i.claims(nil), header)
		if good {
			if _, err := v.Verify(t.Context(), token); err != nil {
				t.Errorf("%v: %v", kind, err)
			}
			continue
		}
		refused(t, v, "typ", token, "another type")
	}
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func TestForgedTokens(t *testing.T) {
	i := newIssuer(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i.reply(issuerURL+"/keys", string(keySet(t,
		jose.JSONWebKey{Key: i.key.Public(), KeyID: "k1"}, jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa"},
		jose.JSONWebKey{Key: newKey(t).Public(), KeyID: "enc", Use: "enc"}, jose.JSONWebKey{Key: []byte("a shared secret of the issuer, 32"), KeyID: "hmac"})))
	v := i.jwt(t, nil)
	claims, err := json.Marshal(i.claims(nil))
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	hs256 := func(secret []byte, kid string) string {
		signed := encode(`{"alg":"HS256","kid":"`+kid+`","typ":"at+jwt"}`) + "." + encode(string(claims))
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	mine := newKey(t)
	own := jose.JSONWebKey{Key: mine.Public(), KeyID: "k1"}
	good := i.token(t, nil)
	parts := strings.Split(good, ".")
	for name, tt := range map[string]struct{ token, want string }{
		"alg none":           {encode(`{"alg":"none","typ":"at+jwt"}`) + "." + encode(string(claims)) + ".", "no JWT"},
		"alg None":           {encode(`{"alg":"None"}`) + "." + encode(string(claims)) + ".", "no JWT"},
		"no alg":             {encode(`{}`) + "." + encode(string(claims)) + ".", "no JWT"},
		"HS256, public PEM":  {hs256(public, "rsa"), "no JWT"},
		"HS256, public DER":  {hs256(der, "rsa"), "no JWT"},
		"HS256, their key":   {hs256([]byte("a shared secret of the issuer, 32"), "hmac"), "no JWT"},
		"jwk":                {sign(t, jose.ES256, mine, i.claims(nil), map[string]any{"kid": "k1", "jwk": own}), "signature of the token is wrong"},
		"jwk, other kid":     {sign(t, jose.ES256, mine, i.claims(nil), map[string]any{"kid": "mine", "jwk": own}), "key that the issuer does not have"},
		"jku":                {sign(t, jose.ES256, mine, i.claims(nil), map[string]any{"kid": "mine", "jku": "https://evil.example/keys"}), "key that the issuer does not have"},
		"x5u":                {sign(t, jose.ES256, mine, i.claims(nil), map[string]any{"kid": "mine", "x5u": "https://evil.example/cert"}), "key that the issuer does not have"},
		"no kid":             {sign(t, jose.ES256, mine, i.claims(nil), nil), "signature of the token is wrong"},
		"key for encryption": {sign(t, jose.ES256, mine, i.claims(nil), map[string]any{"kid": "enc"}), "key that the issuer does not have"},
		"another algorithm":  {sign(t, jose.RS256, rsaKey, i.claims(nil), map[string]any{"kid": "k1"}), "key that the issuer does not have"},
		"other claims":       {parts[0] + "." + encode(strings.Replace(string(claims), "ann", "bob", 1)) + "." + parts[2], "signature of the token is wrong"},
		"critical extension": {sign(t, jose.ES256, i.key, i.claims(nil), map[string]any{"kid": "k1", "crit": []string{"x"}, "x": 1}), ""},
		"cut off":            {parts[0] + "." + parts[1] + ".", "signature of the token is wrong"},
		"opaque":             {"abc", "no JWT"},
		"JSON form":          {`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, "no JWT"},
		"oversize":           {parts[0] + "." + strings.Repeat("a", 17<<10) + "." + parts[2], "longer than"},
	} {
		refused(t, v, name, tt.token, tt.want)
	}
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Errorf("the good one: %v", err)
	}
	for url := range i.served {
		if !strings.HasPrefix(url, issuerURL+"/") {
			t.Errorf("a token had %s fetched", url)
		}
	}
}

func TestAlgorithms(t *testing.T) {
	i := newIssuer(t)
	only := i.jwt(t, func(o *auth.JWTOptions) { o.Algorithms = []string{"RS256"} })
	refused(t, only, "another one", i.token(t, nil), "algorithm")
	for _, bad := range [][]string{{"none"}, {"HS256"}, {"RS256", "HS512"}, {"A128KW"}, {""}, {}} {
		if _, err := auth.NewJWT(&auth.JWTOptions{Issuer: issuerURL, Algorithms: bad}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Skip("weak keys cannot even be made:", err)
	}
	if _, err := auth.NewJWT(&auth.JWTOptions{Issuer: issuerURL, Keys: keySet(t, jose.JSONWebKey{Key: weak.Public()})}); err == nil {
		t.Error("an RSA key of 1024 bits was accepted")
	}
}

func TestFixedKeys(t *testing.T) {
	i := newIssuer(t)
	v := i.jwt(t, func(o *auth.JWTOptions) { o.Keys = keySet(t, jose.JSONWebKey{Key: i.key.Public()}) })
	// A key without an identifier is not the key of a token that has one.
	refused(t, v, "kid", i.token(t, nil), "key that the issuer does not have")
	if _, err := v.Verify(t.Context(), sign(t, jose.ES256, i.key, i.claims(nil), nil)); err != nil {
		t.Error(err)
	}
	if len(i.served) != 0 {
		t.Errorf("fetched %v", i.served)
	}
}

func TestJWTOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		o    *auth.JWTOptions
		want string
	}{
		"none":       {nil, "Issuer"},
		"no issuer":  {&auth.JWTOptions{}, "Issuer"},
		"clear text": {&auth.JWTOptions{Issuer: "http://login.example.com"}, "must be https"},
		"keys URL":   {&auth.JWTOptions{Issuer: issuerURL, KeysURL: "http://login.example.com/keys"}, "KeysURL"},
		"both":       {&auth.JWTOptions{Issuer: issuerURL, KeysURL: issuerURL, Keys: []byte("{}")}, "exclude each other"},
		"no keys":    {&auth.JWTOptions{Issuer: issuerURL, Keys: []byte(`{"keys":[]}`)}, "no public key"},
		"junk":       {&auth.JWTOptions{Issuer: issuerURL, Keys: []byte(`x`)}, "malformed"},
	} {
		if _, err := auth.NewJWT(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// What a token says is not trusted, whatever its form.
func FuzzJWT(f *testing.F) {
	i := newIssuer(f)
	v := i.jwt(f, func(o *auth.JWTOptions) { o.Keys = keySet(f, jose.JSONWebKey{Key: i.key.Public(), KeyID: "k1"}) })
	good := i.token(f, nil)
	f.Add(good)
	f.Add("a.b.c")
	f.Add(encode(`{"alg":"none"}`) + "." + encode(`{"iss":"`+issuerURL+`"}`) + ".")
	f.Fuzz(func(t *testing.T, token string) {
		got, err := v.Verify(context.Background(), token)
		if err == nil && (got.Subject != "ann" || got.Audience[0] != resource) {
			t.Errorf("%q was accepted: %+v", token, got)
		}
		var bad *auth.TokenError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%q: %v is no *TokenError", token, err)
		}
	})
}

// Claims of any form, signed with a key of the issuer, do no harm.
func FuzzClaims(f *testing.F) {
	i := newIssuer(f)
	v := i.jwt(f, func(o *auth.JWTOptions) { o.Keys = keySet(f, jose.JSONWebKey{Key: i.key.Public(), KeyID: "k1"}) })
	for _, s := range []string{`{}`, `{"exp":1e400}`, `{"aud":["a",1]}`, `{"scope":["a b"],"scp":"c"}`, `{"cnf":null}`, `null`, `{"exp":null}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, claims string) {
		if !json.Valid([]byte(claims)) {
			t.Skip("no JSON")
		}
		token := sign(t, jose.ES256, i.key, json.RawMessage(claims), map[string]any{"kid": "k1"})
		got, err := v.Verify(context.Background(), token)
		if err == nil && (got.Issuer != issuerURL || got.Expires.Before(time.Now())) {
			t.Errorf("%s was accepted: %+v", claims, got)
		}
	})
}

// Keys of any form are accepted or left out.
func FuzzKeys(f *testing.F) {
	i := newIssuer(f)
	f.Add(string(keySet(f, jose.JSONWebKey{Key: i.key.Public(), KeyID: "k1"})))
	f.Add(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"oct","k":"AAAA"},{"kty":"OKP","crv":"Ed25519","x":"AA"},null,1]}`)
	token := i.token(f, nil)
	f.Fuzz(func(t *testing.T, doc string) {
		v, err := auth.NewJWT(&auth.JWTOptions{Issuer: issuerURL, Keys: []byte(doc)})
		if err != nil {
			return
		}
		var bad *auth.TokenError
		if _, err := v.Verify(context.Background(), token); err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %v is no *TokenError", doc, err)
		}
	})
}
