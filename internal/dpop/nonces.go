package dpop

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// Nonces are what a server demands in proofs, so that proofs cannot be made in
// advance. They are not stored: a nonce is a time that the server has signed.
// All methods may be called concurrently.
type Nonces struct {
	key []byte
	age time.Duration
}

// NewNonces returns nonces that are valid for age; 0 means 5 minutes.
func NewNonces(age time.Duration) *Nonces {
	if age <= 0 {
		age = 5 * time.Minute
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return &Nonces{key, age}
}

// New returns a nonce, for the header DPoP-Nonce.
func (n *Nonces) New() string { return n.at(time.Now()) }

func (n *Nonces) at(t time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(t.Unix())) //nolint:gosec // since 1970
	mac := hmac.New(sha256.New, n.key)
	mac.Write(b)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(b)[:8+16])
}

func (n *Nonces) good(nonce string, now time.Time) bool {
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != 8+16 {
		return false
	}
	made := time.Unix(int64(binary.BigEndian.Uint64(b)), 0) //nolint:gosec // as it was written
	age := now.Sub(made)
	return hmac.Equal([]byte(n.at(made)), []byte(nonce)) && age <= n.age && age >= -time.Second
}
