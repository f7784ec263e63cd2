package oauth

import (
	"context"
	"net/url"
	"time"
)

// AgeForTest makes the token in use, and in the store, older.
func AgeForTest(ctx context.Context, c *Client, by time.Duration) error {
	t := c.token(ctx)
	old := &credential{record: t.record, key: t.key}
	old.Obtained, old.Expires, old.Authorized = t.Obtained.Add(-by), t.Expires.Add(-by), t.Authorized.Add(-by)
	return c.keep(ctx, old)
}

// For the fuzz targets.
var (
	CheckResource = checkResource
	WellKnown     = issuerPlaces
	Plain         = plain
)

// DecodeForTest reads a stored token.
func DecodeForTest(doc []byte) (any, error) { return decodeCredential(doc) }

// ReadRegistrationForTest reads a registration response.
func ReadRegistrationForTest(doc []byte, redirect string) (id, method string, err error) {
	c, err := readRegistration(doc, &registrationRequest{AuthMethod: AuthNone}, redirect)
	return c.ClientID, c.Method, err
}

// CheckAnswerForTest checks an authorization response.
func CheckAnswerForTest(issuer, state string, required bool, answer url.Values) (string, error) {
	p := &pending{issuer: issuer, state: state, issRequired: required}
	return p.check(answer)
}
