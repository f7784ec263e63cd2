// Package auth makes an http.Handler an OAuth 2.1 resource server as MCP wants
// it: it verifies access tokens, says in challenges and metadata how to get
// them, and holds each operation to its scopes.
//
//	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: "https://login.example.com"})
//	...
//	guard, err := auth.New(&auth.Options{
//		Resource:             "https://mcp.example.com/mcp",
//		AuthorizationServers: []string{"https://login.example.com"},
//		Verifier:             tokens,
//		Scopes:               []string{"mcp"},
//		Rules:                auth.Rules{Tools: map[string][]string{"delete": {"files:write"}}},
//	})
//	...
//	srv.Use(guard.Enforce)
//	mux.Handle("/mcp", guard.Protect(handler))
//	guard.Mount(mux)
//
// A handler finds who asks in Call.Peer().Authorization. The token itself is
// nowhere behind Protect: it is for this server, and a server that calls others
// needs tokens of its own.
//
// Spec: 2026-07-28 basic/authorization#roles.
// Spec: 2026-07-28 basic/authorization/security-considerations#access-token-privilege-restriction.
package auth
