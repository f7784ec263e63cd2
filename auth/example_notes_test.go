package auth_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// tokens verifies tokens by looking them up. Most programs use a JWT instead:
// auth.NewJWT(&auth.JWTOptions{Issuer: "https://login.example.com"}).
var tokens = auth.VerifierFunc(func(_ context.Context, token string) (*auth.Token, error) {
	scopes, known := map[string][]string{"anns": {"notes:read", "notes:write"}, "bobs": {"notes:read"}}[token]
	if !known {
		return nil, auth.Invalid("nobody has been given this token")
	}
	return &auth.Token{
		Authorization: mcp.Authorization{Subject: token[:3], Scopes: scopes, Expires: time.Now().Add(time.Hour)},
		Audience:      []string{"https://mcp.example.com/mcp"},
	}, nil
})

func newGuard() *auth.Guard {
	guard, err := auth.New(&auth.Options{
		Resource:             "https://mcp.example.com/mcp",
		AuthorizationServers: []string{"https://login.example.com"},
		Verifier:             tokens,
		Scopes:               []string{"notes:read"},
		Rules:                auth.Rules{Tools: map[string][]string{"write": {"notes:write"}}},
		Logger:               slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

// An endpoint with a guard around it: whoever has no token is told where to get one.
func Example() {
	guard := newGuard()
	srv := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	srv.Use(guard.Enforce)
	server.AddTool(srv, mcp.Tool{Name: "write"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		return "written by " + call.Peer().Authorization.Subject, nil
	})
	h, err := streamable.New(srv, nil)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", guard.Protect(h))
	guard.Mount(mux)

	site := mcptest.NewSite(mux)
	defer site.Close()
	for _, token := range []string{"anns", "bobs", "stolen"} {
		fmt.Println(write(&streamable.Client{URL: site.URL + "/mcp", HTTP: site.Client, Header: http.Header{"Authorization": {"Bearer " + token}}}))
	}
	// Output:
	// written by ann
	// 403 Bearer error="insufficient_scope", error_description="the operation needs more scopes than were granted", scope="notes:read notes:write", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// not authorized: true
}

func write(t mcp.Transport) string {
	ctx := context.Background()
	c, err := client.Connect(ctx, t, nil)
	if err != nil {
		return fmt.Sprint("not authorized: ", errors.Is(err, mcp.ErrUnauthorized))
	}
	defer func() { _ = c.Close() }()
	text, err := client.Call[string](ctx, c, "write", nil)
	var refused *streamable.HTTPError
	if errors.As(err, &refused) {
		return fmt.Sprint(refused.Status, " ", refused.Header.Get("WWW-Authenticate"))
	}
	return text
}

// What a call needs may depend on its arguments.
func ExampleGuard_Require() {
	guard := newGuard()
	read := func(x *mcp.Exchange, file string) (string, error) {
		if file == "secret.txt" {
			if err := guard.Require(x, "notes:secret"); err != nil {
				return "", err // over HTTP a 403 that names the scopes
			}
		}
		return "the text of " + file, nil
	}
	x := &mcp.Exchange{Peer: mcp.Peer{Authorization: &mcp.Authorization{Scopes: []string{"notes:read"}}}} // in a handler: call.Exchange()
	fmt.Println(read(x, "public.txt"))
	fmt.Println(read(x, "secret.txt"))
	// Output:
	// the text of public.txt <nil>
	//  Forbidden: the operation needs more scopes than were granted
}

// Tokens of two authorization servers are accepted.
func ExampleAnyOf() {
	own := auth.VerifierFunc(func(_ context.Context, token string) (*auth.Token, error) {
		if token != "own" {
			return nil, auth.Invalid("this server has not issued it")
		}
		return &auth.Token{Authorization: mcp.Authorization{Subject: "cy"}}, nil
	})
	both := auth.AnyOf(own, tokens)
	for _, token := range []string{"own", "anns", "stolen"} {
		who, err := both.Verify(context.Background(), token)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(who.Subject)
	}
	// Output:
	// cy
	// ann
	// nobody has been given this token
}
