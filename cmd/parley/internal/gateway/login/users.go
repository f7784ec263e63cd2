package login

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/mcp"
)

// UsersOptions configure Users.
type UsersOptions struct {
	// Backend is what the configuration calls the server, and URL where it is.
	Backend, URL string
	// Vault keeps the logins, and Desk lets users log in. Required.
	Vault *Vault
	Desk  *Desk
	// Scopes are asked for besides those that the server demands.
	Scopes []string
	// PreRegistered are clients that the gateway has at authorization servers, by their
	// issuers.
	PreRegistered map[string]oauth.Credentials
	// Changed is called when a user has logged in, or has to again. nil is nobody.
	Changed func()
	// Logger logs what goes wrong. nil means slog.Default().
	Logger *slog.Logger
}

// Users are the logins of users at a server: each logs in there once, in a browser, and
// the gateway keeps their token and renews it.
//
// Spec: 2026-07-28 client/elicitation#url-mode-elicitation-for-oauth-flows.
type Users struct {
	opts UsersOptions
	has  atomic.Bool // the server has a tool of its own that is called as Tool is

	mu     sync.Mutex
	closed bool
	users  map[string]*user
}

var _ Account = (*Users)(nil)

// user is a user's login.
type user struct {
	*Users

	owner Owner
	store oauth.Store

	mu        sync.Mutex
	client    *oauth.Client // nil if there is no login
	transport http.RoundTripper
	looked    time.Time // when the store was last looked at
	lacks     []string  // scopes that the server has demanded in vain
}

// errNeeded says that the user has to log in.
var errNeeded = plain.Errorf(mcp.ErrUnauthorized, "the user has to log in at the server")

// NewUsers returns the logins of users at a server.
func NewUsers(o UsersOptions) *Users {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Changed == nil {
		o.Changed = func() {}
	}
	o.Desk.serves(o.Backend, 1)
	return &Users{opts: o, users: map[string]*user{}}
}

// For implements Account.
func (u *Users) For(peer *mcp.Peer) http.RoundTripper { return &entering{u, peer.Principal} }

// Close implements Account.
func (u *Users) Close() error {
	u.mu.Lock()
	closed := u.closed
	u.closed = true
	users := u.users
	u.users = map[string]*user{}
	u.mu.Unlock()
	if !closed {
		u.opts.Desk.serves(u.opts.Backend, -1)
	}
	u.opts.Desk.forget(u)
	for _, one := range users {
		one.drop()
	}
	return nil
}

// of returns a user.
func (u *Users) of(principal string) (*user, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil, oauth.ErrClosed
	}
	one := u.users[principal]
	if one == nil {
		owner := Owner{u.opts.Backend, u.opts.URL, principal}
		store, err := u.opts.Vault.Store(owner)
		if err != nil {
			return nil, err
		}
		one = &user{Users: u, owner: owner, store: store}
		u.users[principal] = one
	}
	return one, nil
}

// connecting returns what gets and renews the tokens of a user, who logs in by receiver.
func (u *user) connecting(receiver oauth.Receiver) (*oauth.Client, error) {
	return oauth.New(&oauth.Options{
		URL: u.opts.URL, Store: u.store, Grant: &oauth.AuthorizationCode{Receiver: receiver}, Scopes: u.opts.Scopes,
		PreRegistered: u.opts.PreRegistered, ClientMetadataURL: u.opts.Desk.document(u.opts.Backend), Metadata: metadataOf(u.opts.Backend), Logger: u.opts.Logger, Cooldown: cooldown,
	})
}

// metadataOf is what users see of the gateway where they log in for a server; "" is the
// gateway itself. They should notice where they are asked for the sake of another one.
func metadataOf(backend string) oauth.Metadata {
	m := oauth.Metadata{Name: "Parley gateway", SoftwareID: "parley-gateway"}
	if backend != "" {
		m.Name += " (" + backend + ")"
	}
	return m
}

// absent is the receiver where there is nobody to ask.
type absent struct{}

// Listen implements oauth.Receiver.
func (absent) Listen(context.Context, []string) (oauth.Reception, error) { return nil, errNeeded }

// looking is how often the store is looked at, in which another process may have changed
// something.
const looking = 5 * time.Second

// ready reports whether there is a login.
func (u *user) ready(ctx context.Context) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.client != nil && time.Since(u.looked) < looking {
		return true
	}
	c, err := u.connecting(absent{})
	if err != nil {
		u.opts.Logger.WarnContext(ctx, "nobody can log in", "backend", u.owner.Backend, "error", err)
		return false
	}
	u.looked = time.Now()
	switch in := c.Status(ctx).LoggedIn; {
	case in && u.client == nil:
		u.client, u.transport = c, c.Transport(&demanding{u, http.DefaultTransport})
		return true
	case !in && u.client != nil: // it was forgotten
		_ = u.client.Close() // it has nothing to say
		u.client, u.transport = nil, nil
	}
	_ = c.Close() // it has done nothing
	return u.client != nil
}

// drop forgets the login of this process, so that the store is looked at again.
func (u *user) drop() {
	u.mu.Lock()
	client := u.client
	u.client, u.transport, u.looked = nil, nil, time.Time{}
	u.mu.Unlock()
	if client != nil {
		_ = client.Close() // it has nothing to say
	}
}

// entering is Users on one connection.
type entering struct {
	*Users

	principal string
}

// RoundTrip implements http.RoundTripper.
func (e *entering) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := e.of(e.principal)
	if err == nil && !u.ready(r.Context()) {
		err = errNeeded
	}
	if err != nil {
		closeBody(r)
		return nil, err
	}
	u.mu.Lock()
	transport := u.transport
	u.mu.Unlock()
	if transport == nil { // it has just been forgotten
		closeBody(r)
		return nil, errNeeded
	}
	return transport.RoundTrip(r)
}

// demanding notes which scopes a server demands that a login does not have. It does not
// keep the user from what needs less.
type demanding struct {
	user *user
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (d *demanding) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.base.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusForbidden {
		d.user.note(resp.Header.Values("WWW-Authenticate"))
	}
	return resp, err
}

// maxLacks is how many scopes are asked for that challenges have named: a server could
// name others for ever.
const maxLacks = 100

// note notes the scopes of a challenge.
func (u *user) note(header []string) {
	for _, c := range challenge.Parse(header) {
		if scopes := strings.Fields(c.Get("scope")); c.Get("error") == "insufficient_scope" && len(scopes) > 0 {
			u.mu.Lock()
			if all := slices.Compact(slices.Sorted(slices.Values(append(u.lacks, scopes...)))); len(all) <= maxLacks {
				u.lacks = all
			}
			u.mu.Unlock()
		}
	}
}

// login has the user log in by receiver, and keeps the login.
func (u *user) login(ctx context.Context, receiver oauth.Receiver) error {
	c, err := u.connecting(receiver)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what it got is in the store
	u.mu.Lock()
	lacks := u.lacks
	u.mu.Unlock()
	if err := c.Login(ctx, lacks...); err != nil {
		return err
	}
	if err := u.opts.Vault.Remember(ctx, u.owner); err != nil {
		return err
	}
	u.mu.Lock()
	u.lacks = nil
	u.mu.Unlock()
	u.drop()
	u.opts.Changed()
	return nil
}
