package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/mcp"
)

// ExchangeOptions configure an Exchange.
type ExchangeOptions struct {
	// URL is where the server is.
	URL string
	// Grant gets a token in exchange for that of subject. Required.
	Grant func(subject func(context.Context) (oauth.Secret, string, error)) oauth.Grant
	// Scopes are asked for besides those that the server demands.
	Scopes []string
	// Logger logs what goes wrong. nil means slog.Default().
	Logger *slog.Logger
	// MaxTokens bounds the tokens that are kept. 0 means 10,000.
	MaxTokens int
}

// Exchange gets a token for each user in exchange for the one that their client has for
// the gateway (RFC 8693), and keeps it until shortly before it ends. What one client of a
// user may do is not for another that may do less, so each has a token of its own.
type Exchange struct {
	opts ExchangeOptions

	mu     sync.Mutex
	closed bool
	tokens map[string]*exchanged
	ending sync.WaitGroup
}

var _ Account = (*Exchange)(nil)

// exchanged is a token that was got in exchange, for all requests of a user's client.
type exchanged struct {
	client    *oauth.Client
	transport http.RoundTripper
	used      time.Time // guarded by Exchange.mu

	mu   sync.Mutex
	from *mcp.Authorization // the newest
}

// cooldown is how long a refusal counts, so that an authorization server is not asked
// again for each request.
const cooldown = 5 * time.Second

// NewExchange returns what gets tokens for the server at a URL.
func NewExchange(o ExchangeOptions) (*Exchange, error) {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	o.MaxTokens = cmp.Or(o.MaxTokens, 10_000)
	e := &Exchange{opts: o, tokens: map[string]*exchanged{}}
	_, err := e.make(nil) // what could fail later fails now
	return e, err
}

// For implements Account.
func (e *Exchange) For(peer *mcp.Peer) http.RoundTripper { return &exchanging{e, newCaller(peer)} }

// exchanging is an Exchange on one connection.
type exchanging struct {
	*Exchange

	caller *caller
}

// RoundTrip implements http.RoundTripper.
func (e *exchanging) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := e.caller.now(r.Context())
	var t *exchanged
	if err == nil {
		t, err = e.token(a)
	}
	if err != nil {
		closeBody(r)
		return nil, err
	}
	return t.transport.RoundTrip(r)
}

// keyOf identifies all requests for which one token will do.
func keyOf(a *mcp.Authorization) string {
	return fmt.Sprintf("%q %q %q", a.Principal(), a.ClientID, slices.Sorted(slices.Values(a.Scopes)))
}

// token returns what has the token for whoever sends a request.
func (e *Exchange) token(a *mcp.Authorization) (*exchanged, error) {
	key := keyOf(a)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, oauth.ErrClosed
	}
	t := e.tokens[key]
	if t == nil {
		var err error
		if t, err = e.make(a); err != nil {
			return nil, err
		}
		e.makeRoom()
		e.tokens[key] = t
	}
	t.used = time.Now()
	t.renew(a)
	return t, nil
}

func (e *Exchange) make(a *mcp.Authorization) (*exchanged, error) {
	t := &exchanged{from: a}
	client, err := oauth.New(&oauth.Options{
		URL: e.opts.URL, Grant: e.opts.Grant(t.subject), Scopes: e.opts.Scopes, Logger: e.opts.Logger, Cooldown: cooldown,
	})
	if err != nil {
		return nil, err
	}
	t.client, t.transport = client, client.Transport(http.DefaultTransport)
	return t, nil
}

// makeRoom forgets the token that nobody has used for the longest time, if there are too
// many. The caller holds e.mu.
func (e *Exchange) makeRoom() {
	if len(e.tokens) < e.opts.MaxTokens {
		return
	}
	oldest := ""
	for key, t := range e.tokens {
		if oldest == "" || t.used.Before(e.tokens[oldest].used) {
			oldest = key
		}
	}
	t := e.tokens[oldest]
	delete(e.tokens, oldest)
	e.ending.Go(func() { _ = t.client.Close() }) // ends when what is under way has ended; it has nothing to say
}

// renew takes a newer token of the client.
func (t *exchanged) renew(a *mcp.Authorization) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from = a
}

// errEnded says that there is nothing to exchange.
var errEnded = errors.New("the token of the client has expired")

// subject is the token that is exchanged.
func (t *exchanged) subject(context.Context) (oauth.Secret, string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.from.Expires.IsZero() && !time.Now().Before(t.from.Expires) {
		return "", "", errEnded
	}
	return oauth.Secret(auth.AccessToken(t.from)), oauth.TokenTypeAccess, nil
}

// Close implements Account. It forgets all tokens.
func (e *Exchange) Close() error {
	e.mu.Lock()
	e.closed = true
	for _, t := range e.tokens {
		e.ending.Go(func() { _ = t.client.Close() }) // as above
	}
	clear(e.tokens)
	e.mu.Unlock()
	e.ending.Wait()
	return nil
}

// String keeps the options, which may hold secrets, out of logs.
func (e *Exchange) String() string { return "token exchange for " + strings.TrimSpace(e.opts.URL) }
