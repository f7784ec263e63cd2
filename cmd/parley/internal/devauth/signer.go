package devauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

// tokenType is the type of an access token in its header (RFC 9068).
const tokenType = "at+jwt"

// claims are what an access token says.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#token-audience-binding-and-validation.
type claims struct {
	Issuer   string        `json:"iss"`
	Subject  string        `json:"sub"`
	Audience string        `json:"aud"`
	Expires  int64         `json:"exp"`
	Issued   int64         `json:"iat"`
	ID       string        `json:"jti"`
	Client   string        `json:"client_id"`
	Scope    string        `json:"scope"`
	Confirm  *confirmation `json:"cnf,omitzero"`
	Actor    *actor        `json:"act,omitzero"`
}

// actor is who acts for the subject (RFC 8693, section 4.1).
type actor struct {
	Subject string `json:"sub"`
}

// confirmation names the key that a token is bound to (RFC 9449, section 6).
type confirmation struct {
	Thumbprint string `json:"jkt"`
}

// signer signs access tokens, with a key that is generated when it is created.
type signer struct {
	issuer   string
	public   jose.JSONWebKey
	document jose.JSONWebKeySet
	with     jose.Signer
}

func newSigner(issuer string) (*signer, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	public := jose.JSONWebKey{Key: private.Public(), Algorithm: string(jose.ES256), Use: "sig"}
	print, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	public.KeyID = base64.RawURLEncoding.EncodeToString(print)
	options := (&jose.SignerOptions{}).WithType(tokenType).WithHeader("kid", public.KeyID)
	with, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, options)
	if err != nil {
		return nil, err
	}
	return &signer{issuer, public, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}}, with}, nil
}

func (s *signer) keys() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{s.public}}
}

func (s *signer) sign(c *claims) (string, error) {
	payload, err := wire.Marshal(c)
	if err != nil {
		return "", err
	}
	signed, err := s.with.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

var errNoToken = errors.New("this is not a valid access token of this server")

// read returns the claims of an access token that the server has signed.
func (s *signer) read(token string) (*claims, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, errNoToken
	}
	payload, err := signed.Verify(s.public)
	if err != nil {
		return nil, errNoToken
	}
	c := new(claims)
	if err := wire.Unmarshal(payload, c); err != nil || time.Now().Unix() >= c.Expires {
		return nil, errNoToken
	}
	return c, nil
}
