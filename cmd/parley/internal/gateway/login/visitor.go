package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/mcp"
)

// visitor is a browser.
type visitor struct {
	// known says that its user is known, to be principal.
	known     bool
	principal string
	expires   time.Time
}

// visitTime is how long a browser is known.
const visitTime = time.Hour

// cookie is the name of the cookie that browsers get. They share the cookies of a host
// among its ports, and there may be several gateways on one machine.
func (d *Desk) cookie() string {
	u, err := url.Parse(d.origin)
	if err != nil {
		return "parley-gateway"
	}
	name := "parley-gateway"
	if u.Port() != "" {
		name += "-" + u.Port()
	}
	if u.Scheme == "https" {
		return "__Host-" + name
	}
	return name
}

// of returns the cookie of a browser, and what is known of it. Without either, cookie is
// "".
func (d *Desk) of(r *http.Request) (cookie string, b visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := r.Cookie(d.cookie())
	if err != nil {
		return "", visitor{}
	}
	known := d.browsers[c.Value]
	if known == nil || time.Now().After(known.expires) {
		return "", visitor{}
	}
	return c.Value, *known
}

// welcome gives a browser a new cookie: one from before a login could be known to others.
// Users come back from authorization servers at other sites, so SameSite is Lax.
func (d *Desk) welcome(w http.ResponseWriter, r *http.Request, b visitor) (cookie string) {
	b.expires = time.Now().Add(visitTime)
	cookie = rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	if old, err := r.Cookie(d.cookie()); err == nil {
		delete(d.browsers, old.Value)
	}
	d.makeRoom()
	d.browsers[cookie] = &b
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS: on the loopback there is none
		Name: d.cookie(), Value: cookie, Path: "/", MaxAge: int(visitTime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(d.origin, "https:"),
	})
	return cookie
}

// maxBrowsers is how many browsers are known at a time. Whoever has a link can be many.
const maxBrowsers = 1000

// makeRoom forgets the browser that came first, if there is no room for one more. The
// caller holds d.mu.
func (d *Desk) makeRoom() {
	if len(d.browsers) < maxBrowsers {
		return
	}
	first := ""
	for cookie, b := range d.browsers {
		if first == "" || b.expires.Before(d.browsers[first].expires) {
			first = cookie
		}
	}
	delete(d.browsers, first)
}

// leave forgets a browser.
func (d *Desk) leave(cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.browsers, cookie)
}

// same compares cookies.
func same(one, other string) bool {
	return one != "" && subtle.ConstantTimeCompare([]byte(one), []byte(other)) == 1
}

// claim makes a link a browser's, where nothing else tells users apart: the first that
// opens it. It reports whether the link is the browser's.
func (v *visit) claim(cookie string) bool {
	v.desk.mu.Lock()
	defer v.desk.mu.Unlock()
	if v.browser == "" {
		v.browser = cookie
	}
	return same(v.browser, cookie)
}

// Identification is how a user logs in at the gateway itself.
type Identification struct {
	// Receiver leads the user's browser to the authorization server and back.
	Receiver oauth.Receiver
	// Known keeps how the gateway is registered there, for the next user.
	Known oauth.Store
	// Document is the URL of a client metadata document; "" for none.
	Document string
	Logger   *slog.Logger
}

// Identify has a user log in at the gateway itself, as its clients have them do, and
// returns who they are.
func (i *Issuer) Identify(ctx context.Context, by Identification) (*mcp.Authorization, error) {
	c, err := oauth.New(&oauth.Options{
		URL: i.Resource, Store: &split{oauth.NewMemoryStore(), by.Known}, Grant: &oauth.AuthorizationCode{Receiver: by.Receiver},
		PreRegistered: i.PreRegistered, ClientMetadataURL: by.Document, Metadata: metadataOf(""), Logger: by.Logger,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // its token is of no more use
	if err := c.Login(ctx); err != nil {
		return nil, err
	}
	token, err := c.Token(ctx)
	if err != nil {
		return nil, err
	}
	return i.Verify(ctx, string(token.Access))
}
