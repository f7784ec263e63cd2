package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

// SigningKey signs the assertions of private_key_jwt. It is safe for concurrent
// use.
type SigningKey struct {
	alg    string
	signer jose.Signer
}

// NewSigningKey returns a key that signs with an algorithm: ES256, ES384,
// ES512, RS256, PS256 or EdDSA. "" means the usual one for the key, an
// *ecdsa.PrivateKey, *rsa.PrivateKey or ed25519.PrivateKey. id is the key's
// identifier in the JWKS of the client, or "".
func NewSigningKey(alg string, key crypto.Signer, id string) (*SigningKey, error) {
	if alg == "" {
		alg = usualAlgorithm(key)
	}
	if !slices.Contains([]string{"ES256", "ES384", "ES512", "RS256", "PS256", "EdDSA"}, alg) {
		return nil, fmt.Errorf("signing algorithm %q is not supported for a %T", alg, key)
	}
	options := (&jose.SignerOptions{}).WithType("JWT")
	if id != "" {
		options = options.WithHeader("kid", id)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg), Key: key}, options)
	if err != nil {
		return nil, fmt.Errorf("a %T does not sign with %s", key, alg)
	}
	k := &SigningKey{alg, signer}
	if _, err := k.assertion("test", "test"); err != nil {
		return nil, fmt.Errorf("a %T does not sign with %s", key, alg)
	}
	return k, nil
}

func usualAlgorithm(key crypto.Signer) string {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return string(jose.RS256)
	case ed25519.PrivateKey:
		return string(jose.EdDSA)
	case *ecdsa.PrivateKey:
		switch k.Curve.Params().BitSize {
		case 384:
			return string(jose.ES384)
		case 521:
			return string(jose.ES512)
		}
		return string(jose.ES256)
	}
	return ""
}

// ParseSigningKey reads a private key in PEM: PKCS #8, PKCS #1 or SEC 1. alg
// and id are as in NewSigningKey.
func ParseSigningKey(alg string, doc []byte, id string) (*SigningKey, error) {
	block, _ := pem.Decode(doc)
	if block == nil {
		return nil, errors.New("the signing key is not in PEM")
	}
	key, err := parsePrivate(block.Bytes)
	if err != nil {
		return nil, err
	}
	return NewSigningKey(alg, key, id)
}

func parsePrivate(der []byte) (crypto.Signer, error) {
	if k, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		if signer, ok := k.(crypto.Signer); ok {
			return signer, nil
		}
		return nil, fmt.Errorf("a %T does not sign", k)
	}
	if k, err := x509.ParseECPrivateKey(der); err == nil {
		return k, nil
	}
	if k, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return k, nil
	}
	return nil, errors.New("the signing key is not an unencrypted private key of a known kind")
}

// String keeps the key out of logs.
func (k *SigningKey) String() string { return k.alg + " signing key" }

// LogValue implements slog.LogValuer.
func (k *SigningKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// assertion authenticates a client for one minute (RFC 7523, section 3). The
// audience is the issuer, so that no other server can use it.
func (k *SigningKey) assertion(clientID, audience string) (string, error) {
	now := time.Now().Unix()
	claims, err := wire.Marshal(struct {
		Issuer   string `json:"iss"`
		Subject  string `json:"sub"`
		Audience string `json:"aud"`
		ID       string `json:"jti"`
		Issued   int64  `json:"iat"`
		Expires  int64  `json:"exp"`
	}{clientID, clientID, audience, rand.Text(), now, now + 60})
	if err != nil {
		return "", err
	}
	signed, err := k.signer.Sign(claims)
	if err != nil {
		return "", errors.New("the assertion could not be signed")
	}
	return signed.CompactSerialize()
}
