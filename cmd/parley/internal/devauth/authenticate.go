package devauth

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/internal/dpop"
)

// How a client authenticates.
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodKey   = "private_key_jwt"
)

// credentials are what a request says about its client.
type credentials struct {
	method, id, secret string
}

// authenticate returns the client of a request. The client has to authenticate
// with exactly one method, and with the one that it has registered, if any.
//
// Spec: 2026-07-28 basic/authorization#overview (1).
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (*client, *oauthError) {
	bad := &oauthError{http.StatusUnauthorized, "invalid_client", "the client is unknown, or has not authenticated as required"}
	if r.Header.Get("Authorization") != "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="parley"`)
	}
	said, err := s.credentials(r)
	if err != nil {
		return nil, fail("invalid_request", err.Error())
	}
	c, err := s.clients.find(r.Context(), said.id)
	if err != nil {
		bad.description = err.Error()
		return nil, bad
	}
	good := false
	switch said.method {
	case methodNone:
		good = c.public()
	case methodKey:
		good = s.asserted(r.Context(), c, said.secret)
	default:
		good = c.hasSecret(said.secret)
	}
	if !good {
		s.opts.Logger.Warn("a client failed to authenticate", "client", c.id, "method", said.method)
		return nil, bad
	}
	w.Header().Del("WWW-Authenticate")
	return c, nil
}

func (s *Server) credentials(r *http.Request) (*credentials, error) {
	f, ways := r.PostForm, []*credentials(nil)
	if r.Header.Get("Authorization") != "" {
		basic, err := basicCredentials(r)
		if err != nil {
			return nil, err
		}
		ways = append(ways, basic)
	}
	if f.Has("client_secret") {
		ways = append(ways, &credentials{methodPost, f.Get("client_id"), f.Get("client_secret")})
	}
	if f.Has("client_assertion") || f.Has("client_assertion_type") {
		if f.Get("client_assertion_type") != assertionType {
			return nil, errors.New("client_assertion_type has to be " + assertionType)
		}
		ways = append(ways, &credentials{methodKey, subjectOf(f.Get("client_assertion")), f.Get("client_assertion")})
	}
	switch {
	case len(ways) == 0:
		return &credentials{methodNone, f.Get("client_id"), ""}, nil
	case len(ways) > 1:
		return nil, errors.New("the client authenticates in more than one way")
	case f.Has("client_id") && f.Get("client_id") != ways[0].id:
		return nil, errors.New("client_id differs from the client that authenticates")
	}
	return ways[0], nil
}

// basicCredentials reads a header, of which both parts are encoded like parts
// of a form (RFC 6749, section 2.3.1).
func basicCredentials(r *http.Request) (*credentials, error) {
	id, secret, ok := r.BasicAuth()
	if !ok {
		return nil, errors.New("clients authenticate with Basic here, or in the body")
	}
	id, err := url.QueryUnescape(id)
	if err != nil {
		return nil, errors.New("the client_id in the header is not encoded as a form")
	}
	secret, err = url.QueryUnescape(secret)
	if err != nil {
		return nil, errors.New("the client_secret in the header is not encoded as a form")
	}
	return &credentials{methodBasic, id, secret}, nil
}

// proof returns the thumbprint of the key of a request's DPoP proof (RFC 9449,
// section 5), or "" if there is no proof.
func (s *Server) proof(w http.ResponseWriter, r *http.Request) (string, *oauthError) {
	proofs := r.Header.Values("DPoP")
	if len(proofs) == 0 {
		return "", nil
	}
	if s.nonces != nil {
		w.Header().Set("DPoP-Nonce", s.nonces.New())
	}
	if len(proofs) > 1 {
		return "", fail("invalid_dpop_proof", "there is more than one DPoP proof")
	}
	// Not the URL of the request: a proxy may have changed it.
	key, err := s.proofs.Verify(proofs[0], dpop.Request{Method: http.MethodPost, URL: s.at(pathToken)})
	switch {
	case errors.Is(err, dpop.ErrNonce):
		return "", fail("use_dpop_nonce", err.Error())
	case errors.Is(err, dpop.ErrBusy):
		return "", &oauthError{http.StatusServiceUnavailable, "temporarily_unavailable", err.Error()}
	case err != nil:
		return "", fail("invalid_dpop_proof", err.Error())
	}
	return key, nil
}
