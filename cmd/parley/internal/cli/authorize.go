package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/mcp"
)

// authorizer returns the OAuth client that logs in to the server at a URL. It
// is closed when the program ends.
func (a *app) authorizer(url string, r *signin.Registration, store oauth.Store, receiver oauth.Receiver) (*oauth.Client, error) {
	c, err := a.newAuthorizer(url, r, store, receiver)
	if err == nil {
		a.atEnd = append(a.atEnd, c.Close)
	}
	return c, err
}

// newAuthorizer is authorizer for who closes the client.
func (a *app) newAuthorizer(url string, r *signin.Registration, store oauth.Store, receiver oauth.Receiver) (*oauth.Client, error) {
	o := r.Options(url, buildVersion(), store, receiver)
	o.Logger = a.logger()
	return oauth.New(o)
}

// authorized returns an HTTP client that logs in to the server at a URL when
// the server demands it. It returns nil where there can be no login, because a
// token would be sent unencrypted.
func (a *app) authorized(ctx context.Context, url string) (*http.Client, error) {
	if ok, err := signin.Possible(url); !ok {
		return nil, err
	}
	v := a.credentials(ctx)
	r, err := signin.Recall(ctx, v, url)
	if err != nil {
		return nil, err
	}
	seen := &demands{base: http.DefaultTransport}
	c, err := a.authorizer(url, r, v, a.receiver(url, seen))
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: c.Transport(seen)}, nil
}

// credentials returns the vault or, where there is none, a store that lasts as
// long as the program: most servers demand no login and need no vault.
func (a *app) credentials(ctx context.Context) oauth.Store {
	v, err := a.vault(ctx)
	if err == nil {
		return v
	}
	return &passing{oauth.NewMemoryStore(), sync.OnceFunc(func() {
		a.logger().Warn("the login is for this command only", "error", err)
	})}
}

// passing is a store that warns, when something is stored, that it will not
// last.
type passing struct {
	oauth.Store

	warn func()
}

// Update implements oauth.Store.
func (p *passing) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	p.warn()
	return p.Store.Update(ctx, key, change)
}

// receiver returns the way to have the user log in. Without a terminal it
// refuses.
func (a *app) receiver(url string, seen *demands) oauth.Receiver {
	if !a.interactive() && !a.flags.browse {
		return nobody{url, seen}
	}
	return a.browser()
}

// browser opens the user's browser, and prints the URL in case it does not
// open.
func (a *app) browser() oauth.Receiver {
	return patient{a, &oauth.Loopback{Show: func(r oauth.AuthorizationRequest) {
		a.note("Log in with your browser, at %s. If no page opens, go to\n  %s", label(r.Issuer, 500), label(r.URL, 8000))
	}}}
}

// patient is a receiver during whose login the time of the command does not
// pass.
type patient struct {
	app *app
	oauth.Receiver
}

// Listen implements oauth.Receiver.
func (p patient) Listen(ctx context.Context, registered []string) (oauth.Reception, error) {
	r, err := p.Receiver.Listen(ctx, registered)
	if err != nil {
		return nil, err
	}
	return patientReception{p.app, r}, nil
}

type patientReception struct {
	app *app
	oauth.Reception
}

// Receive implements oauth.Reception.
func (p patientReception) Receive(ctx context.Context, r oauth.AuthorizationRequest) (url.Values, error) {
	defer p.app.think()()
	return p.Reception.Receive(ctx, r)
}

// nobody is the receiver where there is nobody to ask.
type nobody struct {
	url  string
	seen *demands
}

// The errors of a nobody.
var (
	errNobody    = fmt.Errorf("%w: the server demands a login, and there is nobody here to ask", mcp.ErrUnauthorized)
	errTooLittle = fmt.Errorf("%w: the server demands more rights than the login has, and there is nobody here to ask", mcp.ErrUnauthorized)
)

// Listen implements oauth.Receiver.
func (n nobody) Listen(context.Context, []string) (oauth.Reception, error) {
	c, scopes := n.seen.last()
	m, err := newMend(n.url, scopes), errNobody
	if c == codeScope {
		err = errTooLittle
	}
	return nil, &failure{code: c, err: err, hint: m.hint(), mend: m}
}
