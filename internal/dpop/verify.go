package dpop

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

const (
	proofType = "dpop+jwt"
	maxProof  = 8 << 10 // bytes
	maxID     = 256     // bytes of a jti
)

// algorithms are those that a proof may be signed with.
var algorithms = []jose.SignatureAlgorithm{jose.ES256, jose.ES384, jose.ES512, jose.EdDSA, jose.PS256, jose.RS256}

// Algorithms returns the algorithms that a proof may be signed with, for
// metadata and challenges.
func Algorithms() []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a)
	}
	return names
}

// ErrNonce says that a proof is good except for its nonce: the client has to
// send another with a fresh one.
var ErrNonce = errors.New("the DPoP proof needs a nonce of this server")

// ErrBusy says that a proof may be good, but that more proofs arrive than can
// be remembered. The client is not at fault.
var ErrBusy = errors.New("too many DPoP proofs; come again in a minute")

// Options configure a Verifier. The zero value is safe.
type Options struct {
	// MaxAge is how old a proof may be, and how far in the future, since clocks
	// differ. 0 means 1 minute.
	MaxAge time.Duration
	// MaxProofs bounds the number of proofs that are remembered to refuse
	// replays. If more arrive within four times MaxAge, new ones are refused
	// with ErrBusy. Each takes some 50 bytes. 0 means 1,000,000, enough for
	// 4,000 requests a second.
	MaxProofs int
	// Nonces, if set, requires a nonce in every proof.
	Nonces *Nonces
}

// Verifier verifies proofs. It is safe for concurrent use.
type Verifier struct {
	opts Options

	mu          sync.Mutex
	now, before map[seen]struct{} // proofs seen in this window and in the previous one
	turned      time.Time
}

// NewVerifier returns a Verifier.
func NewVerifier(o Options) *Verifier {
	if o.MaxAge <= 0 {
		o.MaxAge = time.Minute
	}
	if o.MaxProofs <= 0 {
		o.MaxProofs = 1_000_000
	}
	return &Verifier{opts: o, now: map[seen]struct{}{}, turned: time.Now()}
}

// Request is what a proof must be about.
type Request struct {
	// Method and URL are those of the request.
	Method, URL string
	// AccessToken is the token that the request carries, or "" for a token
	// request.
	AccessToken string
	// Key is the thumbprint of the key that must have made the proof, or "" for
	// any.
	Key string
}

// Verify returns the thumbprint of the key that made a proof, or why the proof
// does not prove anything about r. A proof is accepted once.
func (v *Verifier) Verify(proof string, r Request) (thumbprint string, err error) {
	c, print, err := open(proof)
	if err != nil {
		return "", err
	}
	if r.Key != "" && r.Key != print {
		return "", errors.New("the DPoP proof is made with another key than the token is bound to")
	}
	if err := v.check(c, r); err != nil {
		return "", err
	}
	if v.opts.Nonces != nil && !v.opts.Nonces.good(c.Nonce, time.Now()) {
		return "", ErrNonce
	}
	return print, v.first(seenAs(print, c.ID))
}

// open checks a proof in itself, whatever it is about.
func open(proof string) (*claims, string, error) {
	if len(proof) > maxProof {
		return nil, "", fmt.Errorf("the DPoP proof is over %d bytes", maxProof)
	}
	signed, err := jose.ParseSignedCompact(proof, algorithms)
	if err != nil {
		return nil, "", errors.New("the DPoP proof is no JWT that is signed with one of " + strings.Join(Algorithms(), ", "))
	}
	header := signed.Signatures[0].Protected
	if kind, _ := header.ExtraHeaders[jose.HeaderType].(string); kind != proofType {
		return nil, "", fmt.Errorf("the DPoP proof is of type %q instead of %q", kind, proofType)
	}
	key := header.JSONWebKey
	if key == nil || !key.IsPublic() || !key.Valid() {
		return nil, "", errors.New("the DPoP proof does not hold a public key")
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, "", errors.New("the DPoP proof is not signed with the key that it holds")
	}
	c := new(claims)
	if err := wire.Unmarshal(payload, c); err != nil {
		return nil, "", errors.New("the claims of the DPoP proof are malformed")
	}
	print, err := thumbprint(key)
	return c, print, err
}

func (v *Verifier) check(c *claims, r Request) error {
	want, err := targetOf(r.URL)
	if err != nil {
		return err
	}
	got, err := targetOf(c.URL)
	age := time.Since(time.Unix(int64(c.Issued), 0))
	switch {
	case c.ID == "" || len(c.ID) > maxID:
		return errors.New("the DPoP proof has no usable jti")
	case c.Method != r.Method:
		return errors.New("the DPoP proof is for another method")
	case err != nil || got != want:
		return errors.New("the DPoP proof is for another URL than " + want)
	case age > v.opts.MaxAge || age < -v.opts.MaxAge:
		return errors.New("the DPoP proof is too old, or from the future; are the clocks right?")
	case r.AccessToken != "" && c.Access != hash(r.AccessToken):
		return errors.New("the DPoP proof is for another access token")
	}
	return nil
}

// seen identifies a proof by a hash: it is short, and nobody can find two
// proofs that share it.
type seen [sha256.Size]byte

func seenAs(thumbprint, id string) seen { return sha256.Sum256([]byte(thumbprint + " " + id)) }

// first remembers a proof, and fails if it was used before. Two windows, each
// as long as the lifetime of a proof, past and future, hold every proof that
// could be replayed.
func (v *Verifier) first(id seen) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	window := 2 * v.opts.MaxAge
	switch past := time.Since(v.turned); {
	case past >= 2*window:
		v.before, v.now, v.turned = nil, map[seen]struct{}{}, time.Now()
	case past >= window:
		v.before, v.now, v.turned = v.now, map[seen]struct{}{}, time.Now()
	}
	_, again := v.now[id]
	if _, earlier := v.before[id]; again || earlier {
		return errors.New("the DPoP proof was used before")
	}
	if len(v.now)+len(v.before) >= v.opts.MaxProofs {
		return ErrBusy
	}
	v.now[id] = struct{}{}
	return nil
}

// normal returns a URL without query and fragment, in the normal form of RFC
// 3986, section 6.2.2 and 6.2.3.
func normal(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return scheme + "://" + host + path
}
