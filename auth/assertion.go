package auth

import (
	"crypto"
	"crypto/rand"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"

	"github.com/parley-mcp/parley/internal/wire"
)

// assertion is how this server authenticates to an issuer (RFC 7523, section
// 3).
type assertion struct {
	signer           jose.Signer
	client, audience string
}

// assertionLife is how long an assertion is valid.
const assertionLife = time.Minute

func newAssertion(key crypto.Signer, id, client, issuer string) (*assertion, error) {
	opaque := cryptosigner.Opaque(key)
	if len(opaque.Algs()) == 0 {
		return nil, errors.New("an RSA, ECDSA or Ed25519 key is needed")
	}
	opts := (&jose.SignerOptions{}).WithType("JWT")
	if id != "" {
		opts = opts.WithHeader(jose.HeaderKey("kid"), id)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: opaque.Algs()[0], Key: opaque}, opts)
	return &assertion{s, client, issuer}, err
}

// sign returns an assertion for one request.
func (a *assertion) sign(now time.Time) (string, error) {
	claims, err := wire.Marshal(map[string]any{
		"iss": a.client, "sub": a.client, "aud": a.audience, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := a.signer.Sign(claims)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
