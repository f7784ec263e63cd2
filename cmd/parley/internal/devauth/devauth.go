// Package devauth is an OAuth 2.1 authorization server for development: it
// lives in the process of the MCP server that it protects, so that the whole
// flow runs on one machine. It implements all of it, and nothing outlives the
// process.
//
// Its issuer is an origin without a path. The well-known documents are then at
// their plain paths; clients of 2025-03-26, which look only at the origin of
// the MCP server, find the same ones; and the endpoints are where those clients
// expect them if they find no document at all.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
package devauth

import (
	"crypto/rand"
	"net/http"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/dpop"
	"github.com/parley-mcp/parley/internal/wellknown"
)

// Server is an authorization server. It is safe for concurrent use, and has no
// goroutines of its own.
type Server struct {
	opts   Options
	secret []byte // authenticates what the server hands out and gets back

	signer   *signer
	clients  *clients
	sessions *shelf[string]   // users, by the cookie
	consents *shelf[[]string] // scopes, by user, client and resource
	codes    *shelf[*code]
	grants   *grants
	attempts attempts
	seen     *shelf[struct{}] // client assertions
	proofs   *dpop.Verifier
	nonces   *dpop.Nonces // nil if proofs need none
	foreign  *http.CrossOriginProtection
	mux      *http.ServeMux
}

// New returns a server. It fails when the options contradict each other.
func New(o Options) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	signer, err := newSigner(o.Issuer)
	if err != nil {
		return nil, err
	}
	known, err := newClients(o)
	if err != nil {
		return nil, err
	}
	s := &Server{
		opts: o, secret: make([]byte, 32), signer: signer, clients: known,
		sessions: newShelf[string](10_000), consents: newShelf[[]string](10_000), codes: newShelf[*code](10_000),
		grants: newGrants(100_000), seen: newShelf[struct{}](10_000),
		foreign: http.NewCrossOriginProtection(),
	}
	_, _ = rand.Read(s.secret) // never fails
	if o.DPoPNonces {
		s.nonces = dpop.NewNonces(0)
	}
	s.proofs = dpop.NewVerifier(dpop.Options{Nonces: s.nonces})
	s.mux = http.NewServeMux()
	s.Mount(s.mux)
	return s, nil
}

// Keys returns the public keys that access tokens are signed with, for a
// resource server in the same process. The resource server has to call Revoked
// as well.
func (s *Server) Keys() jose.JSONWebKeySet { return s.signer.keys() }

// Revoked reports whether the access token with an identifier (its claim jti)
// was revoked before it expired, or is not from this server.
func (s *Server) Revoked(id string) bool { return !s.grants.stands(id) }

// Handler returns a handler for all paths of the server.
func (s *Server) Handler() http.Handler { return s.mux }

// Mount adds the paths of the server to those of its origin. It panics if mux
// already has one of them.
//
// Spec: 2025-03-26 basic/authorization#fallbacks-for-servers-without-metadata-discovery.
func (s *Server) Mount(mux *http.ServeMux) {
	metadata := public(http.MethodGet, s.metadata)
	mux.Handle(wellknown.OAuth, metadata)
	mux.Handle(wellknown.OpenID, metadata)
	mux.Handle(pathKeys, public(http.MethodGet, s.jwks))
	mux.Handle(pathRegister, public(http.MethodPost, s.register))
	mux.Handle(pathToken, public(http.MethodPost, s.token))
	mux.Handle(pathRevoke, public(http.MethodPost, s.revoke))
	mux.HandleFunc("POST "+pathIntrospect, s.introspect)
	mux.HandleFunc("GET "+pathAuthorize, s.ask)
	mux.Handle("POST "+pathAuthorize, s.foreign.Handler(http.HandlerFunc(s.decide)))
}

// Where the endpoints are, below the issuer.
const (
	pathAuthorize  = "/authorize"
	pathToken      = "/token"
	pathRegister   = "/register"
	pathRevoke     = "/revoke"
	pathIntrospect = "/introspect"
	pathKeys       = "/jwks.json"
)

func (s *Server) at(path string) string { return s.opts.Issuer + path }

// newLimiter limits what anybody may have the server do: a burst of 60, and
// then once a second.
func newLimiter() *rate.Limiter { return rate.NewLimiter(1, 60) }
