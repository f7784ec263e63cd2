// External-issuer is a server over HTTP that lets in who has an access token of an
// authorization server elsewhere. Everybody who may use it can read the note;
// changing it takes one more scope.
//
//	go run ./examples/external-issuer -issuer https://login.example.com -audience https://mcp.example.com/mcp
//
// That is behind a proxy with TLS, on the same machine, which passes on what comes to
// mcp.example.com, also the name in Host: the audience says that this name is let in.
//
// On one machine, parley has an authorization server to try it with:
//
//	parley serve --http :7332 --auth dev --user ann:secret --token-resource http://127.0.0.1:7331/mcp &
//	go run ./examples/external-issuer -issuer http://127.0.0.1:7332 -audience http://127.0.0.1:7331/mcp &
//	parley login http://127.0.0.1:7331/mcp --scope mcp:write
//	parley call http://127.0.0.1:7331/mcp write text=milk
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/httpserver"
)

// newGuard accepts tokens of the issuer that are for the audience, which is the URL
// at which clients reach the server.
func newGuard(issuer, audience string) (*auth.Guard, error) {
	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: issuer})
	if err != nil {
		return nil, err
	}
	return auth.New(&auth.Options{
		Resource:             audience,
		AuthorizationServers: []string{issuer},
		Verifier:             tokens,
		Scopes:               []string{"mcp:read"},
		Implies:              map[string][]string{"mcp:write": {"mcp:read"}},
		Rules:                auth.Rules{Tools: map[string][]string{"write": {"mcp:write"}}},
	})
}

type writing struct {
	Text string `json:"text"`
}

func newServer(guard *auth.Guard) *server.Server {
	var note atomic.Pointer[string]
	note.Store(new("nothing yet"))
	srv := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	srv.Use(guard.Enforce)
	server.AddTool(srv, mcp.Tool{Name: "read", Description: "Reads the note"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return *note.Load(), nil
	})
	server.AddTool(srv, mcp.Tool{Name: "write", Description: "Changes the note"}, func(_ context.Context, call *server.Call, in writing) (string, error) {
		note.Store(new(in.Text + " (" + call.Peer().Authorization.Subject + ")"))
		return "done", nil
	})
	return srv
}

func main() {
	addr := flag.String("addr", ":7331", "`address` to listen on")
	issuer := flag.String("issuer", "", "`URL` of the authorization server")
	audience := flag.String("audience", "", "`URL` at which clients reach this server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	guard, err := newGuard(*issuer, *audience)
	if err != nil {
		log.Fatal(err)
	}
	if err := httpserver.Serve(ctx, *addr, newServer(guard), &httpserver.Options{Guard: guard}); err != nil {
		log.Print(err)
	}
}
