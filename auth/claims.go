package auth

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/scope"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// claims are what is read from a JWT (RFC 9068) or from the response to an
// introspection request (RFC 7662).
type claims struct {
	Active   bool          `json:"active"`
	Issuer   string        `json:"iss"`
	Subject  string        `json:"sub"`
	Audience oneOrMore     `json:"aud"`
	Expires  *date         `json:"exp"`
	Before   *date         `json:"nbf"`
	Issued   *date         `json:"iat"`
	Scope    words         `json:"scope"`
	Scopes   words         `json:"scp"`
	ClientID string        `json:"client_id"`
	Party    string        `json:"azp"`
	Confirm  *confirmation `json:"cnf"`
}

// confirmation says how a sender proves that a token is its own (RFC 7800).
type confirmation struct {
	KeyThumbprint string `json:"jkt"`
}

// date is a NumericDate: seconds since 1970, possibly with a fraction.
type date float64

// maxDate keeps dates within the range of time.Time.
const maxDate = 1 << 40

func (d *date) time() time.Time {
	whole, part := math.Modf(float64(*d))
	return time.Unix(int64(whole), int64(part*1e9))
}

// UnmarshalJSON accepts a number.
func (d *date) UnmarshalJSON(b []byte) error {
	var f float64
	if err := wire.Unmarshal(b, &f); err != nil {
		return err
	}
	if math.IsNaN(f) || f < 0 || f > maxDate {
		return errors.New("no date")
	}
	*d = date(f)
	return nil
}

// oneOrMore is a string or an array of strings.
type oneOrMore []string

// UnmarshalJSON accepts either form.
func (o *oneOrMore) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		err := wire.Unmarshal(b, &s)
		*o = oneOrMore{s}
		return err
	}
	return wire.Unmarshal(b, (*[]string)(o))
}

// words is a string of words separated by spaces, or an array of strings.
type words []string

// UnmarshalJSON accepts either form.
func (w *words) UnmarshalJSON(b []byte) error {
	var list oneOrMore
	if err := list.UnmarshalJSON(b); err != nil {
		return err
	}
	for _, s := range list {
		*w = append(*w, strings.Fields(s)...)
	}
	return nil
}

// checkTimes checks that now is within the token's validity. A token that does
// not say when it expires is invalid (RFC 9068, section 2.2).
func (c *claims) checkTimes(now time.Time, leeway time.Duration) error {
	switch {
	case c.Expires == nil:
		return Invalid("the token does not say when it expires")
	case !now.Before(c.Expires.time().Add(leeway)):
		return Invalid("the token has expired")
	}
	return c.checkBegin(now, leeway)
}

func (c *claims) checkBegin(now time.Time, leeway time.Duration) error {
	for _, d := range []*date{c.Before, c.Issued} {
		if d != nil && d.time().After(now.Add(leeway)) {
			return Invalid("the token is not good yet; are the clocks right?")
		}
	}
	return nil
}

// token returns the token that the claims describe. payload is their JSON.
func (c *claims) token(payload []byte, leeway time.Duration) (*Token, error) {
	t := &Token{
		Audience: c.Audience,
		Authorization: mcp.Authorization{
			Issuer: c.Issuer, Subject: c.Subject, ClientID: c.client(),
			Scopes: scope.Union(c.Scope, c.Scopes), Claims: json.RawMessage(slices.Clone(payload)),
		},
	}
	// A client that acts for itself has its own identifier as the subject. It
	// must not pass as the user of that name (RFC 9068, section 5).
	if t.Subject == t.ClientID {
		t.Subject = ""
	}
	if c.Expires != nil {
		t.Expires = c.Expires.time().Add(leeway)
	}
	if c.Confirm != nil {
		if c.Confirm.KeyThumbprint == "" {
			return nil, Invalid("the token is bound to its sender in a way that cannot be checked here")
		}
		t.KeyThumbprint = c.Confirm.KeyThumbprint
	}
	return t, nil
}

func (c *claims) client() string {
	if c.ClientID != "" {
		return c.ClientID
	}
	return c.Party
}
