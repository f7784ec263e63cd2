// Protected is a server over HTTP that requires access tokens of an
// authorization server. Everybody who may use it can read the note; changing it
// takes one more scope.
//
//	go run ./examples/protected -issuer https://login.example.com -resource http://127.0.0.1:7331/mcp
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

func newGuard(issuer, resource string) (*auth.Guard, error) {
	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: issuer})
	if err != nil {
		return nil, err
	}
	return auth.New(&auth.Options{
		Resource:             resource,
		AuthorizationServers: []string{issuer},
		Verifier:             tokens,
		Scopes:               []string{"notes:read"},
		Implies:              map[string][]string{"notes:write": {"notes:read"}},
		Rules:                auth.Rules{Tools: map[string][]string{"write": {"notes:write"}}},
		Name:                 "Notes",
	})
}

func newServer(g *auth.Guard) *server.Server {
	var note atomic.Pointer[string]
	note.Store(new("nothing yet"))
	srv := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	srv.Use(g.Enforce)
	server.AddTool(srv, mcp.Tool{Name: "read", Description: "Reads the note"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return *note.Load(), nil
	})
	server.AddTool(srv, mcp.Tool{Name: "write", Description: "Changes the note"}, func(_ context.Context, call *server.Call, in struct {
		Text string `json:"text"`
	},
	) (string, error) {
		note.Store(new(in.Text + " (" + call.Peer().Authorization.Subject + ")"))
		return "done", nil
	})
	return srv
}

// newHandler serves the endpoint, and the metadata that leads clients to the
// authorization server.
func newHandler(issuer, resource string) (http.Handler, *streamable.Handler, error) {
	g, err := newGuard(issuer, resource)
	if err != nil {
		return nil, nil, err
	}
	at, err := url.Parse(resource)
	if err != nil {
		return nil, nil, err
	}
	h, err := streamable.New(newServer(g), &streamable.Options{Hosts: []string{at.Hostname()}})
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(at.Path, g.Protect(h))
	g.Mount(mux)
	return mux, h, nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:7331", "address to listen on")
	issuer := flag.String("issuer", "", "authorization server whose tokens are accepted")
	resource := flag.String("resource", "http://127.0.0.1:7331/mcp", "URL at which clients reach the endpoint")
	flag.Parse()
	mux, h, err := newHandler(*issuer, *resource)
	if err != nil {
		log.Fatal(err)
	}
	web := &http.Server{Addr: *addr, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	web.RegisterOnShutdown(func() { _ = h.Close(context.Background()) })
	log.Fatal(web.ListenAndServe())
}
