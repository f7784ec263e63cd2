package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/reference"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/server"
)

// authFlags say who may use the server.
type authFlags struct {
	mode   string // "dev", a real authorization server, or "" for everybody
	users  []string
	public string
	// lifetime of an access token for development; 0 means the default.
	lifetime time.Duration

	// others are resources of other servers that the authorization server for development
	// gives tokens for.
	others []string
	// keep lets what is behind the guards have the tokens of clients.
	keep bool

	// What check has parsed from mode and users.
	real      *realServer
	passwords map[string]string
}

// realServer is what --auth says about an authorization server.
type realServer struct {
	issuer, audience, keys string
	scopes                 []string
}

// check parses the flags, and refuses those that make no sense before anything
// starts.
func (f *authFlags) check() (err error) {
	switch {
	case f.mode == "" && len(f.users) > 0:
		return usagef("--user is for --auth dev")
	case f.mode != "dev" && len(f.others) > 0:
		return usagef("--token-resource is for --auth dev")
	case slices.ContainsFunc(f.others, func(u string) bool { return !target.IsURL(u) }):
		return usagef("--token-resource %q is no URL of the form http://HOST:PORT/mcp", f.others)
	case f.mode != "dev" && f.lifetime != 0 || f.lifetime < 0:
		return usagef("--token-lifetime is for --auth dev, and must be positive")
	case f.mode == "":
		return nil
	case f.mode == "dev":
		f.passwords, err = parseUsers(f.users)
		return err
	case f.real != nil: // a file says it
		return nil
	case len(f.users) > 0:
		return usagef("--user is for --auth dev: the users are those of the authorization server")
	}
	f.real, err = parseRealServer(f.mode)
	return err
}

// parseRealServer reads "issuer=URL,audience=NAME,scopes=A B".
func parseRealServer(s string) (*realServer, error) {
	r := new(realServer)
	for part := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
		case "issuer":
			r.issuer = value
		case "audience":
			r.audience = value
		case "keys":
			r.keys = value
		case "scopes":
			r.scopes = strings.Fields(value)
		default:
			return nil, usagef(`--auth %q: there is no %q; say "dev", or "issuer=URL,audience=NAME,scopes=A B"`, s, name)
		}
	}
	if r.issuer == "" {
		return nil, usagef(`--auth %q names no issuer; say "dev", or "issuer=URL,audience=NAME,scopes=A B"`, s)
	}
	return r, nil
}

// parseUsers reads the users for development.
func parseUsers(flags []string) (map[string]string, error) {
	users := make(map[string]string, len(flags))
	for _, u := range flags {
		name, password, ok := strings.Cut(u, ":")
		if !ok || name == "" || password == "" {
			return nil, usagef("--user %q is not of the form NAME:PASSWORD", name)
		}
		users[name] = password
	}
	return users, nil
}

// gates protect the endpoints of the server at an origin.
type gates struct {
	options auth.Options
	origin  string
	guards  map[string]*auth.Guard // by the paths of the endpoints
	first   *auth.Guard
	server  *devauth.Server // nil with a real authorization server
}

// gates returns what protects the server; nil lets everybody in.
func (a *app) gates(f *authFlags, origin string, at []endpoint, logger *slog.Logger) (*gates, error) {
	switch f.mode {
	case "":
		return nil, nil //nolint:nilnil // nothing is protected
	case "dev":
		return a.devGates(f, origin, at, logger)
	}
	r := f.real
	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: r.issuer, KeysURL: r.keys})
	if err != nil {
		return nil, usagef("--auth: %v", err)
	}
	o := auth.Options{AuthorizationServers: []string{r.issuer}, Verifier: tokens, Scopes: r.scopes, DPoP: auth.DPoPAccepted, KeepTokens: f.keep, Logger: logger}
	if r.audience != "" {
		o.Audiences = []string{r.audience}
	}
	return newGates(o, origin, at)
}

// devGates embeds an authorization server for development.
func (a *app) devGates(f *authFlags, origin string, at []endpoint, logger *slog.Logger) (*gates, error) {
	users := maps.Clone(f.passwords)
	if len(users) == 0 {
		users["dev"] = rand.Text()
		a.err.printf("log in as %s with the password %s; --user names others\n", "dev", users["dev"])
	}
	resources := make([]string, len(at))
	for i, e := range at {
		resources[i] = origin + e.path
	}
	s, err := devauth.New(devauth.Options{
		Issuer: origin, Resources: append(resources, f.others...), Users: users, Scopes: reference.Scopes(), AccessLifetime: f.lifetime, Logger: logger,
	})
	if err != nil {
		return nil, usagef("--auth dev: %v", err)
	}
	keys, err := wire.Marshal(s.Keys())
	if err != nil {
		return nil, err
	}
	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: origin, Keys: keys, Leeway: -1}) // both sides have the same clock
	if err != nil {
		return nil, err
	}
	g, err := newGates(auth.Options{
		AuthorizationServers: []string{origin},
		Verifier:             unrevoked(tokens, s),
		Scopes:               []string{reference.ScopeRead},
		Implies:              map[string][]string{reference.ScopeWrite: {reference.ScopeRead}},
		Rules:                auth.Rules{Tools: reference.ToolScopes()},
		DPoP:                 auth.DPoPAccepted,
		Logger:               logger,
	}, origin, at)
	if err == nil {
		g.server = s
		logger.Info("authorization server for development", "issuer", origin, "users", slices.Sorted(maps.Keys(users)))
	}
	return g, err
}

// unrevoked asks the authorization server in this process whether a token was
// revoked, which the token itself does not say.
func unrevoked(tokens *auth.JWT, s *devauth.Server) auth.VerifierFunc {
	return func(ctx context.Context, token string) (*auth.Token, error) {
		t, err := tokens.Verify(ctx, token)
		if err != nil {
			return nil, err
		}
		var claims struct {
			ID string `json:"jti"`
		}
		if err := wire.Unmarshal(t.Claims, &claims); err != nil || s.Revoked(claims.ID) {
			return nil, auth.Invalid("the token was revoked")
		}
		return t, nil
	}
}

// newGates makes a guard for each endpoint: each is a resource of its own.
func newGates(o auth.Options, origin string, at []endpoint) (*gates, error) {
	info := at[0].handler.Describe(context.Background(), nil).Info
	o.Name = cmp.Or(info.Title, info.Name)
	g := &gates{options: o, origin: origin}
	if err := g.admit(at); err != nil {
		return nil, err
	}
	g.first = g.guards[at[0].path]
	return g, nil
}

// admit makes these the endpoints that are guarded. The first one stays.
func (g *gates) admit(at []endpoint) error {
	if g == nil {
		return nil
	}
	next := make(map[string]*auth.Guard, len(at))
	for _, e := range at {
		guard := g.guards[e.path]
		if guard == nil {
			o := g.options
			o.Resource = g.origin + e.path
			var err error
			if guard, err = auth.New(&o); err != nil {
				return usagef("--auth: %v", err)
			}
		}
		next[e.path] = guard
	}
	g.guards = next
	return nil
}

// enforce makes the tools of the server require their scopes.
func (g *gates) enforce(s *server.Server) {
	if g != nil {
		s.Use(g.first.Enforce)
	}
}

// protect returns what lets only those through to an endpoint who may use it.
func (g *gates) protect(path string, h http.Handler) http.Handler {
	if g == nil {
		return h
	}
	return g.guards[path].Protect(h)
}

// protectPage returns what lets only those through to a page who may use the first
// endpoint.
func (g *gates) protectPage(h http.Handler) http.Handler {
	if g == nil {
		return h
	}
	return g.first.Protect(h)
}

// mount adds what clients need to log in.
func (g *gates) mount(mux *http.ServeMux) {
	if g == nil {
		return
	}
	if g.server != nil { // before the guards, which would speak for it
		g.server.Mount(mux)
	}
	g.first.Mount(mux) // what is for the origin as a whole is about this one
	for _, guard := range g.guards {
		if guard != g.first {
			guard.Mount(mux)
		}
	}
}

// origin returns the origin at which clients reach the server.
func (f *httpFlags) origin(address string) (string, error) {
	if f.auth.public == "" {
		return f.scheme() + "://" + address, nil
	}
	origin := strings.TrimSuffix(f.auth.public, "/")
	if !target.IsURL(origin) || strings.Count(origin, "/") != 2 {
		return "", usagef("--public-url %q is not of the form https://HOST[:PORT]", f.auth.public)
	}
	return origin, nil
}

func (f *httpFlags) scheme() string {
	if f.cert != "" {
		return "https"
	}
	return "http"
}
