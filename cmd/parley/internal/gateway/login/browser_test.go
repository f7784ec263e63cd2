package login_test

import (
	"context"
	"errors"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
)

// browser is the browser of a user, who logs in where that is demanded, and allows what
// they are asked for.
type browser struct {
	t    *testing.T
	name string // of the user
	deny bool   // what they are asked for
	http *http.Client
}

func newBrowser(t *testing.T, name string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	wire := &http.Transport{}
	t.Cleanup(wire.CloseIdleConnections)
	return &browser{t, name, false, &http.Client{
		Jar: jar, Transport: wire, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var (
	actionOf = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	tokenOf  = regexp.MustCompile(`name="form" value="([^"]*)"`)
	linkOf   = regexp.MustCompile(`<a class="button" href="([^"]*)"`)
	boxOf    = regexp.MustCompile(`name="scope" value="([^"]*)" checked`)
)

// page is where a browser has come to.
type page struct {
	at     *url.URL
	status int
	header http.Header
	body   string
}

// visit opens a page and goes on until there is nothing to fill in. It stops at addresses
// that begin with stop, unless that is "".
func (b *browser) visit(ctx context.Context, at, stop string) (*page, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	for range 20 {
		if err != nil {
			return nil, err
		}
		if stop != "" && strings.HasPrefix(r.URL.String(), stop) {
			return &page{at: r.URL}, nil
		}
		p, err := b.load(r)
		if err != nil {
			return nil, err
		}
		form, link := actionOf.FindStringSubmatch(p.body), linkOf.FindStringSubmatch(p.body)
		switch {
		case p.header.Get("Location") != "":
			r, err = b.follow(ctx, p, p.header.Get("Location"))
		case link != nil:
			r, err = b.follow(ctx, p, html.UnescapeString(link[1]))
		case form != nil:
			r, err = b.post(ctx, p, html.UnescapeString(form[1]))
		default:
			return p, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the pages do not end")
}

func (b *browser) load(r *http.Request) (*page, error) {
	resp, err := b.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return &page{r.URL, resp.StatusCode, resp.Header, string(body)}, err
}

func (b *browser) follow(ctx context.Context, p *page, link string) (*http.Request, error) {
	to, err := p.at.Parse(link)
	if err != nil {
		return nil, err
	}
	return http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
}

// post fills in a page of the authorization server.
func (b *browser) post(ctx context.Context, p *page, action string) (*http.Request, error) {
	form := url.Values{}
	if token := tokenOf.FindStringSubmatch(p.body); token != nil {
		form.Set("form", html.UnescapeString(token[1]))
	}
	for _, box := range boxOf.FindAllStringSubmatch(p.body, -1) {
		form.Add("scope", html.UnescapeString(box[1]))
	}
	answer := url.Values{"action": {map[bool]string{true: "deny", false: "allow"}[b.deny]}}
	if strings.Contains(p.body, `type="password"`) {
		answer = url.Values{"action": {"login"}, "name": {b.name}, "password": {passwordOf(b.name)}}
	}
	maps.Copy(form, answer)
	to, err := p.at.Parse(action)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", to.Scheme+"://"+to.Host)
	}
	return r, err
}

func passwordOf(name string) string { return "the password of " + name }

// Listen implements oauth.Receiver: it is how a client has its user log in.
func (b *browser) Listen(context.Context, []string) (oauth.Reception, error) { return b, nil }

// RedirectURI implements oauth.Reception. Nothing listens there.
func (*browser) RedirectURI() string { return "http://127.0.0.1:1/callback" }

// Receive implements oauth.Reception.
func (b *browser) Receive(ctx context.Context, r oauth.AuthorizationRequest) (url.Values, error) {
	p, err := b.visit(ctx, r.URL, b.RedirectURI())
	if err != nil {
		return nil, err
	}
	return p.at.Query(), nil
}

// Close implements oauth.Reception.
func (*browser) Close() error { return nil }
