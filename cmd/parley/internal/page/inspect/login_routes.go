package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
	"github.com/parley-mcp/parley/internal/redact"
)

func (l *logins) routes(api *web.API) {
	on := func(pattern string, f func(c *Connection, r *web.Request) (any, error)) {
		api.Handle(pattern, l.server.on(func(c *Connection, r *web.Request) (any, error) {
			if err := possible(c); err != nil && r.Method != http.MethodGet {
				return nil, err
			}
			return f(c, r)
		}))
	}
	on("GET /connections/{c}/login", func(c *Connection, r *web.Request) (any, error) { return l.shown(r.Context(), c), nil })
	on("POST /connections/{c}/login", l.start)
	on("POST /connections/{c}/login/paste", l.paste)
	on("POST /connections/{c}/login/cancel", func(c *Connection, _ *web.Request) (any, error) {
		if !partOf[login](c).answer(loginAnswer{err: errCancelled}) {
			return nil, notWaiting()
		}
		return nil, nil //nolint:nilnil // there is nothing to say
	})
	on("POST /connections/{c}/login/refresh", func(c *Connection, _ *web.Request) (any, error) {
		return nil, l.run(c, "refresh", func(ctx context.Context, o *oauth.Client) error { return o.Refresh(ctx) })
	})
	on("POST /connections/{c}/login/logout", func(c *Connection, _ *web.Request) (any, error) {
		return nil, l.run(c, "logout", func(ctx context.Context, o *oauth.Client) error { return o.Logout(ctx) })
	})
	on("POST /connections/{c}/login/forget", func(c *Connection, _ *web.Request) (any, error) {
		return nil, l.run(c, "forget", func(ctx context.Context, o *oauth.Client) error { return l.forget(ctx, c, o) })
	})
}

// possible says why there can be no login.
func possible(c *Connection) error {
	w := c.wished()
	if w.URL == "" {
		return web.Errorf(http.StatusConflict, "no_login", "a command gets its secrets by variables, and there is no login")
	}
	if ok, _ := signin.Possible(w.URL); !ok {
		return web.Errorf(http.StatusConflict, "no_login", "there is no login without https, where anybody on the network could read the token, nor for a URL that has a user name")
	}
	if _, own := w.header("Authorization"); own {
		return web.Errorf(http.StatusConflict, "no_login", "the connection has an Authorization header of its own, which takes the place of a login")
	}
	return nil
}

func notWaiting() error {
	return web.Errorf(http.StatusConflict, "not_waiting", "no login waits for an answer now")
}

// shownLogin is a login as the API shows it.
type shownLogin struct {
	Possible bool            `json:"possible"`
	Why      string          `json:"why,omitzero"` // there can be none
	Status   *shownStatus    `json:"status,omitzero"`
	Claims   json.RawMessage `json:"claims,omitzero"` // of the access token, if it is a JWT
	Client   *shownClient    `json:"client,omitzero"`
	Running  string          `json:"running,omitzero"`
	Waiting  *waiting        `json:"waiting,omitzero"`
	Missing  []string        `json:"missing"` // scopes that the server has demanded and that were not granted
	Error    *web.Error      `json:"error,omitzero"`
	Steps    []*step         `json:"steps"`
}

type shownStatus struct {
	LoggedIn  bool       `json:"loggedIn"`
	Issuer    string     `json:"issuer,omitzero"`
	Resource  string     `json:"resource,omitzero"`
	ClientID  string     `json:"clientId,omitzero"`
	Scopes    []string   `json:"scopes"`
	Requested []string   `json:"requested"`
	Expires   *time.Time `json:"expires,omitzero"`
	Renewable bool       `json:"renewable"`
	DPoP      bool       `json:"dpop"`
}

// shown returns what there is to know of a login, without asking any server.
func (l *logins) shown(ctx context.Context, c *Connection) *shownLogin {
	state := partOf[login](c)
	s := &shownLogin{Possible: true, Steps: []*step{}, Missing: []string{}}
	if err := possible(c); err != nil {
		s.Possible, s.Why = false, err.Error()
		return s
	}
	o, err := l.of(ctx, c)
	if err != nil {
		s.Possible, s.Why = false, err.Error()
		return s
	}
	state.mu.Lock() // first, so that what is over by now can be seen in what follows
	s.Running, s.Waiting, s.Error = state.running, state.waiting, state.err
	s.Steps = append(s.Steps, state.steps.list...)
	state.mu.Unlock()
	status := o.Status(ctx)
	s.Status = showStatus(status)
	if status.LoggedIn && (status.Expires.IsZero() || time.Until(status.Expires) > time.Minute) { // so that no server is asked
		if token, err := o.Token(ctx); err == nil {
			s.Claims = claims(string(token.Access))
		}
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	s.Client = showClient(state.wanted, c.wished().scopes)
	s.Missing = state.steps.missing(status.Scopes)
	return s
}

func showStatus(s oauth.Status) *shownStatus {
	shown := &shownStatus{
		LoggedIn: s.LoggedIn, Issuer: s.Issuer, Resource: s.Resource, ClientID: s.ClientID,
		Scopes: append([]string{}, s.Scopes...), Requested: append([]string{}, s.Requested...), Renewable: s.Renewable, DPoP: s.DPoP,
	}
	if !s.Expires.IsZero() {
		shown.Expires = &s.Expires
	}
	return shown
}

// missing returns the scopes that the server demanded last, without those that were granted.
func (s *steps) missing(granted []string) []string {
	for _, st := range slices.Backward(s.list) {
		if st.Name == stepScopes && st.Response != nil {
			scopes := trouble.Scopes(http.Header{"Www-Authenticate": st.Response.Challenge})
			return append([]string{}, slices.DeleteFunc(scopes, func(scope string) bool { return slices.Contains(granted, scope) })...)
		}
	}
	return []string{}
}

// start begins a login, which goes on after the answer.
func (l *logins) start(c *Connection, r *web.Request) (any, error) {
	var in struct {
		Scopes []string `json:"scopes"`
	}
	if err := r.Read(&in); err != nil {
		return nil, err
	}
	return nil, l.run(c, "login", func(ctx context.Context, o *oauth.Client) error {
		err := o.Login(ctx, in.Scopes...)
		if err == nil {
			err = l.remember(ctx, c, o)
		}
		return err
	})
}

// remember keeps as which client somebody logged in, for later runs and for the command line.
func (l *logins) remember(ctx context.Context, c *Connection, o *oauth.Client) error {
	w := c.wished()
	as := w.as
	if as == (signin.Registration{}) {
		return nil
	}
	// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
	if as.ClientID != "" && as.Issuer == "" {
		as.Issuer = o.Status(ctx).Issuer // it was used there, and must not be used anywhere else
	}
	return as.Remember(ctx, l.server.opts.Logins, w.URL)
}

// forget logs out, and forgets as which client.
func (l *logins) forget(ctx context.Context, c *Connection, o *oauth.Client) error {
	return errors.Join(o.Logout(ctx), signin.Forget(ctx, l.server.opts.Logins, c.wished().URL))
}

// run does something with a login, one thing at a time. Its error is shown with the login.
func (l *logins) run(c *Connection, what string, f func(context.Context, *oauth.Client) error) error {
	state := partOf[login](c)
	o, err := l.of(c.context(), c)
	if err != nil {
		return err
	}
	state.mu.Lock()
	if state.running != "" {
		state.mu.Unlock()
		return web.Errorf(http.StatusConflict, "busy", "a %s is under way", state.running)
	}
	state.running, state.err = what, nil
	state.steps.begin()
	state.mu.Unlock()
	state.changed(c)
	c.spawn(func(ctx context.Context) {
		err := f(ctx, o)
		state.finished(c.wished().redactor(), err)
		state.changed(c)
		if err == nil && what == "login" && c.ended() {
			c.connect() //nolint:contextcheck // an attempt outlives what began it
		}
	})
	return nil
}

// finished notes how what somebody asked for has ended.
func (s *login) finished(secret *redact.Redactor, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = ""
	if err != nil {
		kind := trouble.Of(err)
		s.err = web.Errorf(http.StatusBadGateway, string(kind), "%s", secret.Text(err.Error()))
		s.err.Hint = waysOut[kind]
	}
}

// ended reports whether the connection is neither up nor under way.
func (c *Connection) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == failed || c.state == lost
}

// paste takes the address that the user's browser ended at.
func (l *logins) paste(c *Connection, r *web.Request) (any, error) {
	var in struct {
		Address string `json:"address"`
	}
	if err := r.Read(&in); err != nil {
		return nil, err
	}
	state := partOf[login](c)
	state.mu.Lock()
	w := state.waiting
	state.mu.Unlock()
	if w == nil {
		return nil, notWaiting()
	}
	const whole = "copy the whole address of the page that the browser ended at"
	values, err := oauth.ParseAnswer(in.Address, "")
	switch {
	case err != nil:
		return nil, wrong("address", whole, "%v", err)
	case values.Get("state") == "": // any word could be a code without a state
		return nil, wrong("address", whole, "what was pasted is not an address with the answer to a login")
	case values.Get("state") != w.state:
		return nil, wrong("address", "copy the address of the page that this login ended at", "this is the answer to another login")
	}
	state.answer(loginAnswer{values: values})
	return nil, nil //nolint:nilnil // there is nothing to say
}
