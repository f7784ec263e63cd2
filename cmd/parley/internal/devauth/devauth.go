// Package devauth is an OAuth 2.1 authorization server for development: it
// lives in the process of the MCP server that it protects, so that the whole
// flow runs on one machine. Nothing in it is canned, and nothing outlives the
// process.
//
// Its issuer is an origin without a path. Then the documents that the pages
// have clients look for are at fixed places, clients of 2025-03-26, which look
// at the origin of the MCP server only, find the same ones, and the endpoints
// are where those clients expect them if they find no document at all.
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

// Server is an authorization server. It is safe for concurrent use, and keeps
// nothing running.
type Server struct {
	opts   Options
	secret []byte // of what the server gives away and wants to know again

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
	_, _ = rand.Read(s.secret) // it never fails
	if o.DPoPNonces {
		s.nonces = dpop.NewNonces(0)
	}
	s.proofs = dpop.NewVerifier(dpop.Options{Nonces: s.nonces})
	s.mux = http.NewServeMux()
	s.Mount(s.mux)
	return s, nil
}

// Keys returns the public keys that access tokens are signed with, for a
// resource server in the same process. It has to ask Revoked, too.
func (s *Server) Keys() jose.JSONWebKeySet { return s.signer.keys() }

// Revoked reports whether the access token with an identifier (its claim jti)
// was revoked before its time, or is none of this server.
func (s *Server) Revoked(id string) bool { return !s.grants.stands(id) }

// Handler returns a handler of all paths of the server.
func (s *Server) Handler() http.Handler { return s.mux }

// Mount adds the paths of the server to those of its origin. It panics when
// they are taken.
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

// newLimiter bounds what anybody may have the server do: 60 times at once, and
// then once a second.
func newLimiter() *rate.Limiter { return rate.NewLimiter(1, 60) }
