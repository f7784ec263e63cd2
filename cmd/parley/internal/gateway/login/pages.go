package login

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/internal/wire"
)

// Path is where the pages are: below it.
const Path = "/connect/"

// Each backend has pages of its own, and so has the gateway itself. The names of backends
// have neither _ nor a dot.
const (
	pathOwnCallback = "/connect/_callback"
	pathOwnDocument = "/connect/client.json"
	pathCallback    = "/connect/{backend}/callback"
	pathDocument    = "/connect/{backend}/client.json"
)

// callbackOf is where browsers come back to that were sent to the authorization server of
// a backend; "" is the gateway itself. Servers that say who they are in their answers are
// few: a code that comes back to the page of one backend is never shown to the authorization
// server of another, as which a hostile one could have posed (RFC 9700, section 4.4.2).
func callbackOf(backend string) string {
	if backend == "" {
		return pathOwnCallback
	}
	return Path + backend + "/callback"
}

// documentOf is where the client metadata document is that names the same callback.
func documentOf(backend string) string {
	if backend == "" {
		return pathOwnDocument
	}
	return Path + backend + "/client.json"
}

// maxForm bounds what is posted, in bytes.
const maxForm = 64 << 10

// Texts of pages.
const (
	textGone    = "This link has ended, or was used before. Try again what you were about to do: you will get another one."
	textOther   = "This link was made for somebody else. If it was you who asked for it, log in as the user of that client, and open it again. If somebody has sent it to you, do not use it: they could use your login."
	textBrowser = "This link was opened in another browser before. Try again what you were about to do: you will get another one."
	textForeign = "This is not the answer to a login that was begun in this browser. Open the link again, in the browser that you log in with."
	textLogin   = "The login has failed. Open the link again to make another attempt."
)

func (d *Desk) routes() {
	foreign := http.NewCrossOriginProtection()
	for _, path := range []string{pathOwnCallback, pathCallback} {
		d.mux.HandleFunc("GET "+path, d.callback)
	}
	for _, path := range []string{pathOwnDocument, pathDocument} {
		d.mux.HandleFunc("GET "+path, d.describe)
	}
	d.mux.HandleFunc("GET "+Path+"{backend}", d.connect)
	d.mux.Handle("POST "+Path+"{backend}", foreign.Handler(http.HandlerFunc(d.token)))
}

// ServeHTTP serves the pages, below /connect/.
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guarded(w.Header())
	d.mu.Lock()
	here, err := url.Parse(d.origin)
	d.mu.Unlock()
	if err != nil || here.Host == "" || loopback.Is(here.Hostname()) && r.Host != here.Host {
		// Other names that lead to this machine may be anybody's, and cookies are a host's.
		problem(w, http.StatusMisdirectedRequest, "There is nothing under this name. Open the link as it was.")
		return
	}
	d.mux.ServeHTTP(w, r)
}

// linked returns the link that a page is about. If it cannot be used, it says so.
func (d *Desk) linked(w http.ResponseWriter, r *http.Request) *visit {
	d.mu.Lock()
	v := d.visits[r.URL.Query().Get("login")]
	good := v != nil && v.isGood() && v.user.owner.Backend == r.PathValue("backend")
	d.mu.Unlock()
	if !good {
		problem(w, http.StatusGone, textGone)
		return nil
	}
	return v
}

// connect is the page of a link. It leads to the authorization server of the server, if it
// is the right user who opens it.
func (d *Desk) connect(w http.ResponseWriter, r *http.Request) {
	v := d.linked(w, r)
	if v == nil {
		return
	}
	cookie, who := d.of(r)
	switch visitors := d.who(); {
	case visitors.Issuer != nil && !who.known:
		d.recognize(w, r, v, visitors.Issuer) //nolint:contextcheck // a login outlives the request that begins it
		return
	case visitors.Bearer != "" && !who.known:
		show(w, http.StatusOK, "token", v.shown())
		return
	case !visitors.Alone && who.principal != v.user.owner.Principal:
		d.leave(cookie) // they can log in as somebody else
		problem(w, http.StatusForbidden, textOther)
		return
	}
	if cookie == "" {
		cookie = d.welcome(w, r, visitor{})
	}
	if d.who().Alone && !v.claim(cookie) {
		problem(w, http.StatusForbidden, textBrowser)
		return
	}
	d.lead(w, r, d.begin(cookie, nil, v, v.enter)) //nolint:contextcheck // a login outlives the request that begins it
}

// enter has the user of a link log in, and ends the link.
func (v *visit) enter(ctx context.Context, f *flow) error {
	err := v.user.login(ctx, f)
	if err == nil {
		v.over(context.WithoutCancel(ctx))
	}
	return err
}

func (d *Desk) who() Visitors {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.visitors
}

func (v *visit) shown() *shown {
	return &shown{Backend: v.user.owner.Backend, Server: v.user.owner.origin(), Action: v.path()}
}

// recognize has a user log in at the gateway, and brings them back.
func (d *Desk) recognize(w http.ResponseWriter, r *http.Request, v *visit, i *Issuer) {
	cookie := d.welcome(w, r, visitor{})
	d.lead(w, r, d.begin(cookie, v, nil, func(ctx context.Context, f *flow) error {
		a, err := i.Identify(ctx, Identification{Receiver: f, Known: d.known, Document: d.document(""), Logger: d.opts.Logger})
		if err != nil {
			return err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if b := d.browsers[f.browser]; b != nil {
			b.known, b.principal = true, a.Principal()
		}
		return nil
	}))
}

// token is where visitors show that they have the token of all clients.
func (d *Desk) token(w http.ResponseWriter, r *http.Request) {
	v := d.linked(w, r)
	if v == nil {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	want := d.who().Bearer
	given := sha256.Sum256([]byte(r.PostFormValue("token")))
	right := sha256.Sum256([]byte(want))
	page := v.shown()
	if want == "" || subtle.ConstantTimeCompare(given[:], right[:]) != 1 {
		page.Wrong = true
		show(w, http.StatusForbidden, "token", page)
		return
	}
	d.welcome(w, r, visitor{known: true})
	show(w, http.StatusOK, "go", page) // as above
}

// lead leads a browser to the authorization server of a flow.
func (d *Desk) lead(w http.ResponseWriter, r *http.Request, f *flow) {
	select {
	case ask := <-f.asks:
		http.Redirect(w, r, ask.URL, http.StatusSeeOther)
	case <-f.done:
		d.failed(w, f)
	case <-r.Context().Done():
	}
}

// failed says that a login has failed. Why is for whoever runs the gateway, except what
// the authorization server says to its user.
func (d *Desk) failed(w http.ResponseWriter, f *flow) {
	d.opts.Logger.Warn("a user could not log in", "error", f.err)
	text := textLogin
	if e, ok := errors.AsType[*oauth.ResponseError](f.err); ok {
		text += " The authorization server says: " + e.Code
	}
	problem(w, http.StatusBadGateway, text)
}

// callback is where authorization servers send browsers back to.
func (d *Desk) callback(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f := d.answered(q.Get("state"))
	cookie, _ := d.of(r)
	if f == nil || f.backend() != r.PathValue("backend") || !same(f.browser, cookie) || !f.take(q) {
		problem(w, http.StatusForbidden, textForeign)
		return
	}
	select {
	case <-f.done:
	case <-r.Context().Done():
		return
	}
	switch {
	case f.err != nil:
		d.failed(w, f)
	case f.visit == nil:
		d.renamed(w, r, cookie)
		show(w, http.StatusOK, "go", f.next.shown()) // a form, such as one of the issuer, may not lead elsewhere
	default:
		show(w, http.StatusOK, "done", f.visit.shown())
	}
}

// renamed gives a browser whose user is known by now another cookie: one that somebody
// could have planted must not be good for more.
func (d *Desk) renamed(w http.ResponseWriter, r *http.Request, cookie string) {
	d.mu.Lock()
	b := d.browsers[cookie]
	d.mu.Unlock()
	if b != nil {
		d.welcome(w, r, *b)
	}
}

// describe is the gateway's client metadata document, for one backend or for itself.
//
// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func (d *Desk) describe(w http.ResponseWriter, r *http.Request) {
	backend := r.PathValue("backend")
	id := d.document(backend)
	d.mu.Lock()
	origin, has := d.origin, backend == "" || d.backends[backend] > 0
	d.mu.Unlock()
	raw, err := wire.Marshal(map[string]any{
		"client_id": id, "client_name": metadataOf(backend).Name, "client_uri": origin, "redirect_uris": []string{origin + callbackOf(backend)},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": oauth.AuthNone, "application_type": "web",
	})
	switch {
	case !has:
		problem(w, http.StatusNotFound, "This gateway has no such server.")
		return
	case id == "" || err != nil:
		problem(w, http.StatusNotFound, "This gateway has no such document: it cannot be reached by https.")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=3600")
	_, _ = w.Write(raw) // whoever is gone does not matter
}
