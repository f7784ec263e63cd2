package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/mcp"
)

// Desk is where users log in at servers behind the gateway: pages of the gateway's own,
// that are opened in a browser. Whoever opens one must be who asked for it, or a user could
// be tricked into lending a login to somebody else.
//
// Spec: 2026-07-28 client/elicitation#phishing.
type Desk struct {
	opts     DeskOptions
	ctx      context.Context //nolint:containedctx // the desk's lifetime: ended by Close
	end      context.CancelFunc
	work     sync.WaitGroup // logins that are under way
	mux      *http.ServeMux
	known    oauth.Store // how the gateway is registered where its own users log in
	mu       sync.Mutex
	origin   string
	visitors Visitors
	visits   map[string]*visit
	flows    map[string]*flow    // by the state of the request
	backends map[string]int      // how many Users each has
	browsers map[string]*visitor // by the cookie
}

// DeskOptions configure a Desk.
type DeskOptions struct {
	// Reach returns where the pages are, and who visits them, if Open has not said so by
	// the time that they are needed; nil means that there are none then.
	Reach func() (origin string, v Visitors, err error)
	// Logger logs what goes wrong. nil means slog.Default().
	Logger *slog.Logger
	// Lifetime is how long a link is good. 0 means 15 minutes.
	Lifetime time.Duration
}

// Visitors says how the pages know who visits them. The zero value knows nobody.
type Visitors struct {
	// Alone says that the gateway has one user, and that nobody else reaches it: who opens
	// a link first is who asked for it.
	Alone bool
	// Bearer is the token that all clients have, which visitors must know, too.
	Bearer oauth.Secret
	// Issuer is where users log in who are principals; nil for none.
	Issuer *Issuer
}

// Issuer is how users log in at the gateway itself, in a browser.
type Issuer struct {
	// Resource is the gateway as its clients know it.
	Resource string
	// PreRegistered are the clients that the gateway has at its authorization server.
	PreRegistered map[string]oauth.Credentials
	// Verify returns whose token for the gateway it is.
	Verify func(ctx context.Context, token string) (*mcp.Authorization, error)
}

// visit is a link that was given to a user, until it is used or ends.
type visit struct {
	desk    *Desk
	id      string
	user    *user
	expires time.Time
	done    chan struct{} // closed when the user has logged in

	// Guarded by Desk.mu.
	browser string // that has opened it, where nothing else tells users apart
	clients []client
	flow    *flow
}

// client is a client that wants to know when its user has logged in.
type client struct {
	session string
	back    mcp.Backchannel
}

const (
	maxVisits  = 10_000
	maxClients = 16
	// noteTime is how long it may take to tell a client.
	noteTime = 5 * time.Second
)

var (
	errNoDesk    = errors.New("nobody knows at which address browsers reach the gateway; listen.public_url says it")
	errNoVisitor = errors.New("the gateway does not know its users, so any of them could lend their login to all; it needs auth.issuer, auth.bearer, or an address on the loopback")
	errCrowded   = errors.New("too many users are about to log in; try again later")
)

// NewDesk returns a desk. Close ends it.
func NewDesk(o DeskOptions) *Desk {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	o.Lifetime = cmp.Or(o.Lifetime, 15*time.Minute)
	d := &Desk{
		opts: o, known: oauth.NewMemoryStore(), mux: http.NewServeMux(),
		visits: map[string]*visit{}, flows: map[string]*flow{}, backends: map[string]int{}, browsers: map[string]*visitor{},
	}
	d.ctx, d.end = context.WithCancel(context.Background())
	d.routes()
	return d
}

// Open says where the pages are, and how they know their visitors.
func (d *Desk) Open(origin string, v Visitors) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.origin, d.visitors = strings.TrimSuffix(origin, "/"), v
}

// Close ends all logins that are under way.
func (d *Desk) Close() {
	d.end()
	d.work.Wait()
}

// reach returns why nobody can log in, or nil.
func (d *Desk) reach() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.origin == "" && d.opts.Reach != nil {
		origin, v, err := d.opts.Reach()
		if err != nil {
			return err
		}
		d.origin, d.visitors = origin, v
	}
	switch v := &d.visitors; {
	case d.origin == "":
		return errNoDesk
	case !v.Alone && v.Bearer == "" && v.Issuer == nil:
		return errNoVisitor
	}
	return nil
}

// visit returns the link for a user: the one that they have, or a new one.
func (d *Desk) visit(u *user) (*visit, error) {
	if err := d.reach(); err != nil {
		return nil, err
	}
	if v := d.open(u); v != nil {
		return v, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	if len(d.visits) >= maxVisits {
		return nil, errCrowded
	}
	v := &visit{desk: d, id: rand.Text(), user: u, expires: time.Now().Add(d.opts.Lifetime), done: make(chan struct{})}
	d.visits[v.id] = v
	return v, nil
}

// open returns the link that a user has, or nil.
func (d *Desk) open(u *user) *visit {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.visits {
		if v.user == u && v.isGood() {
			return v
		}
	}
	return nil
}

// isGood reports whether a link can still be used. The caller holds Desk.mu.
func (v *visit) isGood() bool { return !v.isOver() && time.Now().Before(v.expires) }

// isOver reports whether the user has logged in.
func (v *visit) isOver() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// tidy forgets what has ended. The caller holds d.mu.
func (d *Desk) tidy() {
	now := time.Now()
	for id, v := range d.visits {
		if now.After(v.expires) && (v.flow == nil || v.flow.over()) {
			delete(d.visits, id)
		}
	}
	for cookie, b := range d.browsers {
		if now.After(b.expires) {
			delete(d.browsers, cookie)
		}
	}
}

// forget forgets the links to a server.
func (d *Desk) forget(of *Users) {
	d.mu.Lock()
	var flows []*flow
	for id, v := range d.visits {
		if v.user.Users == of {
			delete(d.visits, id)
			if v.flow != nil {
				flows = append(flows, v.flow)
			}
		}
	}
	d.mu.Unlock()
	for _, f := range flows {
		f.cancel()
		<-f.done
	}
}

// url is the link.
func (v *visit) url() string {
	v.desk.mu.Lock()
	defer v.desk.mu.Unlock()
	return v.desk.origin + v.path()
}

func (v *visit) path() string {
	return Path + v.user.owner.Backend + "?" + url.Values{"login": {v.id}}.Encode()
}

// tells has a client told when the user has logged in. Clients without a session come back
// by themselves.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
func (v *visit) tells(x *mcp.Exchange) {
	if x.Peer.SessionID == "" {
		return
	}
	v.desk.mu.Lock()
	defer v.desk.mu.Unlock()
	known := slices.ContainsFunc(v.clients, func(c client) bool { return c.session == x.Peer.SessionID })
	if !known && len(v.clients) < maxClients {
		v.clients = append(v.clients, client{x.Peer.SessionID, x.Back})
	}
}

// over ends a link: the user has logged in.
func (v *visit) over(ctx context.Context) {
	v.desk.mu.Lock()
	clients := v.clients
	v.clients = nil
	if !v.isOver() {
		close(v.done)
	}
	v.desk.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	for _, c := range clients {
		err := c.back.Notify(ctx, mcp.NoteElicitationComplete, &mcp.ElicitCompleteParams{ElicitationID: v.id})
		if err != nil { // it comes back by itself, or is gone
			v.desk.opts.Logger.DebugContext(ctx, "a client was not told of a login", "error", err)
		}
	}
}

// serves counts those who send users of a backend here: while another configuration takes
// the place of one, they are two.
func (d *Desk) serves(backend string, change int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.backends[backend] += change; d.backends[backend] <= 0 {
		delete(d.backends, backend)
	}
}

// document is the URL of the gateway's client metadata document for a server, which others can reach
// only over https; "" for none.
//
// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func (d *Desk) document(backend string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, err := url.Parse(d.origin)
	if err != nil || u.Scheme != "https" || loopback.Is(u.Hostname()) {
		return ""
	}
	return d.origin + documentOf(backend)
}
