package devauth

import (
	"context"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionLifetime is how far in the future an assertion may expire: the
	// server has to remember for that long that it was used.
	assertionLifetime = 10 * time.Minute
	// clockSkew is how far the clock of a client may be off.
	clockSkew = 30 * time.Second
)

// algorithms are those that an assertion may be signed with.
var algorithms = []jose.SignatureAlgorithm{jose.ES256, jose.ES384, jose.ES512, jose.EdDSA, jose.PS256, jose.RS256}

func assertionAlgorithms() []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a)
	}
	return names
}

// assertion is what a client says of itself (RFC 7523, section 3).
type assertion struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  audience `json:"aud"`
	Expires   float64  `json:"exp"`
	NotBefore float64  `json:"nbf"`
	ID        string   `json:"jti"`
}

// audience is one name or several.
type audience []string

// UnmarshalJSON accepts a string or an array.
func (a *audience) UnmarshalJSON(doc []byte) error {
	if len(doc) > 0 && doc[0] == '[' {
		return wire.Unmarshal(doc, (*[]string)(a))
	}
	*a = []string{""}
	return wire.Unmarshal(doc, &(*a)[0])
}

// subjectOf returns the subject that an assertion claims, unverified.
func subjectOf(token string) string {
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return ""
	}
	var a assertion
	if err := wire.Unmarshal(signed.UnsafePayloadWithoutVerification(), &a); err != nil {
		return ""
	}
	return a.Subject
}

// asserted reports whether an assertion is by the client, for this server, and
// was not used before.
//
// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func (s *Server) asserted(ctx context.Context, c *client, token string) bool {
	if c.method != methodKey {
		return false
	}
	keys, err := s.clients.documents.keysOf(ctx, c)
	if err != nil {
		s.opts.Logger.Warn("the keys of a client are not available", "client", c.id, "error", err)
		return false
	}
	a := verifyAssertion(token, keys)
	if a == nil || a.Issuer != c.id || a.Subject != c.id || a.ID == "" {
		return false
	}
	// RFC 7523bis allows only the issuer; older clients name the endpoint.
	if !slices.Contains(a.Audience, s.opts.Issuer) && !slices.Contains(a.Audience, s.at(pathToken)) {
		return false
	}
	now, expires := time.Now(), time.Unix(int64(a.Expires), 0)
	if !now.Before(expires.Add(clockSkew)) || expires.Sub(now) > assertionLifetime || now.Add(clockSkew).Before(time.Unix(int64(a.NotBefore), 0)) {
		return false
	}
	return s.seen.putNew(c.id+" "+a.ID, struct{}{}, expires.Add(clockSkew))
}

// verifyAssertion returns the claims of an assertion that is signed by one of
// the keys, or nil.
func verifyAssertion(token string, keys *jose.JSONWebKeySet) *assertion {
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil
	}
	for i := range keys.Keys {
		k := &keys.Keys[i]
		if id := signed.Signatures[0].Protected.KeyID; id != "" && k.KeyID != "" && id != k.KeyID || !k.IsPublic() {
			continue
		}
		if payload, err := signed.Verify(k); err == nil {
			a := new(assertion)
			if err := wire.Unmarshal(payload, a); err != nil {
				return nil
			}
			return a
		}
	}
	return nil
}
