package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
)

// Seal encrypts what is kept, with the first of its keys; it can read what any of them
// has encrypted.
type Seal struct{ keys []sealKey }

type sealKey struct {
	id   string
	aead cipher.AEAD
}

// keySize is that of keys, in bytes.
const keySize = 32

// errKey does not say what was written in place of a key.
var errKey = fmt.Errorf("this is no key; it must be %d random bytes in Base64 or hexadecimal, such as \"openssl rand -base64 %d\" makes", keySize, keySize)

// ParseKey reads a key: 32 bytes in Base64 or hexadecimal.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
		if key, err := decode(text); err == nil && len(key) == keySize {
			return key, nil
		}
	}
	return nil, errKey
}

// NewSeal returns what encrypts with a key, and reads what it or older ones have
// encrypted.
func NewSeal(key []byte, old ...[]byte) (*Seal, error) {
	s := new(Seal)
	for _, k := range append([][]byte{key}, old...) {
		if len(k) != keySize {
			return nil, errKey
		}
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, errKey
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, errKey
		}
		sum := sha256.Sum256(append([]byte("parley key "), k...))
		s.keys = append(s.keys, sealKey{hex.EncodeToString(sum[:8]), aead})
	}
	return s, nil
}

// sealed is what is kept in place of a document.
type sealed struct {
	Key string `json:"key"` // which one, not the key
	Box []byte `json:"box"`
}

// close encrypts a document that belongs to a place.
func (s *Seal) close(place string, doc []byte) ([]byte, error) {
	k := s.keys[0]
	return wire.Marshal(&sealed{k.id, k.aead.Seal(nil, nil, doc, []byte(place))}) //nolint:gosec // this AEAD makes its nonces itself
}

var errSealed = errors.New("it cannot be decrypted: it was changed, belongs elsewhere, or its key is not among those of the configuration")

// open decrypts a document that belongs to a place; none is none.
func (s *Seal) open(place string, doc []byte) ([]byte, error) {
	if doc == nil {
		return nil, nil
	}
	var box sealed
	if err := wire.Unmarshal(doc, &box); err != nil {
		return nil, errSealed
	}
	for _, k := range s.keys {
		if k.id != box.Key {
			continue
		}
		if plain, err := k.aead.Open(nil, nil, box.Box, []byte(place)); err == nil {
			return plain, nil
		}
	}
	return nil, errSealed
}
