// Package auth makes an http.Handler an OAuth 2.1 resource server as MCP
// requires: it verifies access tokens, says in challenges and metadata how to
// get them, and enforces the scopes of each operation.
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
// With httpserver.Options.Guard, the last two lines are done. On any router, Protect is a
// handler like others, at the path of Resource; see the example of Guard, which is below a
// prefix.
//
// A handler finds the sender's identity in Call.Peer().Authorization. The token
// itself does not get past Protect: it is for this server only, and a server
// that calls others needs tokens of its own. One that gets these in exchange for
// the token says so with Options.KeepTokens.
//
// Spec: 2026-07-28 basic/authorization#roles.
// Spec: 2026-07-28 basic/authorization/security-considerations#access-token-privilege-restriction.
package auth
