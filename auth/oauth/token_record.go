package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/dpop"
	"github.com/parley-mcp/parley/internal/wire"
)

// record is a token as it is stored, with everything needed to renew or revoke
// it.
type record struct {
	Issuer     string          `json:"issuer"`
	Resource   string          `json:"resource"`
	Metadata   string          `json:"metadata,omitempty"` // the URL that the server's challenge named
	ClientID   string          `json:"clientId,omitempty"`
	Client     *dynamicClient  `json:"client,omitempty"` // if it was registered dynamically
	Access     string          `json:"accessToken"`
	Type       string          `json:"tokenType"`
	Refresh    string          `json:"refreshToken,omitempty"`
	Obtained   time.Time       `json:"obtained,omitzero"`
	Expires    time.Time       `json:"expires,omitzero"`
	Requested  []string        `json:"requestedScopes,omitempty"`
	Granted    []string        `json:"grantedScopes,omitempty"`
	Authorized time.Time       `json:"authorized,omitzero"`
	Endpoints  endpoints       `json:"endpoints"`
	Key        json.RawMessage `json:"dpopKey,omitempty"`
}

// endpoints is the part of an authorization server's metadata that a token
// needs.
type endpoints struct {
	Token       string   `json:"token"`
	Revocation  string   `json:"revocation,omitempty"`
	AuthMethods []string `json:"authMethods,omitempty"`
	SigningAlgs []string `json:"signingAlgs,omitempty"`
}

// credential is a token in use. Its record does not change.
type credential struct {
	record
	key *dpop.Key // nil for a bearer token
	// unproven is set for a new token until the server has accepted it.
	unproven  atomic.Bool
	refreshed bool
}

// String keeps the tokens out of logs.
func (c *credential) String() string { return fmt.Sprintf("token of %s for %s", c.Issuer, c.Resource) }

// LogValue implements slog.LogValuer.
func (c *credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// bound reports whether the token is only valid with proofs of its key.
func (c *credential) bound() bool { return c.key != nil }

// endsWithin reports whether the token ends within d, or within half of its
// lifetime if that is shorter. A token without an expiry may be refused at any
// time, and counts as valid until then.
func (c *credential) endsWithin(d time.Duration) bool {
	return !c.Expires.IsZero() && time.Until(c.Expires) <= min(d, max(0, c.Expires.Sub(c.Obtained)/2))
}

// tokenKey is the key in the store of an authorization server's token for a
// resource.
//
// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
func tokenKey(issuer, resource string) string { return "token " + issuer + " " + resource }

// RegistrationKeyPrefix is how the keys of registrations begin in a Store: what an
// authorization server knows of this program, and not of a user. A program with a Store
// for each of its users can keep them in one place.
const RegistrationKeyPrefix = "client "

func clientKey(issuer string) string { return RegistrationKeyPrefix + issuer }

func serverKey(url string) string { return "server " + url }

// place says which token in the store is a server's.
type place struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`
}

// encode returns the credential in its stored form.
func (c *credential) encode() ([]byte, error) {
	r := c.record
	if c.key != nil {
		key, err := c.key.Marshal()
		if err != nil {
			return nil, err
		}
		r.Key = key
	}
	return wire.Marshal(&r)
}

// decodeCredential reads what encode wrote; no value gives no credential.
func decodeCredential(value []byte) (*credential, error) {
	var c credential
	if err := wire.Unmarshal(value, &c.record); err != nil || c.Access == "" {
		return nil, fmt.Errorf("the stored token is not one; log out to forget it")
	}
	if len(c.Key) > 0 {
		key, err := dpop.ParseKey(c.Key)
		if err != nil {
			return nil, err
		}
		c.key, c.Key = key, nil
	}
	return &c, nil
}

// token returns the token in use; nil if there is none. The first call loads it
// from the store.
func (c *Client) token(ctx context.Context) *credential {
	c.mu.Lock()
	current, loaded := c.current, c.loaded
	c.mu.Unlock()
	if loaded {
		return current
	}
	stored := c.stored(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.loaded && ctx.Err() == nil {
		c.loaded, c.current = true, stored
	}
	return c.current
}

// stored returns the token in the store. One that cannot be read counts as
// none: the user can log in again.
func (c *Client) stored(ctx context.Context) *credential {
	var where place
	value, err := c.store.Load(ctx, serverKey(c.opts.URL))
	if err == nil && value != nil {
		err = wire.Unmarshal(value, &where)
	}
	if err == nil && where.Issuer != "" {
		value, err = c.store.Load(ctx, tokenKey(where.Issuer, where.Resource))
	} else {
		value = nil
	}
	var found *credential
	if err == nil && value != nil {
		found, err = decodeCredential(value)
	}
	if err != nil {
		c.opts.Logger.WarnContext(ctx, "the token store could not be read", "error", err)
		return nil
	}
	if found != nil && c.opts.DPoP && !found.bound() {
		return nil
	}
	return found
}

// keep puts a token that was just obtained to use, and stores it.
func (c *Client) keep(ctx context.Context, t *credential) error {
	c.use(t)
	value, err := t.encode()
	if err != nil {
		return err
	}
	where, err := wire.Marshal(place{t.Issuer, t.Resource})
	if err != nil {
		return err
	}
	if err := replace(ctx, c.store, tokenKey(t.Issuer, t.Resource), value); err != nil {
		return fmt.Errorf("the token could not be stored: %w", err)
	}
	if err := replace(ctx, c.store, serverKey(c.opts.URL), where); err != nil {
		return fmt.Errorf("the token could not be stored: %w", err)
	}
	return nil
}

// use makes t the token that is sent.
func (c *Client) use(t *credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded, c.current = true, t
}

// drop makes no token be sent.
func (c *Client) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded, c.current = true, nil
	c.logouts++
}

// since returns what reuse takes, for a token that is about to be looked for.
func (c *Client) since() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logouts
}

// reuse is use for a token that was found, unless it was dropped in the meantime: a logout
// takes a while, in which others still find what it is about to forget.
func (c *Client) reuse(t *credential, since int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logouts == since {
		c.loaded, c.current = true, t
	}
}
