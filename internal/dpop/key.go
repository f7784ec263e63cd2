// Package dpop binds tokens to a key that only their owner has (RFC 9449):
// proofs of possession, and their verification.
package dpop

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

// Key is a private key that tokens are bound to. It is safe for concurrent
// use.
type Key struct {
	private    *ecdsa.PrivateKey
	signer     jose.Signer
	thumbprint string
}

// NewKey returns a new key on the curve P-256.
func NewKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return newKey(private)
}

func newKey(private *ecdsa.PrivateKey) (*Key, error) {
	options := (&jose.SignerOptions{EmbedJWK: true}).WithType(proofType)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, options)
	if err != nil {
		return nil, err
	}
	print, err := thumbprint(&jose.JSONWebKey{Key: private.Public()})
	if err != nil {
		return nil, err
	}
	return &Key{private, signer, print}, nil
}

func thumbprint(k *jose.JSONWebKey) (string, error) {
	sum, err := k.Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}

// Marshal returns the key as a private JWK, to be kept as secret as a token.
func (k *Key) Marshal() ([]byte, error) {
	return (jose.JSONWebKey{Key: k.private, Algorithm: string(jose.ES256)}).MarshalJSON()
}

// ParseKey reads what Marshal wrote.
func ParseKey(doc []byte) (*Key, error) {
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(doc); err != nil {
		return nil, errors.New("the DPoP key is not a JWK") // the reason could quote it
	}
	private, ok := jwk.Key.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("the DPoP key is not a private key on P-256")
	}
	return newKey(private)
}

// String keeps the key out of logs.
func (k *Key) String() string { return "DPoP key " + k.thumbprint }

// Thumbprint identifies the key (RFC 7638): it is the value of a token's claim
// cnf.jkt, and of the parameter dpop_jkt.
func (k *Key) Thumbprint() string { return k.thumbprint }

// claims are the claims of a proof.
type claims struct {
	ID     string  `json:"jti"`
	Method string  `json:"htm"`
	URL    string  `json:"htu"`
	Issued float64 `json:"iat"` // seconds; RFC 7519 allows fractions
	Access string  `json:"ath,omitzero"`
	Nonce  string  `json:"nonce,omitzero"`
}

// Proof returns a proof for one request; each request needs its own. url is the
// URL of the request; its query and fragment are ignored. accessToken is the
// token that the request carries, and nonce the one that the server demands;
// both may be "".
func (k *Key) Proof(method, url, accessToken, nonce string) (string, error) {
	target, err := targetOf(url)
	if err != nil {
		return "", err
	}
	c := claims{ID: rand.Text(), Method: method, URL: target, Issued: float64(time.Now().Unix()), Nonce: nonce}
	if accessToken != "" {
		c.Access = hash(accessToken)
	}
	payload, err := wire.Marshal(c)
	if err != nil {
		return "", err
	}
	signed, err := k.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// targetOf returns a URL without query and fragment, in its normal form.
func targetOf(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%q is not a URL that a DPoP proof can be about", s)
	}
	return normal(u), nil
}
