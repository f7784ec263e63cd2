package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
)

// Options configure a Guard. New copies them; the slices and maps in them must
// not be changed afterwards.
type Options struct {
	// Resource is the canonical URI of the MCP endpoint, as clients reach it,
	// for example "https://mcp.example.com/mcp". Required. Its scheme is https,
	// unless it is on the loopback.
	//
	// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
	Resource string
	// AuthorizationServers are the issuers whose tokens are accepted. Required.
	AuthorizationServers []string
	// Verifier verifies the tokens. Required.
	Verifier Verifier
	// Audiences are what a token may be for besides Resource, where the
	// authorization server has names of its own for resources. None of them may
	// also be the audience of another server.
	Audiences []string
	// Scopes are the scopes that every request needs.
	Scopes []string
	// ScopesSupported are the scopes that the metadata tells clients to ask for
	// at first. They should be the minimum that is useful: the challenge names
	// others when a client tries an operation that needs them. nil means Scopes.
	//
	// Spec: 2026-07-28 basic/authorization#scope-selection-strategy.
	ScopesSupported []string
	// Implies says which scopes a scope includes; what those include is
	// included, too: {"admin": {"write"}, "write": {"read"}}.
	Implies map[string][]string
	// Rules are the scopes of individual operations; see Enforce and Visible.
	Rules Rules

	// Name, Documentation, Policy and Terms describe the resource in the
	// metadata: a name for people, and URLs of pages. Each may be "".
	Name, Documentation, Policy, Terms string

	// DPoP says whether tokens that are bound to a key of the client are
	// accepted. The zero value is DPoPOff.
	DPoP DPoPPolicy
	// DPoPNonces demands a nonce of this process in each proof, so that nobody
	// can make proofs ahead of time.
	DPoPNonces bool
	// URL returns the URL that a client sent a request to, which proofs must
	// name. nil means the path of the request at the origin of Resource, which
	// is right unless a proxy or http.StripPrefix changes the path.
	URL func(r *http.Request) string

	// KeepTokens lets what is behind the Guard have the tokens, by AccessToken, to
	// exchange them for others at their issuer (RFC 8693). Without it, nothing behind
	// the Guard can pass a token on.
	KeepTokens bool

	// HTTP fetches the metadata of the first authorization server, which
	// IssuerMetadata serves to clients of 2025-03-26. nil is as in JWTOptions.
	HTTP *http.Client
	// Logger receives reports of refused requests, but never a token. nil means
	// slog.Default().
	Logger *slog.Logger
}

// DPoPPolicy says whether access tokens may or must be bound to a key (RFC
// 9449).
type DPoPPolicy uint8

// The policies.
const (
	// DPoPOff refuses tokens that are bound to a key.
	DPoPOff DPoPPolicy = iota
	// DPoPAccepted accepts them with a proof of possession, and bearer tokens as
	// well.
	DPoPAccepted
	// DPoPRequired accepts them with a proof of possession, and no others.
	DPoPRequired
)

func (o *Options) check() (*url.URL, error) {
	u, err := checkResource(o.Resource)
	switch {
	case err != nil:
		return nil, fmt.Errorf("auth.Options.Resource %q: %w", o.Resource, err)
	case len(o.AuthorizationServers) == 0:
		return nil, errors.New("auth.Options.AuthorizationServers is empty; it must name the issuer whose tokens are taken")
	case o.Verifier == nil:
		return nil, errors.New("auth.Options.Verifier is missing; see NewJWT and NewIntrospection")
	case o.DPoP > DPoPRequired:
		return nil, fmt.Errorf("auth.Options.DPoP is %d", o.DPoP)
	case o.DPoPNonces && o.DPoP == DPoPOff:
		return nil, errors.New("auth.Options.DPoPNonces is set, but DPoP is off")
	case slices.Contains(o.Audiences, ""):
		return nil, errors.New(`auth.Options.Audiences holds ""`)
	}
	for _, issuer := range o.AuthorizationServers {
		if _, err := checkIssuer(issuer); err != nil {
			return nil, fmt.Errorf("auth.Options.AuthorizationServers: %w", err)
		}
	}
	return u, o.checkScopes()
}

// checkResource refuses what RFC 8707 does not allow as a resource, and what
// would have no well-known URI.
func checkResource(s string) (*url.URL, error) {
	u, err := httpcall.ParseURL(s)
	switch {
	case err != nil:
		return nil, errors.New("it must be an http or https URL with a host")
	case strings.Contains(s, "#") || strings.Contains(s, "?"):
		return nil, errors.New("it must have no fragment and no query")
	case u.User != nil:
		return nil, errors.New("it must not hold a user name")
	case u.Scheme == "http" && !safehttp.IsLoopback(u):
		return nil, errors.New("it must be https, because it is not on the loopback")
	}
	return u, nil
}

// checkIssuer refuses what cannot be an issuer identifier (RFC 8414, section
// 2), except that http is allowed on the loopback.
func checkIssuer(s string) (*url.URL, error) {
	u, err := checkResource(s)
	if err != nil {
		return nil, fmt.Errorf("issuer %q: %w", s, err)
	}
	return u, nil
}

func (o *Options) checkScopes() error {
	for _, list := range []struct {
		name   string
		scopes []string
	}{{"Scopes", o.Scopes}, {"ScopesSupported", o.ScopesSupported}} {
		if err := checkScopes(list.scopes); err != nil {
			return fmt.Errorf("auth.Options.%s: %w", list.name, err)
		}
	}
	for scope, implied := range o.Implies {
		if err := checkScopes(append([]string{scope}, implied...)); err != nil {
			return fmt.Errorf("auth.Options.Implies: %w", err)
		}
	}
	return nil
}
