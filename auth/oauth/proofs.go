package oauth

import (
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/parley-mcp/parley/internal/dpop"
)

const (
	headerProof = "DPoP"
	headerNonce = "DPoP-Nonce"
)

// nonces holds, by origin, the last nonce that each server has supplied for
// proofs (RFC 9449, section 8.2).
type nonces struct {
	mu sync.Mutex
	m  map[string]string
}

func (n *nonces) get(u *url.URL) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.m[originOf(u)]
}

// note remembers the nonce of a response, if it has one, and reports whether it
// differs from used.
func (n *nonces) note(resp *http.Response, u *url.URL, used string) bool {
	nonce := resp.Header.Get(headerNonce)
	if nonce == "" {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.m == nil {
		n.m = map[string]string{}
	}
	n.m[originOf(u)] = nonce
	return nonce != used
}

// provingTransport adds proofs to requests for tokens.
type provingTransport struct {
	base   http.RoundTripper
	key    *dpop.Key
	nonces *nonces
}

// RoundTrip implements http.RoundTripper. A server that wants a nonce gets it
// in a second attempt (RFC 9449, section 8).
func (t *provingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		nonce := t.nonces.get(req.URL)
		proven, err := t.proven(req, nonce, try > 0)
		if err != nil {
			closeBody(req)
			return nil, err
		}
		resp, err := baseOf(t.base).RoundTrip(proven)
		if err != nil {
			return nil, err
		}
		fresh := t.nonces.note(resp, req.URL, nonce)
		if !fresh || try > 0 || req.GetBody == nil || resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnauthorized {
			return resp, nil
		}
		discard(resp)
	}
}

func (t *provingTransport) proven(req *http.Request, nonce string, again bool) (*http.Request, error) {
	proof, err := t.key.Proof(req.Method, req.URL.String(), "", nonce)
	if err != nil {
		return nil, err
	}
	proven := req.Clone(req.Context())
	proven.Header.Set(headerProof, proof)
	if again {
		if proven.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return proven, nil
}

// baseOf returns base, or the default transport if base is nil.
func baseOf(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		return http.DefaultTransport
	}
	return base
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // it is not needed
	}
}

// discard gives up a response. A short one is read to its end, so that its
// connection can be reused.
func discard(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= 64<<10 {
		_, _ = io.CopyN(io.Discard, resp.Body, resp.ContentLength)
	}
	_ = resp.Body.Close() // the rest is not needed
}
