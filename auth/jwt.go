package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/wire"
)

// JWTOptions configure a JWT.
type JWTOptions struct {
	// Issuer is the issuer of the tokens; their iss claim must match it
	// exactly. Required.
	Issuer string
	// KeysURL is the URL of the issuer's JWK set. "" means the URL in the
	// issuer's metadata, which is looked for as in RFC 8414 and OpenID Connect
	// Discovery.
	KeysURL string
	// Keys are the issuer's keys, as a JWK set, instead of those at a URL.
	Keys []byte
	// Algorithms are the accepted signature algorithms, such as "RS256". nil
	// means all of RS, PS and ES, with 256, 384 and 512, and EdDSA. No others
	// can be used.
	Algorithms []string
	// Leeway is how much the clocks of issuer and server may differ: a token is
	// accepted for this long after its exp. 0 means 30 seconds; negative means
	// none.
	Leeway time.Duration
	// HTTP fetches metadata and keys. nil means a client that reaches the
	// origin of the issuer, or of KeysURL, and public addresses over https.
	// Redirects to other origins are never followed.
	HTTP *http.Client
}

// JWT verifies tokens that are JWTs signed by their issuer (RFC 9068, and
// common variants of it). Keys are fetched when they are first needed and kept
// as long as the issuer says, between a minute and a day. A token signed with
// an unknown key causes them to be fetched again, at most once in 30 seconds.
// While the issuer cannot be reached, known keys are used for up to a day.
//
// The Expires of the tokens it returns includes the leeway.
type JWT struct {
	issuer     string
	keys       keySource
	algorithms []jose.SignatureAlgorithm
	leeway     time.Duration
}

var _ Verifier = (*JWT)(nil)

// NewJWT returns a JWT, without any I/O yet. opts is copied; its required fields
// must be set. An error says which option is missing or wrong.
func NewJWT(opts *JWTOptions) (*JWT, error) {
	o := *cmp.Or(opts, &JWTOptions{})
	u, err := checkIssuer(o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("auth.JWTOptions.Issuer: %w", err)
	}
	v := &JWT{issuer: o.Issuer, leeway: leeway(o.Leeway)}
	if v.algorithms, err = parseAlgorithms(o.Algorithms); err != nil {
		return nil, fmt.Errorf("auth.JWTOptions.Algorithms: %w", err)
	}
	v.keys, err = o.keySource(u)
	return v, err
}

func leeway(d time.Duration) time.Duration {
	if d == 0 {
		return 30 * time.Second
	}
	return max(d, 0)
}

func (o *JWTOptions) keySource(issuer *url.URL) (keySource, error) {
	switch {
	case o.Keys != nil && o.KeysURL != "":
		return nil, errors.New("auth.JWTOptions: Keys and KeysURL exclude each other")
	case o.Keys != nil:
		keys, err := parseKeys(o.Keys)
		if err != nil {
			return nil, fmt.Errorf("auth.JWTOptions.Keys: %w", err)
		}
		return fixedKeys(keys), nil
	case o.KeysURL != "":
		u, err := httpsURL(o.KeysURL)
		if err != nil {
			return nil, fmt.Errorf("auth.JWTOptions.KeysURL: %w", err)
		}
		issuer = u
	}
	return &remoteKeys{fetch: newFetcher(o.HTTP, issuer), issuer: o.Issuer, url: o.KeysURL}, nil
}

// Verify returns what a token signed by the issuer says. Of a token's header,
// only the identifier of a key that the issuer has selects a key: jku, x5u, jwk
// and x5c are ignored.
func (v *JWT) Verify(ctx context.Context, token string) (*Token, error) {
	if len(token) > maxToken {
		return nil, Invalid("the token is longer than %d bytes", maxToken)
	}
	signed, err := jose.ParseSignedCompact(token, v.algorithms)
	if err != nil {
		return nil, Invalid("the token is no JWT that is signed with an algorithm that is taken here")
	}
	if err := checkType(&signed.Signatures[0].Protected); err != nil {
		return nil, err
	}
	// Tokens of other issuers are rejected before anything is fetched for them.
	var c claims
	if err := wire.Unmarshal(signed.UnsafePayloadWithoutVerification(), &c); err != nil {
		return nil, Invalid("the claims of the token are malformed")
	}
	if c.Issuer != v.issuer {
		return nil, Invalid("the token is of another issuer")
	}
	payload, err := v.open(ctx, signed)
	if err != nil {
		return nil, err
	}
	if err := c.checkTimes(time.Now(), v.leeway); err != nil {
		return nil, err
	}
	return c.token(payload, v.leeway)
}

// open returns the payload of a token after checking the issuer's signature.
func (v *JWT) open(ctx context.Context, signed *jose.JSONWebSignature) ([]byte, error) {
	header := signed.Signatures[0].Protected
	keys, err := v.keys.find(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm))
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if payload, err := signed.Verify(k.Key); err == nil {
			return payload, nil
		}
	}
	if len(keys) == 0 {
		return nil, Invalid("the token is signed with a key that the issuer does not have")
	}
	return nil, Invalid("the signature of the token is wrong")
}

// checkType refuses JWTs that were signed for another purpose, such as a proof
// or a logout token (RFC 8725, section 3.11). Many issuers set no type.
func checkType(h *jose.Header) error {
	t, found := h.ExtraHeaders[jose.HeaderType]
	kind, _ := t.(string)
	switch strings.TrimPrefix(strings.ToLower(kind), "application/") {
	case "at+jwt", "jwt":
		return nil
	case "":
		if !found {
			return nil
		}
	}
	return Invalid("the token is of another type than at+jwt")
}
