package oauth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// company is a site with an MCP server at /mcp, and an authorization server that gives
// out one token. The caller must call Close.
func company() *httptest.Server {
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	answer := func(path string, v any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		})
	}
	answer("/.well-known/oauth-authorization-server", map[string]any{
		"issuer": web.URL, "token_endpoint": web.URL + "/token", "authorization_endpoint": web.URL + "/authorize",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"client_credentials"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic"}, "code_challenge_methods_supported": []string{"S256"},
	})
	answer("/token", map[string]any{"access_token": "t0ken", "token_type": "Bearer", "expires_in": 3600})

	quiet := slog.New(slog.DiscardHandler)
	guard, err := auth.New(&auth.Options{
		Resource: web.URL + "/mcp", AuthorizationServers: []string{web.URL}, Logger: quiet,
		Verifier: auth.VerifierFunc(func(_ context.Context, token string) (*auth.Token, error) {
			if token != "t0ken" {
				return nil, auth.Invalid("unknown token")
			}
			who := mcp.Authorization{ClientID: "robot", Expires: time.Now().Add(time.Hour)}
			return &auth.Token{Authorization: who, Audience: []string{web.URL + "/mcp"}}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	srv := server.New(mcp.Implementation{Name: "company", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "whoami"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		return call.Peer().Authorization.ClientID, nil
	})
	h, err := streamable.New(srv, nil)
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/mcp", guard.Protect(h))
	guard.Mount(mux)
	return web
}

// A program gets a token when the server demands one. Without a Grant, its user would
// log in with the browser.
func ExampleClient_Transport() {
	web := company()
	defer web.Close()
	login, err := oauth.New(&oauth.Options{
		URL:    web.URL + "/mcp",
		Grant:  &oauth.ClientCredentials{Issuer: web.URL, Client: oauth.Credentials{ClientID: "robot", Secret: "s3cret"}},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Print(err)
		return
	}
	defer login.Close()

	ctx := context.Background()
	t := &streamable.Client{URL: web.URL + "/mcp", HTTP: &http.Client{Transport: login.Transport(nil)}}
	c, err := client.Connect(ctx, t, nil)
	if err != nil {
		log.Print(err)
		return
	}
	defer func() { _ = c.Close() }()
	fmt.Println(client.Call[string](ctx, c, "whoami", nil))
	// Output: robot <nil>
}

// Log in on a machine without a browser.
func ExamplePaste() {
	login, err := oauth.New(&oauth.Options{
		URL:   "https://mcp.example.com/mcp",
		Grant: &oauth.AuthorizationCode{Receiver: &oauth.Paste{Out: os.Stderr, In: os.Stdin}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer login.Close()
	fmt.Println(login.Status(context.Background()).LoggedIn)
	// Output: false
}

// Credentials do not get into logs.
func ExampleSecret() {
	c := oauth.Credentials{ClientID: "robot", Secret: "s3cret"}
	fmt.Printf("%v\n", c.Secret)
	// Output: [secret]
}
