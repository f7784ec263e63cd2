package inspect

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
)

// logins is the part that logs in to servers, and shows how.
type logins struct{ server *Server }

func (l *logins) prepare(*Connection, *client.Options) {}

func (l *logins) connected(*Connection) {}

func (l *logins) ended(c *Connection) { partOf[login](c).reset() }

// login is what a connection knows of logging in to its server. The zero value is ready.
type login struct {
	mu      sync.Mutex
	client  *oauth.Client // nil until it is needed
	close   func()        // what belongs to client
	wanted  *signin.Registration
	running string // what somebody has asked for and is under way, such as "refresh"
	waiting *waiting
	steps   steps
	err     *web.Error // of what was asked for last
	change  chan struct{}
}

// waiting is an authorization that waits for the user.
type waiting struct {
	URL      string    `json:"url"`
	Issuer   string    `json:"issuer"`
	Redirect string    `json:"redirect"`
	Since    time.Time `json:"since"`

	state    string
	answered chan loginAnswer
}

// errCancelled says that the user does not want to log in.
var errCancelled = errors.New("the login was cancelled")

// web returns the HTTP client for a connection's URL, which logs in when the server
// demands it. It returns nil where there can be no login.
func (l *logins) web(ctx context.Context, c *Connection, url string) (*http.Client, error) {
	if ok, err := signin.Possible(url); !ok {
		return nil, err
	}
	o, err := l.of(ctx, c)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: o.Transport(&watched{steps: partOf[login](c).watch(c), base: partOf[cable](c).round(), secret: c.wished().redactor()})}, nil
}

// of returns the OAuth client of a connection.
func (l *logins) of(ctx context.Context, c *Connection) (*oauth.Client, error) {
	state, wished := partOf[login](c), c.wished()
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.client != nil {
		return state.client, nil
	}
	as, err := l.registration(ctx, wished)
	if err != nil {
		return nil, err
	}
	o := as.Options(wished.URL, l.server.opts.Client.Version, l.server.opts.Logins, &receiver{c, state})
	o.Logger, o.Scopes = l.server.opts.Logger, wished.scopes
	web, err := signin.Observed(wished.URL, func(base http.RoundTripper) http.RoundTripper {
		return &watched{steps: state.watch(c), base: base, all: true, secret: wished.redactor()}
	})
	if err != nil {
		return nil, err
	}
	o.HTTP = web
	if state.client, err = oauth.New(o); err != nil {
		return nil, err
	}
	state.wanted, state.close = as, web.CloseIdleConnections
	return state.client, nil
}

// has reports whether requests of a connection carry the token of a login.
func (l *logins) has(ctx context.Context, c *Connection) bool {
	if possible(c) != nil {
		return false
	}
	o, err := l.of(ctx, c)
	return err == nil && o.Status(ctx).LoggedIn
}

// registration returns as which client to log in: the one of the form, or else the one that
// was remembered for the server.
func (l *logins) registration(ctx context.Context, w *wish) (*signin.Registration, error) {
	if w.as != (signin.Registration{}) {
		return &w.as, nil
	}
	return signin.Recall(ctx, l.server.opts.Logins, w.URL)
}

// reset ends what is under way. What was logged in to stays in the store.
func (s *login) reset() {
	s.mu.Lock()
	old, closing := s.client, s.close
	s.client, s.close = nil, nil
	s.mu.Unlock()
	if old != nil {
		_ = old.Close() // it is always nil
		closing()
	}
}

// changed tells whoever watches.
func (s *login) changed(c *Connection) {
	s.mu.Lock()
	if s.change != nil {
		close(s.change)
		s.change = nil
	}
	s.mu.Unlock()
	c.publish("login", struct{}{})
}

// next is closed when the login changes.
func (s *login) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.change == nil {
		s.change = make(chan struct{})
	}
	return s.change
}

// receiver has the page bring the user to the authorization server.
type receiver struct {
	connection *Connection
	state      *login
}

// Listen implements oauth.Receiver.
func (r *receiver) Listen(ctx context.Context, registered []string) (oauth.Reception, error) {
	ready := make(chan struct{})
	loopback := &oauth.Loopback{Open: func(context.Context, string) error { close(ready); return nil }} // the page opens it
	inner, err := loopback.Listen(ctx, registered)
	if err != nil {
		return nil, err
	}
	return &reception{r, inner, ready}, nil
}

type reception struct {
	*receiver
	oauth.Reception

	ready chan struct{} // closed once an answer would be taken
}

// Receive implements oauth.Reception: the page shows where to go, and the answer comes to
// the loopback, or is pasted.
func (r *reception) Receive(ctx context.Context, request oauth.AuthorizationRequest) (answer url.Values, err error) {
	w := &waiting{URL: request.URL, Issuer: request.Issuer, Redirect: r.RedirectURI(), Since: time.Now(), state: request.State, answered: make(chan loginAnswer, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	arrived := make(chan loginAnswer, 1)
	ended := make(chan struct{})
	go func() { // ends with cancel, and is waited for
		defer close(ended)
		values, err := r.Reception.Receive(ctx, request)
		arrived <- loginAnswer{values, err}
	}()
	defer func() { cancel(); <-ended }()
	<-r.ready
	r.asks(w)
	defer func() { r.heard(answer, err) }()
	select {
	case a := <-arrived:
		return a.values, a.err
	case a := <-w.answered:
		return a.values, a.err
	}
}

// asks shows that the user is waited for.
func (r *reception) asks(w *waiting) {
	r.connection.shift(connecting, loggingIn)
	r.state.mu.Lock()
	r.state.waiting = w
	r.state.steps.authorization(w, r.state.wanted)
	r.state.mu.Unlock()
	r.connection.changed()
	r.state.changed(r.connection)
}

// heard shows that the user is no longer waited for.
func (r *reception) heard(values url.Values, err error) {
	r.state.mu.Lock()
	r.state.waiting = nil
	r.state.steps.callback(values, err)
	r.state.mu.Unlock()
	r.connection.shift(loggingIn, connecting)
	r.connection.changed()
	r.state.changed(r.connection)
}

// shift changes the state of a connection from one to another, if it has the one.
func (c *Connection) shift(from, to state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == from {
		c.state, c.since = to, time.Now()
	}
}

// loginAnswer is how the user's part of a login has ended.
type loginAnswer struct {
	values url.Values
	err    error
}

// asks reports whether somebody is waited for to log in.
func (s *login) asks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting != nil
}

// answer ends the wait for the user. It reports whether there was one.
func (s *login) answer(a loginAnswer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		return false
	}
	select {
	case s.waiting.answered <- a:
	default: // it has been answered already
	}
	return true
}
