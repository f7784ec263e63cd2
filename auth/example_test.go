package auth_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// The endpoint is one route among others, below a prefix. Its well-known documents are at the
// root of the host, with the whole path of the endpoint, prefix included. Other routers take
// the same two: the guarded handler at the path of the endpoint, and a ServeMux that
// Mount has filled, for everything below /.well-known/.
func ExampleGuard() {
	guard, err := auth.New(&auth.Options{
		Resource:             "https://example.com/api/mcp", // as clients reach it
		AuthorizationServers: []string{"https://login.example.com"},
		Verifier: auth.VerifierFunc(func(context.Context, string) (*auth.Token, error) { // or that of auth.NewJWT
			return nil, auth.Invalid("not a token of ours")
		}),
		Scopes: []string{"mcp"},
	})
	if err != nil {
		log.Fatal(err)
	}
	srv := server.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, nil)
	srv.Use(guard.Enforce)
	endpoint, err := streamable.New(srv, nil)
	if err != nil {
		log.Fatal(err)
	}

	api := http.NewServeMux()
	api.Handle("/mcp", guard.Protect(endpoint))
	api.HandleFunc("GET /users", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "[]") })
	documents := http.NewServeMux()
	guard.Mount(documents)
	root := http.NewServeMux()
	root.Handle("/api/", http.StripPrefix("/api", api)) // chi: Mount("/api", …); gorilla: PathPrefix("/api")
	root.Handle("/.well-known/", documents)             // chi: Handle("/.well-known/*", …); gorilla: PathPrefix("/.well-known/")

	for _, path := range []string{"/api/mcp", "/api/users", "/.well-known/oauth-protected-resource/api/mcp"} {
		r := httptest.NewRequest(http.MethodGet, "https://example.com"+path, nil)
		w := httptest.NewRecorder()
		root.ServeHTTP(w, r)
		fmt.Println(w.Code, path)
		if challenge := w.Header().Get("WWW-Authenticate"); challenge != "" {
			fmt.Println("  " + challenge)
		}
	}
	_ = endpoint.Close(context.Background())
	// Output:
	// 401 /api/mcp
	//   Bearer scope="mcp", resource_metadata="https://example.com/.well-known/oauth-protected-resource/api/mcp"
	// 200 /api/users
	// 200 /.well-known/oauth-protected-resource/api/mcp
}
