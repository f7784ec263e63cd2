package cli

import (
	"context"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
)

// logins are how the gateway logs in at the servers behind it. The connections to one
// server share a login, and so its tokens.
type logins struct {
	a *app

	mu   sync.Mutex
	made map[string]*loginAt
}

// loginAt is how the gateway logs in at a server, as long as its configuration is Same.
type loginAt struct {
	web *http.Client
	end func() error
}

// at returns what logs in at the server at a URL, or nil if nothing is said of that. ctx
// is the gateway's.
func (l *logins) at(ctx context.Context, b *config.Backend, url string) (*http.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if had := l.made[b.Same()]; had != nil {
		return had.web, nil
	}
	made, err := l.make(ctx, b, url)
	if err != nil || made == nil {
		return nil, err
	}
	if l.made == nil {
		l.made = map[string]*loginAt{}
	}
	l.made[b.Same()] = made
	return made.web, nil
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
			Grant:  &oauth.ClientCredentials{Issuer: own.Issuer, Client: oauth.Credentials{ClientID: own.ID, Secret: own.Secret}},
			Scopes: own.Scopes,
			Logger: l.a.logger(),
		})
		if err != nil {
			return nil, err
		}
		return &loginAt{&http.Client{Transport: c.Transport(http.DefaultTransport)}, c.Close}, nil
	case b.Login:
		web, err := l.a.authorized(ctx, url)
		return &loginAt{web, func() error { return nil }}, err // the program ends it
	}
	return nil, nil //nolint:nilnil // there is no login
}

// keep ends the logins that a configuration has no use for; nil is the end of all.
func (l *logins) keep(c *config.Config) {
	used := map[string]bool{}
	if c != nil {
		for _, b := range c.Backends {
			used[b.Same()] = true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for same, made := range l.made {
		if !used[same] {
			_ = made.end() // it has nothing to say
			delete(l.made, same)
		}
	}
}
