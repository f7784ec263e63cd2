package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

const (
	pathLogin    = "/login"
	pathCallback = "/login/callback"
	// flowTime is how long somebody may take at the authorization server.
	flowTime = 10 * time.Minute
	// maxFlows bounds the logins that are under way.
	maxFlows = 256
)

// flows are the logins at the authorization server that are under way.
type flows struct {
	console *Console

	mu  sync.Mutex
	all map[string]*flow // by the state of the request
	n   int
}

// flow is one login, in one browser. It is the receiver of the OAuth client that gets the
// token.
type flow struct {
	of      *flows
	browser string // its cookie
	asks    chan oauth.AuthorizationRequest
	answers chan url.Values
	done    chan struct{}
	who     *Identity // after done
	err     error
}

var (
	_ oauth.Receiver  = (*flow)(nil)
	_ oauth.Reception = (*flow)(nil)
)

// routes adds what the page calls before anybody has come in.
func (f *flows) routes(api *web.API) {
	c := f.console
	api.Open("GET /login", func(w http.ResponseWriter, r *web.Request) (any, error) {
		return map[string]string{"kind": c.opts.Entrance.kind(), "name": c.gateway.Overview().Name}, nil
	})
	api.Open("POST /login", c.token)
	api.Raw("DELETE /login", func(w http.ResponseWriter, r *web.Request) error { return c.logout(w, r) })
}

// mount adds the pages that a browser is led through.
func (f *flows) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET "+pathLogin, f.here(f.begin))
	mux.HandleFunc("GET "+pathCallback, f.here(f.callback))
}

// here refuses requests under other names of this machine: those may be anybody's.
func (f *flows) here(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		guarded(w.Header())
		switch {
		case !slices.Contains(f.console.opts.Hosts, strings.ToLower(r.Host)):
			problem(w, http.StatusMisdirectedRequest, "There is nothing under this name.")
		case f.console.opts.Entrance.Issuer == nil:
			problem(w, http.StatusNotFound, "Nobody logs in here at an authorization server.")
		default:
			h(w, r)
		}
	}
}

// begin leads a browser to the authorization server.
func (f *flows) begin(w http.ResponseWriter, r *http.Request) {
	one := f.start() //nolint:contextcheck // a login outlives the request that begins it
	if one == nil {
		problem(w, http.StatusServiceUnavailable, "Too many people are about to log in. Try again later.")
		return
	}
	select {
	case ask := <-one.asks:
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS: on the loopback there is none
			Name: f.cookie(), Value: one.browser, Path: pathCallback, MaxAge: int(flowTime.Seconds()), HttpOnly: true, Secure: f.isSecure(),
			SameSite: http.SameSiteLaxMode, // users come back from another site
		})
		http.Redirect(w, r, ask.URL, http.StatusSeeOther)
	case <-one.done:
		f.failed(w, one)
	case <-r.Context().Done():
	}
}

// start starts a login, or returns nil if there are too many.
func (f *flows) start() *flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n >= maxFlows {
		return nil
	}
	f.n++
	one := &flow{of: f, browser: rand.Text(), asks: make(chan oauth.AuthorizationRequest, 1), answers: make(chan url.Values, 1), done: make(chan struct{})}
	f.console.work.Go(func() { // ends with the flow, by its time, or with the console
		ctx, cancel := context.WithTimeout(f.console.ctx, flowTime)
		defer cancel()
		one.who, one.err = f.console.opts.Entrance.Issuer(ctx, one)
		f.mu.Lock()
		f.n--
		f.mu.Unlock()
		close(one.done)
	})
	return one
}

func (f *flows) isSecure() bool { return strings.HasPrefix(f.console.opts.Origin, "https:") }

// cookie is the name of the cookie of a login. Cookies are a host's, and not a port's.
func (f *flows) cookie() string {
	name := "parley-login"
	if u, err := url.Parse(f.console.opts.Origin); err == nil && u.Port() != "" {
		name += "-" + u.Port()
	}
	return name
}

// callback is where the authorization server sends browsers back to.
func (f *flows) callback(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	cookie, err := r.Cookie(f.cookie())
	f.mu.Lock()
	one := f.all[q.Get("state")]
	f.mu.Unlock()
	if err != nil || one == nil || subtle.ConstantTimeCompare([]byte(one.browser), []byte(cookie.Value)) != 1 || !one.take(q) {
		problem(w, http.StatusForbidden, "This is not the answer to a login that was begun in this browser. Open the console again, and log in there.")
		return
	}
	select {
	case <-one.done:
	case <-r.Context().Done():
		return
	}
	if one.err != nil {
		f.failed(w, one)
		return
	}
	key, err := f.console.enter(w, r, one.who)
	if err != nil {
		problem(w, http.StatusForbidden, "You are logged in as "+one.who.Name+", but "+err.Error()+".")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: f.cookie(), Path: pathCallback, MaxAge: -1, HttpOnly: true, Secure: f.isSecure(), SameSite: http.SameSiteLaxMode}) //nolint:gosec // as above
	onward(w, "/#key="+url.QueryEscape(key))
}

// failed says that a login has failed. Why is for whoever runs the gateway, except what
// the authorization server says to its user.
func (f *flows) failed(w http.ResponseWriter, one *flow) {
	f.console.opts.Logger.Warn("somebody could not log in to the console", "error", one.err)
	text := "The login has failed. Open the console again to make another attempt."
	if e, ok := errors.AsType[*oauth.ResponseError](one.err); ok {
		text += " The authorization server says: " + e.Code
	}
	problem(w, http.StatusBadGateway, text)
}

// take gives the flow its answer, unless it has one.
func (f *flow) take(answer url.Values) bool {
	select {
	case f.answers <- answer:
		return true
	default:
		return false
	}
}

// Listen implements oauth.Receiver.
func (f *flow) Listen(context.Context, []string) (oauth.Reception, error) { return f, nil }

// RedirectURI implements oauth.Reception.
func (f *flow) RedirectURI() string {
	return strings.TrimSuffix(f.of.console.opts.Origin, "/") + pathCallback
}

// Receive implements oauth.Reception: the browser is led to the authorization server, and
// the answer comes by the page of the redirect URI.
func (f *flow) Receive(ctx context.Context, r oauth.AuthorizationRequest) (url.Values, error) {
	f.of.mu.Lock()
	if f.of.all == nil {
		f.of.all = map[string]*flow{}
	}
	f.of.all[r.State] = f
	f.of.mu.Unlock()
	defer func() {
		f.of.mu.Lock()
		defer f.of.mu.Unlock()
		delete(f.of.all, r.State)
	}()
	f.asks <- r
	select {
	case answer := <-f.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements oauth.Reception.
func (f *flow) Close() error { return nil }
