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
	// maxFlows bounds the logins that are under way; the oldest gives way.
	maxFlows = 256
)

// errGivenUp ends a login that another one took the place of.
var errGivenUp = errors.New("a later login took its place")

// flows are the logins at the authorization server that are under way.
type flows struct {
	console *Console

	mu  sync.Mutex
	all map[string]*flow // those that are at the authorization server, by the state of the request
	now []*flow          // all, the oldest first
}

// flow is one login, in one browser. It is the receiver of the OAuth client that gets the
// token.
type flow struct {
	of      *flows
	browser string // its cookie
	giveUp  context.CancelCauseFunc
	asks    chan oauth.AuthorizationRequest
	answers chan url.Values
	done    chan struct{}
	who     *Identity // after done
	err     error

	state string // of the request, once there is one; this and the next are guarded as flows.all is
	over  bool   // it was given up
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
		case !isVisit(r.Header):
			problem(w, http.StatusForbidden, "This is a page to visit, and no part of another one.")
		default:
			h(w, r)
		}
	}
}

// isVisit reports whether a browser means to show what it asks for in a window or tab of
// its own. Browsers that do not say so are believed: of those, each has one login.
func isVisit(h http.Header) bool {
	is := func(name, want string) bool { return h.Get(name) == "" || h.Get(name) == want }
	return is("Sec-Fetch-Mode", "navigate") && is("Sec-Fetch-Dest", "document")
}

// begin leads a browser to the authorization server. Pages of other sites cannot have it
// do so: each login takes the place of one before.
func (f *flows) begin(w http.ResponseWriter, r *http.Request) {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		problem(w, http.StatusForbidden, "Another site has led here. Go on to the console, and log in there.")
		return
	}
	one := f.start(f.cookies(r)) //nolint:contextcheck // a login outlives the request that begins it
	select {
	case ask := <-one.asks:
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS: on the loopback there is none
			Name: f.cookie(), Value: one.browser, Path: pathLogin, MaxAge: int(flowTime.Seconds()), HttpOnly: true, Secure: f.isSecure(),
			SameSite: http.SameSiteLaxMode, // users come back from another site
		})
		http.Redirect(w, r, ask.URL, http.StatusSeeOther)
	case <-one.done:
		f.failed(w, one)
	case <-r.Context().Done():
	}
}

// start starts a login. It takes the place of those of the same browser, whose cookies
// these are, and of the oldest one if there are too many.
func (f *flows) start(cookies []string) *flow {
	ctx, cancel := context.WithTimeout(f.console.ctx, flowTime)
	ctx, giveUp := context.WithCancelCause(ctx)
	one := &flow{of: f, browser: rand.Text(), giveUp: giveUp, asks: make(chan oauth.AuthorizationRequest, 1), answers: make(chan url.Values, 1), done: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, before := range slices.Clone(f.now) {
		if before.isOf(cookies) {
			f.drop(before)
		}
	}
	if len(f.now) >= maxFlows {
		f.drop(f.now[0])
	}
	f.now = append(f.now, one)
	f.console.work.Go(func() { // ends with the flow, by its time, or with the console
		defer cancel()
		one.who, one.err = f.console.opts.Entrance.Issuer(ctx, one)
		f.mu.Lock()
		f.drop(one)
		f.mu.Unlock()
		close(one.done)
	})
	return one
}

// drop ends a login that is under way; f.mu is held.
func (f *flows) drop(one *flow) {
	one.over = true
	one.giveUp(errGivenUp)
	delete(f.all, one.state)
	f.now = slices.DeleteFunc(f.now, func(other *flow) bool { return other == one })
}

// cookies are those of the logins of a browser. Another port of the same host can plant
// some, so that there may be more than one.
func (f *flows) cookies(r *http.Request) (values []string) {
	for _, cookie := range r.CookiesNamed(f.cookie()) {
		values = append(values, cookie.Value)
	}
	return values
}

// isOf reports whether a flow is that of a browser with these cookies.
func (f *flow) isOf(cookies []string) bool {
	return slices.ContainsFunc(cookies, func(value string) bool { return subtle.ConstantTimeCompare([]byte(f.browser), []byte(value)) == 1 })
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
	one := f.awaited(q.Get("state"), f.cookies(r))
	if one == nil || !one.take(q) {
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
	http.SetCookie(w, &http.Cookie{Name: f.cookie(), Path: pathLogin, MaxAge: -1, HttpOnly: true, Secure: f.isSecure(), SameSite: http.SameSiteLaxMode}) //nolint:gosec // as above
	onward(w, "/#key="+url.QueryEscape(key))
}

// awaited returns the login of a browser that waits for the answer to a request of this
// state, or nil. It waits no longer: an answer counts once.
func (f *flows) awaited(state string, cookies []string) *flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.all[state]
	if one == nil || !one.isOf(cookies) {
		return nil
	}
	delete(f.all, state)
	return one
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
	if !f.awaits(r.State) {
		return nil, errGivenUp
	}
	f.asks <- r
	select {
	case answer := <-f.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// awaits has the answer to a request of this state come here, until the flow ends.
func (f *flow) awaits(state string) bool {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.over {
		return false
	}
	if f.of.all == nil {
		f.of.all = map[string]*flow{}
	}
	delete(f.of.all, f.state)
	f.state, f.of.all[state] = state, f
	return true
}

// Close implements oauth.Reception.
func (f *flow) Close() error { return nil }
