package auth_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/parley-mcp/parley/auth"
)

// login stands in for an authorization server that signs its tokens: it has one key, and
// a token says whose it is, what it is for and when it expires.
type login struct{ key ed25519.PrivateKey }

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		log.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func (l login) token(subject string, expires time.Time) string {
	signed := encoded(map[string]string{"alg": "EdDSA", "kid": "k1", "typ": "at+jwt"}) + "." + encoded(map[string]any{
		"iss": "https://login.example.com", "aud": "https://mcp.example.com/mcp", "sub": subject, "scope": "notes:read",
		"client_id": "notebook", "iat": expires.Add(-time.Hour).Unix(), "exp": expires.Unix(),
	})
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(l.key, []byte(signed)))
}

// keys is the set of public keys (JWKS) that the authorization server publishes.
func (l login) keys() []byte {
	x := base64.RawURLEncoding.EncodeToString(l.key.Public().(ed25519.PublicKey))
	return []byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":"` + x + `"}]}`)
}

// Signed tokens are verified without asking anybody. Most programs set Issuer alone: the
// keys are then fetched from where the issuer's metadata says, and again when they change.
func ExampleNewJWT() {
	issuer := login{ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: "https://login.example.com", Keys: issuer.keys()})
	if err != nil {
		log.Fatal(err)
	}
	for _, token := range []string{
		issuer.token("ann", time.Now().Add(time.Hour)),
		issuer.token("ann", time.Now().Add(-time.Hour)),
	} {
		t, err := tokens.Verify(context.Background(), token)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(t.Subject, t.Scopes, t.Audience) // the Guard looks whether the audience is its Resource
	}
	// Output:
	// ann [notes:read] [https://mcp.example.com/mcp]
	// the token has expired
}

// Tokens that only their issuer understands are shown to it, and its answers are kept for
// MaxAge. A revoked token can be good for as long.
func ExampleNewIntrospection() {
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if name, secret, _ := r.BasicAuth(); name != "notes" || secret != "s3cret" || r.FormValue("token") != "anns" {
			_, _ = fmt.Fprint(w, `{"active":false}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"active":true,"sub":"ann","scope":"notes:read","aud":"https://mcp.example.com/mcp","exp":%d}`, time.Now().Add(time.Hour).Unix())
	}))
	defer issuer.Close()
	tokens, err := auth.NewIntrospection(&auth.IntrospectionOptions{
		Issuer:       issuer.URL,
		Endpoint:     issuer.URL + "/introspect", // "" finds it in the issuer's metadata
		ClientID:     "notes",
		ClientSecret: "s3cret",
		MaxAge:       10 * time.Second,
	})
	if err != nil {
		log.Print(err)
		return
	}
	for _, token := range []string{"anns", "revoked"} {
		t, err := tokens.Verify(context.Background(), token)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(t.Subject, t.Scopes, t.Audience)
	}
	// Output:
	// ann [notes:read] [https://mcp.example.com/mcp]
	// the token is not good, or not any more
}
