package auth

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/flight"

	"github.com/parley-mcp/parley/internal/wire"
)

// IntrospectionOptions configure an Introspection.
type IntrospectionOptions struct {
	// Issuer is the authorization server that is asked. Required.
	Issuer string
	// Endpoint is the URL at which it is asked. "" means the
	// introspection_endpoint of the issuer's metadata.
	Endpoint string
	// ClientID is this server's name at the issuer. Required.
	ClientID string
	// ClientSecret authenticates this server: by HTTP Basic, or in the body if
	// SecretInBody is set.
	ClientSecret string `json:"-"`
	SecretInBody bool
	// Key authenticates it instead, by a signed assertion (private_key_jwt): an
	// RSA, ECDSA or Ed25519 key, whose public half the issuer knows as KeyID.
	Key   crypto.Signer `json:"-"`
	KeyID string
	// DefaultAudience is the audience of tokens for which the issuer names
	// none. "" refuses such tokens. It may be the resource only if the issuer
	// calls no token active for this client that is meant for another resource.
	DefaultAudience string
	// MaxAge is how long an answer is used, and so for how long a token may
	// still be good after it was revoked. 0 means 30 seconds; negative means
	// that the issuer is asked about each request. A bad token is remembered
	// for 5 seconds.
	MaxAge time.Duration
	// MaxTokens bounds the number of responses that are kept. 0 means 10,000.
	MaxTokens int
	// HTTP sends the requests to the issuer. nil is as in JWTOptions.
	HTTP *http.Client
}

// String keeps the secret out of logs.
func (o IntrospectionOptions) String() string {
	return fmt.Sprintf("introspection of %s by %q", o.Issuer, o.ClientID)
}

// GoString implements fmt.GoStringer.
func (o IntrospectionOptions) GoString() string { return o.String() }

// Introspection verifies tokens of any form by asking their issuer (RFC 7662).
// Concurrent requests with the same token wait for one response. It keeps
// hashes of tokens, not the tokens. Connections to the issuer are closed after
// 30 seconds without use.
type Introspection struct {
	opts   IntrospectionOptions
	fetch  *fetcher
	proof  *assertion // nil without a key
	cache  cache
	flight flight.Group[*Token]
	found  endpoint
}

var _ Verifier = (*Introspection)(nil)

// String keeps the secret out of logs.
func (v *Introspection) String() string { return v.opts.String() }

// GoString implements fmt.GoStringer.
func (v *Introspection) GoString() string { return v.opts.String() }

// NewIntrospection returns an Introspection, without any I/O yet. opts is copied;
// its required fields must be set. An error says which option is missing or
// wrong.
func NewIntrospection(opts *IntrospectionOptions) (*Introspection, error) {
	o := *cmp.Or(opts, &IntrospectionOptions{})
	u, err := checkIssuer(o.Issuer)
	switch {
	case err != nil:
		return nil, fmt.Errorf("auth.IntrospectionOptions.Issuer: %w", err)
	case o.ClientID == "":
		return nil, errors.New("auth.IntrospectionOptions.ClientID is missing")
	case (o.ClientSecret == "") == (o.Key == nil):
		return nil, errors.New("auth.IntrospectionOptions: either ClientSecret or Key is needed")
	}
	v := &Introspection{opts: o}
	if o.Endpoint != "" {
		if u, err = httpsURL(o.Endpoint); err != nil {
			return nil, fmt.Errorf("auth.IntrospectionOptions.Endpoint: %w", err)
		}
	}
	if o.Key != nil {
		if v.proof, err = newAssertion(o.Key, o.KeyID, o.ClientID, o.Issuer); err != nil {
			return nil, fmt.Errorf("auth.IntrospectionOptions.Key: %w", err)
		}
	}
	v.fetch = newFetcher(o.HTTP, u)
	v.found = endpoint{fetch: v.fetch, issuer: o.Issuer, url: o.Endpoint}
	v.cache = newCache(o.MaxAge, o.MaxTokens)
	return v, nil
}

// Verify returns what the issuer says about a token.
func (v *Introspection) Verify(ctx context.Context, token string) (*Token, error) {
	if len(token) > maxToken {
		return nil, Invalid("the token is longer than %d bytes", maxToken)
	}
	key := keyOf(token)
	if known, ok := v.cache.get(key, time.Now()); ok {
		return known.token, known.err
	}
	asked := v.flight.Begin(string(key[:]), func() (*Token, error) { // ends after fetchTimeout at the latest
		// Another call may have got the response since this call looked.
		if known, ok := v.cache.get(key, time.Now()); ok {
			return known.token, known.err
		}
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		t, err := v.ask(asking, token)
		v.cache.put(key, t, err, time.Now())
		return t, err
	})
	select {
	case <-asked.Done():
		return asked.Result()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask asks the issuer.
func (v *Introspection) ask(ctx context.Context, token string) (*Token, error) {
	req, err := v.request(ctx, token)
	if err != nil {
		return nil, err
	}
	a, err := v.fetch.do(req)
	switch {
	case err != nil:
		return nil, fmt.Errorf("introspection: %w", err)
	case a.status != http.StatusOK:
		return nil, fmt.Errorf("introspection: %s: status %d; does the issuer know this client?", req.URL.Redacted(), a.status)
	}
	var c claims
	if err := wire.Unmarshal(a.body, &c); err != nil {
		return nil, fmt.Errorf("introspection: the answer is malformed: %w", err)
	}
	return v.read(&c, a.body)
}

// request returns the request that asks about a token.
func (v *Introspection) request(ctx context.Context, token string) (*http.Request, error) {
	at, err := v.found.get(ctx)
	if err != nil {
		return nil, err
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	if err := v.identify(form); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode())) //nolint:gosec,nolintlint // the operator chose where, or the issuer did; gosec does not always see this
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if v.proof == nil && !v.opts.SecretInBody {
		// RFC 6749, section 2.3.1: both are form-encoded first.
		req.SetBasicAuth(url.QueryEscape(v.opts.ClientID), url.QueryEscape(v.opts.ClientSecret))
	}
	return req, nil
}

// identify adds this server's credentials to a form, unless a header has them.
func (v *Introspection) identify(form url.Values) error {
	switch {
	case v.proof != nil:
		signed, err := v.proof.sign(time.Now())
		if err != nil {
			return err
		}
		form.Set("client_id", v.opts.ClientID)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", signed)
	case v.opts.SecretInBody:
		form.Set("client_id", v.opts.ClientID)
		form.Set("client_secret", v.opts.ClientSecret)
	}
	return nil
}

// read returns what a response says. Most members are optional.
func (v *Introspection) read(c *claims, body []byte) (*Token, error) {
	now := time.Now()
	switch {
	case !c.Active:
		return nil, Invalid("the token is not good, or not any more")
	case c.Issuer != "" && c.Issuer != v.opts.Issuer:
		return nil, Invalid("the token is of another issuer")
	case c.Expires != nil && !now.Before(c.Expires.time()):
		return nil, Invalid("the token has expired")
	}
	// The issuer's clock is the one that counts; small differences are not
	// judged here.
	if err := c.checkBegin(now, time.Minute); err != nil {
		return nil, err
	}
	c.Issuer = v.opts.Issuer
	if len(c.Audience) == 0 && v.opts.DefaultAudience != "" {
		c.Audience = oneOrMore{v.opts.DefaultAudience}
	}
	return c.token(body, 0)
}
