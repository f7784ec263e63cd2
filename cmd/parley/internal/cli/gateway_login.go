package cli

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/mcp"
)

// logins are how the gateway logs in at the servers behind it. The connections to one
// server share a login, and so its tokens.
type logins struct {
	a       *app
	desk    *login.Desk                  // where users log in themselves
	vault   func() (*login.Vault, error) // where that is kept
	changed func(backend string)         // called when somebody has

	mu   sync.Mutex
	made map[string]*loginAt
}

// loginAt is how the gateway logs in at a server, as long as its configuration is Same.
type loginAt struct {
	web     *http.Client                       // of all users, or
	account login.Account                      // of each
	status  func(context.Context) oauth.Status // of the program's own; nil if that is not known
	end     func() error
}

// at returns what logs in at the server at a URL for the connections of peer, or nil if
// nothing is said of that. ctx is the gateway's.
func (l *logins) at(ctx context.Context, b *config.Backend, url string, peer *mcp.Peer) (*http.Client, error) {
	made, err := l.of(ctx, b, url)
	switch {
	case err != nil || made == nil:
		return nil, err
	case made.account != nil:
		return &http.Client{Transport: made.account.For(peer)}, nil
	}
	return made.web, nil
}

// of returns how the gateway logs in at a server, or nil if nothing is said of that.
func (l *logins) of(ctx context.Context, b *config.Backend, url string) (*loginAt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if made := l.made[nameOf(b)]; made != nil {
		return made, nil
	}
	made, err := l.make(ctx, b, url)
	if err == nil && made != nil {
		if l.made == nil {
			l.made = map[string]*loginAt{}
		}
		l.made[nameOf(b)] = made
	}
	return made, err
}

// nameOf identifies a server and how it is reached.
func nameOf(b *config.Backend) string { return b.Name + " " + b.Same() }

// door returns what lets those in who have logged in at a server themselves, or nil if
// that is not how one logs in there. ctx is the gateway's.
func (l *logins) door(ctx context.Context, b *config.Backend) func(context.Context, *mcp.Exchange, mcp.ServeFunc) (any, error) {
	if p, err := b.Person(); p == nil && err == nil {
		return nil
	}
	base, known := ctx, new(atomic.Pointer[login.Users])
	return func(ctx context.Context, x *mcp.Exchange, next mcp.ServeFunc) (any, error) {
		users := known.Load()
		if users == nil {
			t, err := b.Target()
			if err != nil {
				return nil, err
			}
			made, err := l.of(base, b, t.URL)
			if err != nil {
				return nil, err
			}
			users, _ = made.account.(*login.Users) // that is what of has made of a Person
			known.Store(users)
		}
		return users.Serve(ctx, x, next)
	}
}

func (l *logins) make(ctx context.Context, b *config.Backend, url string) (*loginAt, error) {
	own, err := b.Credentials()
	if err != nil {
		return nil, err
	}
	switch {
	case own != nil:
		c, err := oauth.New(&oauth.Options{
			URL:    url,
			Grant:  &oauth.ClientCredentials{Issuer: own.Issuer, Client: own.Client},
			Scopes: own.Scopes,
			Logger: l.a.logger(),
		})
		if err != nil {
			return nil, err
		}
		return &loginAt{web: &http.Client{Transport: c.Transport(http.DefaultTransport)}, status: c.Status, end: c.Close}, nil
	case b.Login:
		web, err := l.a.authorized(ctx, url)
		return &loginAt{web: web, end: func() error { return nil }}, err // the program ends it
	case b.Personal():
		account, err := l.personal(b, url)
		if err != nil {
			return nil, err
		}
		return &loginAt{account: account, end: account.Close}, nil
	}
	return nil, nil //nolint:nilnil // there is no login
}

// personal returns how the gateway logs in for each user.
func (l *logins) personal(b *config.Backend, url string) (login.Account, error) {
	if b.Pass {
		return login.NewPass(url, b.PassAudience)
	}
	p, err := b.Person()
	if err != nil {
		return nil, err
	}
	if p != nil {
		vault, err := l.vault()
		if err != nil {
			return nil, err
		}
		return login.NewUsers(login.UsersOptions{
			Backend: b.Name, URL: url, Vault: vault, Desk: l.desk, Scopes: p.Scopes, PreRegistered: p.PreRegistered,
			Changed: func() { l.changed(b.Name) }, Logger: l.a.logger(),
		}), nil
	}
	e, err := b.Exchange()
	if err != nil {
		return nil, err
	}
	return login.NewExchange(login.ExchangeOptions{
		URL: url, Scopes: e.Scopes, Logger: l.a.logger(),
		Grant: func(subject func(context.Context) (oauth.Secret, string, error)) oauth.Grant {
			return grantOf(e, subject)
		},
	})
}

// grantOf returns how a subject's token is exchanged.
func grantOf(e *config.Exchange, subject func(context.Context) (oauth.Secret, string, error)) oauth.Grant {
	if p := e.Provider; p != nil {
		return &oauth.EnterpriseManaged{
			TokenEndpoint: p.TokenEndpoint, ProviderIssuer: p.Issuer, Provider: p.Client, Subject: subject, Issuer: e.Issuer, Client: e.Client,
		}
	}
	g := &oauth.TokenExchange{Issuer: e.Issuer, Client: e.Client, Subject: subject, Audience: e.Audience}
	if e.Actor != "" {
		g.Actor = func(context.Context) (oauth.Secret, string, error) { return e.Actor, oauth.TokenTypeJWT, nil }
	}
	return g
}

// token is what is known of the gateway's own token for a server, or nil.
func (l *logins) token(ctx context.Context, b *config.Backend) *consolepage.Token {
	l.mu.Lock()
	made := l.made[nameOf(b)]
	l.mu.Unlock()
	if made == nil || made.status == nil {
		return nil
	}
	s := made.status(ctx)
	t := tokenOf(&s)
	return &t
}

func tokenOf(s *oauth.Status) consolepage.Token {
	return consolepage.Token{LoggedIn: s.LoggedIn, Issuer: s.Issuer, Scopes: s.Scopes, Expires: s.Expires, Renewable: s.Renewable}
}

// keep ends the logins that a configuration has no use for; nil is the end of all.
func (l *logins) keep(c *config.Config) {
	used := map[string]bool{}
	if c != nil {
		for _, b := range c.Backends {
			used[nameOf(b)] = true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, made := range l.made {
		if !used[name] {
			_ = made.end() // it has nothing to say
			delete(l.made, name)
		}
	}
}
