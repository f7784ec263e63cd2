package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/httpserver"
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

// Tokens say what their senders may do, in every revision.
func TestTokens(t *testing.T) {
	issuer, token := login(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/mcp"
	guard, err := newGuard(issuer, url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { // ends with stop
		served <- httpserver.ServeOn(ctx, l, newServer(guard), &httpserver.Options{Guard: guard})
	}()
	for _, mode := range mcptest.AllModes() {
		if mode.Transport == mcptest.HTTP {
			t.Run(mode.Revision.String(), func(t *testing.T) {
				use(t, func(token string) (*client.Client, error) {
					header := http.Header{}
					if token != "" {
						header.Set("Authorization", "Bearer "+token)
					}
					return client.Connect(t.Context(), &streamable.Client{URL: url, Header: header}, &client.Options{Revisions: []mcp.Revision{mode.Revision}})
				}, token("http://other.example.com", "mcp:write"), token(url, "mcp:read"), token(url, "mcp:write"))
			})
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// As documented, the server is behind a proxy that passes Host on. Other hosts are
// refused, whatever their token.
func TestBehindProxy(t *testing.T) {
	issuer, token := login(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const audience = "https://mcp.example.com/mcp"
	guard, err := newGuard(issuer, audience)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { // ends with stop
		served <- httpserver.ServeOn(ctx, l, newServer(guard), &httpserver.Options{Guard: guard})
	}()
	header := http.Header{"Authorization": {"Bearer " + token(audience, "mcp:write")}}
	connect := func(host string) (*client.Client, error) {
		through := &http.Client{Transport: proxy{host}}
		return client.Connect(t.Context(), &streamable.Client{URL: "http://" + l.Addr().String() + "/mcp", Header: header, HTTP: through}, nil)
	}
	c, err := connect("mcp.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Call[string](t.Context(), c, "read", nil); err != nil {
		t.Error(err)
	}
	_ = c.Close() // nothing is lost
	var refused *streamable.HTTPError
	if _, err := connect("evil.example.com"); !errors.As(err, &refused) || refused.Status != http.StatusForbidden {
		t.Errorf("another host: %v", err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// proxy sends requests with the Host that clients of a proxy use.
type proxy struct{ host string }

func (p proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = p.host
	return http.DefaultTransport.RoundTrip(r)
}

func use(t *testing.T, connect func(token string) (*client.Client, error), other, reads, writes string) {
	t.Helper()
	for _, token := range []string{"", other} {
		var refused *streamable.HTTPError
		if _, err := connect(token); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
			t.Errorf("with %q: %v", token, err)
		}
	}
	reader, err := connect(reads)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	milk := writing{"milk"}
	if _, err := client.Call[string](t.Context(), reader, "write", milk); err == nil {
		t.Error("a reader could write")
	}
	writer, err := connect(writes)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	if _, err := client.Call[string](t.Context(), writer, "write", milk); err != nil {
		t.Error(err)
	}
	if got, err := client.Call[string](t.Context(), reader, "read", nil); err != nil || got != "milk (ann)" {
		t.Errorf("read: %q, %v", got, err)
	}
}
