package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/transport/streamable"
)

// login starts the parts of an authorization server that the example uses.
func login(t *testing.T) (issuer string, token func(resource, scope string) string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	answer := func(path string, v any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) })
	}
	answer("/.well-known/oauth-authorization-server", map[string]string{"issuer": web.URL, "jwks_uri": web.URL + "/keys"})
	answer("/keys", jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1"}}})
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, (&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	return web.URL, func(resource, scope string) string {
		text, err := jwt.Signed(signer).Claims(map[string]any{
			"iss": web.URL, "sub": "ann", "client_id": "test", "aud": resource, "scope": scope, "exp": time.Now().Add(time.Minute).Unix(),
		}).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

func TestProtected(t *testing.T) {
	issuer, token := login(t)
	web := httptest.NewUnstartedServer(nil)
	resource := "http://" + web.Listener.Addr().String() + "/mcp"
	mux, h, err := newHandler(issuer, resource)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = mux
	web.Start()
	defer web.Close()
	defer func() { _ = h.Close(context.Background()) }()

	connect := func(token string) (*client.Client, error) {
		header := http.Header{}
		if token != "" {
			header.Set("Authorization", "Bearer "+token)
		}
		return client.Connect(t.Context(), &streamable.Client{URL: resource, Header: header}, nil)
	}
	var refused *streamable.HTTPError
	if _, err := connect(""); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("without a token: %v", err)
	}
	reader, err := connect(token(resource, "notes:read"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	args := map[string]any{"text": "milk"}
	if _, err := client.Call[string](t.Context(), reader, "write", args); err == nil {
		t.Error("a reader could write")
	}
	writer, err := connect(token(resource, "notes:write"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	if _, err := client.Call[string](t.Context(), writer, "write", args); err != nil {
		t.Error(err)
	}
	if got, err := client.Call[string](t.Context(), reader, "read", nil); err != nil || got != "milk (ann)" {
		t.Errorf("read: %q, %v", got, err)
	}
}
