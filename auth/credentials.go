package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// maxToken bounds a token, in bytes.
const maxToken = 16 << 10

// credentials are what a request carries to authenticate its sender.
type credentials struct {
	dpop  bool // with the scheme DPoP; otherwise Bearer
	token string
	proof string
}

// readCredentials returns the credentials of a request, or nil when there are
// none that this server understands. It fails when they are malformed.
//
// Spec: 2026-07-28 basic/authorization#token-requirements.
func readCredentials(r *http.Request, dpop bool) (*credentials, *refusal) {
	if tokenInQuery(r.URL.RawQuery) {
		return nil, malformed("an access token must not be in the query string; send it in the header Authorization, and take it for leaked")
	}
	values := r.Header.Values("Authorization")
	switch {
	case len(values) == 0:
		return nil, nil // nothing was sent
	case len(values) > 1:
		return nil, malformed("the header Authorization was sent more than once")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	c := &credentials{dpop: strings.EqualFold(scheme, "DPoP"), token: strings.TrimLeft(token, " ")}
	switch {
	case c.dpop && !dpop, !c.dpop && !strings.EqualFold(scheme, "Bearer"):
		return nil, nil // another scheme
	case len(c.token) > maxToken:
		return nil, malformed("the access token is longer than 16 KiB")
	case !isToken68(c.token):
		return nil, malformed("the header Authorization does not hold one access token after its scheme")
	}
	if !c.dpop {
		return c, nil
	}
	proofs := r.Header.Values("DPoP")
	if len(proofs) != 1 {
		return nil, badProof("a request with a DPoP token needs the header DPoP once, with a proof")
	}
	c.proof = proofs[0]
	return c, nil
}

// tokenInQuery reports whether a query has a parameter access_token, even if
// only a laxer parser than net/url's would find it.
//
// Spec: 2026-07-28 basic/authorization#token-requirements.
func tokenInQuery(query string) bool {
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' || r == '?' }) {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if strings.EqualFold(strings.TrimSpace(name), "access_token") {
			return true
		}
	}
	return false
}

// isToken68 reports whether RFC 6750 allows s as a token.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	for _, b := range []byte(s) {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', strings.IndexByte("-._~+/", b) >= 0:
		default:
			return false
		}
	}
	return s != ""
}
