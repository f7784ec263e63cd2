// Package signin is what the command line and the page share about logging in to servers:
// as which client, and where that is kept.
package signin

import (
	"context"
	"net/http"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
)

// Registration is how the user has registered this program with a server's
// authorization server. It is remembered from one login to the next.
type Registration struct {
	Issuer      string `json:"issuer,omitzero"`
	ClientID    string `json:"client_id,omitzero"`
	SecretText  string `json:"client_secret,omitzero"`
	MetadataURL string `json:"client_metadata,omitzero"`
	DPoP        bool   `json:"dpop,omitzero"`
}

func key(url string) string { return "registration " + url }

// preRegistered returns the client that the user has registered, by its issuer.
func (r *Registration) preRegistered() map[string]oauth.Credentials {
	if r.ClientID == "" {
		return nil
	}
	issuer := r.Issuer
	if issuer == "" {
		issuer = oauth.AnyIssuer
	}
	return map[string]oauth.Credentials{issuer: {ClientID: r.ClientID, Secret: oauth.Secret(r.SecretText)}}
}

// Remember keeps the registration for later runs.
func (r *Registration) Remember(ctx context.Context, s oauth.Store, url string) error {
	doc, err := wire.Marshal(r)
	if err != nil {
		return err
	}
	return s.Update(ctx, key(url), func(context.Context, []byte) ([]byte, error) { return doc, nil })
}

// Recall returns the registration that was remembered, or none.
func Recall(ctx context.Context, s oauth.Store, url string) (*Registration, error) {
	r := new(Registration)
	doc, err := s.Load(ctx, key(url))
	if err != nil || doc == nil {
		return r, err
	}
	return r, wire.Unmarshal(doc, r)
}

// Forget forgets what was remembered.
func Forget(ctx context.Context, s oauth.Store, url string) error {
	return s.Update(ctx, key(url), func(context.Context, []byte) ([]byte, error) { return nil, nil })
}

// Possible reports whether there can be a login at a URL: without https, anybody on the
// network could read the token, and a URL with a user name has credentials of its own. The
// error says what is wrong with the URL.
func Possible(url string) (bool, error) {
	u, err := httpcall.ParseURL(url)
	return err == nil && u.User == nil && (u.Scheme != "http" || safehttp.IsLoopback(u)), err
}

// Options returns the options of the client that logs in to the server at a URL. version
// is this program's.
func (r *Registration) Options(url, version string, store oauth.Store, receiver oauth.Receiver) *oauth.Options {
	return &oauth.Options{
		URL:               url,
		Store:             store,
		Grant:             &oauth.AuthorizationCode{Receiver: receiver},
		PreRegistered:     r.preRegistered(),
		ClientMetadataURL: r.MetadataURL,
		Metadata:          oauth.Metadata{Name: "Parley", SoftwareID: "parley", SoftwareVersion: version},
		DPoP:              r.DPoP,
	}
}

// Observed returns an HTTP client for oauth.Options.HTTP that keeps the rules of the one
// that is used without it, beneath what wrap returns.
func Observed(url string, wrap func(http.RoundTripper) http.RoundTripper) (*http.Client, error) {
	u, err := httpcall.ParseURL(url)
	if err != nil {
		return nil, err
	}
	c := safehttp.New(safehttp.Options{NamedBy: u})
	c.Transport = wrap(c.Transport)
	return c, nil
}
