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

// record is a token as it is stored, with all that renewing or revoking it
// takes.
type record struct {
	Issuer     string          `json:"issuer"`
	Resource   string          `json:"resource"`
	Metadata   string          `json:"metadata,omitempty"` // where the server has said that there is some
	ClientID   string          `json:"clientId,omitempty"`
	Client     *dynamicClient  `json:"client,omitempty"` // if it was registered for this
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

// endpoints are what of an authorization server's metadata a token needs.
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
	// unproven is set until the server has accepted a token that is new.
	unproven  atomic.Bool
	refreshed bool
}

// String keeps the tokens out of logs.
func (c *credential) String() string { return fmt.Sprintf("token of %s for %s", c.Issuer, c.Resource) }

// LogValue implements slog.LogValuer.
func (c *credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// bound reports whether the token is good only with proofs of its key.
func (c *credential) bound() bool { return c.key != nil }

// endsWithin reports whether the token ends within d, or within half of its
// life if that is less. One without an end may be refused at any time, and is
// good until then.
func (c *credential) endsWithin(d time.Duration) bool {
	return !c.Expires.IsZero() && time.Until(c.Expires) <= min(d, max(0, c.Expires.Sub(c.Obtained)/2))
}

// tokenKey is where the token of an authorization server for a resource is in
// the store.
//
// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
func tokenKey(issuer, resource string) string { return "token " + issuer + " " + resource }

func clientKey(issuer string) string { return "client " + issuer }

func serverKey(url string) string { return "server " + url }

// place says which of the tokens in the store is for a server.
type place struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`
}

// encode returns a credential as it is stored.
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

// decodeCredential reads what encode wrote, or nothing.
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

// token returns the token that is in use; nil if there is none. The first time
// that is the one in the store.
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

// stored returns the token in the store. One that cannot be read is as good as
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

// keep uses a token that was just obtained, and stores it.
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

// use makes a token the one that is sent; nil is none.
func (c *Client) use(t *credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded, c.current = true, t
}
