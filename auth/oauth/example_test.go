package oauth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
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
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "client_credentials"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "none"}, "code_challenge_methods_supported": []string{"S256"},
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) { // a user who agrees at once
		q := r.URL.Query()
		back := url.Values{"code": {"c0de"}, "state": {q.Get("state")}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
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

// visit stands in for the browser of a user who agrees to everything.
func visit(web *httptest.Server) func(ctx context.Context, page string) error {
	return func(_ context.Context, page string) error {
		resp, err := web.Client().Get(page)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
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

// A program that acts for itself has no user to ask. Its credentials are sent to the issuer
// that they are for, and to nobody else.
func ExampleClientCredentials() {
	web := company()
	defer web.Close()
	for _, issuer := range []string{web.URL, "https://login.example.com"} {
		login, err := oauth.New(&oauth.Options{
			URL:    web.URL + "/mcp",
			Grant:  &oauth.ClientCredentials{Issuer: issuer, Client: oauth.Credentials{ClientID: "robot", Secret: "s3cret"}},
			Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			log.Print(err)
			return
		}
		ctx := context.Background()
		refused := login.Login(ctx) != nil // a Transport does it by itself when a server demands a token
		fmt.Println(refused, login.Status(ctx).LoggedIn)
		login.Close()
	}
	// Output:
	// false true
	// true false
}

// The user logs in with the browser of this machine. Where none opens, Show has the address.
func ExampleLoopback() {
	web := company()
	defer web.Close()
	login, err := oauth.New(&oauth.Options{
		URL:           web.URL + "/mcp",
		PreRegistered: map[string]oauth.Credentials{web.URL: {ClientID: "desktop"}},
		Grant: &oauth.AuthorizationCode{Receiver: &oauth.Loopback{
			Path: "/done",
			Show: func(r oauth.AuthorizationRequest) {
				page, _ := url.Parse(r.URL)
				back, _ := url.Parse(page.Query().Get("redirect_uri"))
				fmt.Println("open", page.Path, "and come back to", back.Hostname()+back.Path)
			},
			Open: visit(web), // without it, the browser is opened
		}},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Print(err)
		return
	}
	defer login.Close()
	ctx := context.Background()
	fmt.Println(login.Login(ctx), login.Status(ctx).LoggedIn)
	// Output:
	// open /authorize and come back to 127.0.0.1/done
	// <nil> true
}

// Tokens that are kept in a folder are there when the program runs again.
func ExampleNewFileStore() {
	web := company()
	defer web.Close()
	dir, err := os.MkdirTemp("", "example") // in a program, below os.UserConfigDir()
	if err != nil {
		log.Print(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, run := range []string{"first", "second"} {
		store, err := oauth.NewFileStore(filepath.Join(dir, "tokens"))
		if err != nil {
			log.Print(err)
			return
		}
		login, err := oauth.New(&oauth.Options{
			URL:           web.URL + "/mcp",
			Store:         store,
			PreRegistered: map[string]oauth.Credentials{web.URL: {ClientID: "desktop"}},
			Grant:         &oauth.AuthorizationCode{Receiver: &oauth.Loopback{Open: visit(web)}},
			Logger:        slog.New(slog.DiscardHandler),
		})
		if err != nil {
			log.Print(err)
			return
		}
		ctx := context.Background()
		if !login.Status(ctx).LoggedIn {
			fmt.Println(run, "run: the user is asked", login.Login(ctx))
		}
		fmt.Println(run, "run: logged in", login.Status(ctx).LoggedIn)
		login.Close()
	}
	// Output:
	// first run: the user is asked <nil>
	// first run: logged in true
	// second run: logged in true
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
