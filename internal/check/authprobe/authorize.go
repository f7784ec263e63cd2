package authprobe

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// nowhere is an address that nobody has, where nothing may be sent.
const nowhere = "https://parley-check.invalid/callback"

// The authorization endpoint, towards those whom it does not know.
var authorizeProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "authorize/unknown-client",
			Rows:    []string{"26.basic.authorization.security-023", "2511.basic.authorization-097", "2503.basic.authorization-019"},
			Does:    "Asks for authorization as a client that nobody knows, with right and wrong parameters.",
			Accepts: "Anything but a redirect to the redirect URI of the request.",
			Mend:    "Show a page if the client or its redirect URI is not known; never redirect there.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: staysHere,
	},
}

// question is a request for authorization.
type question struct {
	values   url.Values
	verifier string
}

// asks makes a request for authorization that is right for a client.
func (x *X) asks(client, redirect string, scopes ...string) *question {
	q := &question{verifier: rand.Text() + rand.Text()}
	sum := sha256.Sum256([]byte(q.verifier))
	q.values = url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect}, "state": {rand.Text()},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	if x.Resource != nil {
		q.values.Set("resource", text(x.Resource.Value, "resource"))
	}
	if len(scopes) == 0 {
		scopes = scopesOf(x.First)
	}
	if len(scopes) == 0 && x.Resource != nil {
		scopes = texts(x.Resource.Value, "scopes_supported")
	}
	if len(scopes) > 0 {
		q.values.Set("scope", strings.Join(scopes, " "))
	}
	return q
}

// page is the address of a request.
func (x *X) page(q *question) string {
	at := x.at("authorization_endpoint")
	if at == "" {
		return ""
	}
	separator := "?"
	if strings.Contains(at, "?") {
		separator = "&"
	}
	return at + separator + q.values.Encode()
}

// without returns the request without some of its parameters.
func (q *question) without(names ...string) *question {
	c := &question{values: url.Values{}, verifier: q.verifier}
	for name, values := range q.values {
		if !slices.Contains(names, name) {
			c.values[name] = values
		}
	}
	return c
}

// with returns the request with another value.
func (q *question) with(name, value string) *question {
	c := q.without()
	c.values.Set(name, value)
	return c
}

// submit sends a request as a browser without any cookies would.
func (x *X) submit(q *question) *peer.Exchange {
	return x.Ask((&peer.Out{HTTPMethod: http.MethodGet, URL: orNone(x.page(q))}).With("Accept", "text/html"))
}

// leadsTo reports whether a browser is sent to the host of a URL, and returns
// what it is sent there with.
func leadsTo(e *peer.Exchange, to string) (url.Values, bool) {
	if !isRedirect(e) {
		return nil, false
	}
	base, err := url.Parse(e.URL)
	if err != nil {
		return nil, false
	}
	location, err := base.Parse(e.ResponseHeader.Get("Location"))
	want, bad := url.Parse(to)
	if err != nil || bad != nil || !strings.EqualFold(location.Host, want.Host) || location.Scheme != want.Scheme ||
		location.Host == base.Host && location.Path != want.Path {
		return nil, false
	}
	return location.Query(), true
}

// refuses reports whether a request was refused at once, rather than answered
// with a page to log in at.
func refuses(e *peer.Exchange) bool { return e.Status >= 400 && e.Status < 500 }

// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func staysHere(x *X) probe.Finding {
	q := x.asks("parley-check-unknown-"+rand.Text(), nowhere)
	var seen *peer.Exchange
	for _, asked := range []*question{q, q.without("response_type"), q.with("prompt", "none"), q.without("client_id")} {
		e := x.submit(asked)
		if _, there := leadsTo(e, nowhere); there {
			return fault(e, "the browser is sent to %s, which a client named that nobody knows", nowhere)
		}
		if e.Status != 0 {
			seen = e
		}
	}
	if seen == nil {
		return probe.Unverified("the authorization endpoint can't be reached")
	}
	return probe.Pass(Of(seen)...)
}
