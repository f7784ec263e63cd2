package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// registration is how the user has registered this program with a server's
// authorization server. It is remembered from one login to the next.
type registration struct {
	Issuer      string `json:"issuer,omitzero"`
	ClientID    string `json:"client_id,omitzero"`
	SecretText  string `json:"client_secret,omitzero"`
	MetadataURL string `json:"client_metadata,omitzero"`
	DPoP        bool   `json:"dpop,omitzero"`
}

func registrationKey(url string) string { return "registration " + url }

// preRegistered returns the client that the user has registered, by its issuer.
func (r *registration) preRegistered() map[string]oauth.Credentials {
	if r.ClientID == "" {
		return nil
	}
	issuer := r.Issuer
	if issuer == "" {
		issuer = oauth.AnyIssuer
	}
	return map[string]oauth.Credentials{issuer: {ClientID: r.ClientID, Secret: oauth.Secret(r.SecretText)}}
}

// remember keeps the registration for later runs.
func (r *registration) remember(ctx context.Context, s oauth.Store, url string) error {
	doc, err := wire.Marshal(r)
	if err != nil {
		return err
	}
	return s.Update(ctx, registrationKey(url), func(context.Context, []byte) ([]byte, error) { return doc, nil })
}

// recall returns the registration that was remembered, or none.
func recall(ctx context.Context, s oauth.Store, url string) (*registration, error) {
	r := new(registration)
	doc, err := s.Load(ctx, registrationKey(url))
	if err != nil || doc == nil {
		return r, err
	}
	return r, wire.Unmarshal(doc, r)
}

// authorizer returns the OAuth client that logs in to the server at a URL. It
// is closed when the program ends.
func (a *app) authorizer(url string, r *registration, store oauth.Store, receiver oauth.Receiver) (*oauth.Client, error) {
	c, err := a.newAuthorizer(url, r, store, receiver)
	if err == nil {
		a.atEnd = append(a.atEnd, c.Close)
	}
	return c, err
}

// newAuthorizer is authorizer for who closes the client.
func (a *app) newAuthorizer(url string, r *registration, store oauth.Store, receiver oauth.Receiver) (*oauth.Client, error) {
	return oauth.New(&oauth.Options{
		URL:               url,
		Store:             store,
		Grant:             &oauth.AuthorizationCode{Receiver: receiver},
		PreRegistered:     r.preRegistered(),
		ClientMetadataURL: r.MetadataURL,
		Metadata:          oauth.Metadata{Name: "Parley", SoftwareID: "parley", SoftwareVersion: buildVersion()},
		DPoP:              r.DPoP,
		Logger:            a.logger(),
	})
}

// authorized returns an HTTP client that logs in to the server at a URL when
// the server demands it. It returns nil where there can be no login, because a
// token would be sent unencrypted.
func (a *app) authorized(ctx context.Context, url string) (*http.Client, error) {
	if _, err := httpcall.ParseURL(url); err != nil || !mayLogIn(url) {
		return nil, err
	}
	v := a.credentials(ctx)
	r, err := recall(ctx, v, url)
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

// mayLogIn reports whether a token for the server at a URL would be sent encrypted, or stay
// on this machine.
func mayLogIn(url string) bool {
	u, err := httpcall.ParseURL(url)
	return err == nil && (u.Scheme != "http" || safehttp.IsLoopback(u))
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
