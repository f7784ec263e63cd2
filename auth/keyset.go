package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

const (
	maxKeys  = 100  // of one issuer
	maxTries = 8    // keys to try for one signature
	minRSA   = 2048 // bits
)

// algorithms are those that tokens may be signed with. All use public keys: no
// key here could be used to make a signature, and "none" is not among them.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

func parseAlgorithms(names []string) ([]jose.SignatureAlgorithm, error) {
	if names == nil {
		return algorithms, nil
	}
	list := make([]jose.SignatureAlgorithm, 0, len(names))
	for _, name := range names {
		if !slices.Contains(algorithms, jose.SignatureAlgorithm(name)) {
			return nil, fmt.Errorf("%q is not an algorithm with public keys", name)
		}
		list = append(list, jose.SignatureAlgorithm(name))
	}
	if len(list) == 0 {
		return nil, errors.New("none are left; nil means all")
	}
	return list, nil
}

// parseKeys reads a JWK set (RFC 7517, section 5). Unusable keys are left out:
// an issuer may have keys other than those it signs tokens with.
func parseKeys(doc []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := wire.Unmarshal(doc, &set); err != nil {
		return nil, fmt.Errorf("the JWK set is malformed: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && usable(&key) && len(keys) < maxKeys {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the JWK set has no public key for signatures")
	}
	return keys, nil
}

func usable(k *jose.JSONWebKey) bool {
	if k.Use != "" && k.Use != "sig" || !k.IsPublic() || !k.Valid() {
		return false
	}
	rsaKey, ok := k.Key.(*rsa.PublicKey)
	return !ok || rsaKey.N.BitLen() >= minRSA
}

// candidates returns the keys that a signature may have been made with. For a
// token without a key identifier, some of the keys that fit are tried.
func candidates(keys []jose.JSONWebKey, id string, alg jose.SignatureAlgorithm) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for _, k := range keys {
		if (id == "" || k.KeyID == id) && fits(&k, alg) && len(found) < maxTries {
			found = append(found, k)
		}
	}
	return found
}

// fits reports whether a key is for an algorithm. The header of a token cannot
// make a key of one kind pass for one of another.
func fits(k *jose.JSONWebKey, alg jose.SignatureAlgorithm) bool {
	if k.Algorithm != "" && k.Algorithm != string(alg) && !(k.Algorithm == "Ed25519" && alg == jose.EdDSA) {
		return false
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(string(alg), "RS") || strings.HasPrefix(string(alg), "PS")
	case *ecdsa.PublicKey:
		return map[jose.SignatureAlgorithm]int{jose.ES256: 256, jose.ES384: 384, jose.ES512: 521}[alg] == key.Params().BitSize
	case ed25519.PublicKey:
		return alg == jose.EdDSA
	}
	return false
}
