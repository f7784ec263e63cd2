package authprobe

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// The authorization endpoint, towards a client that was registered.
var redirectProbes = []Probe{
	{
		Info: probe.Info{
			ID: "redirect/exact",
			Rows: []string{
				"26.basic.authorization.security-021", "2511.basic.authorization-095",
				"26.security.best-practices-006", "2511.security_best_practices-005", "2503.basic.authorization-019",
			},
			Does:    "Asks for authorization with redirect URIs that differ from the registered one in path, query, case, port, user or host.",
			Accepts: "A refusal without a redirect there.",
			Mend:    "Compare redirect URIs as strings; only the port of one on the loopback may differ.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsClient}, Run: comparesRedirects,
	},
	{
		Info: probe.Info{
			ID:      "redirect/untrusted",
			Rows:    []string{"26.basic.authorization.security-024", "2511.basic.authorization-098"},
			Does:    "Provokes an error as a client that registered itself with a redirect URI elsewhere, as an attacker can.",
			Accepts: "A page, not a redirect that nobody has confirmed.",
			Mend:    "Redirect without asking only to clients that somebody has vouched for.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsClient}, Run: asksBeforeRedirect,
	},
	{
		Info: probe.Info{
			ID:      "redirect/pkce",
			Rows:    []string{"26.basic.authorization.index-005", "2511.basic.authorization-005"},
			Does:    "Asks for authorization without code_challenge.",
			Accepts: "An error, as a page or to the client.",
			Mend:    "Refuse requests of public clients without code_challenge.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsClient}, Run: wantsPKCE,
	},
	{
		Info: probe.Info{
			ID:      "redirect/consent-page",
			Rows:    []string{"26.security.best-practices-004"},
			Does:    "Opens the page that asks a person to consent, and looks at its headers and its form.",
			Accepts: "X-Frame-Options or frame-ancestors, and a hidden field or a cookie that proves where the form came from.",
			Mend:    "Send Content-Security-Policy: frame-ancestors 'none', and put a token into the form.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsClient}, Run: protectsConsent,
	},
}

// variants are redirect URIs that are not the registered one.
func variants(of string) []string {
	return []string{
		of + "/more", of + "?more=1", strings.Replace(of, "/callback", "/Callback", 1), strings.Replace(of, "/callback", "/other/../callback", 1),
		strings.Replace(of, ".invalid/", ".invalid:8443/", 1), strings.Replace(of, "https://", "https://user@", 1),
		strings.Replace(of, "https://", "https://sub.", 1), strings.Replace(of, ".invalid/", ".invalid.example/", 1), strings.Replace(of, "https:", "http:", 1),
	}
}

// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func comparesRedirects(x *X) probe.Finding {
	if x.client.web == "" {
		return probe.Unverified("no client with a redirect URI elsewhere can be registered")
	}
	var refused *peer.Exchange
	for _, v := range variants(nowhere) {
		q := x.asks(x.client.web, v)
		for _, asked := range []*question{q, q.without("response_type")} {
			e := x.submit(asked)
			if _, there := leadsTo(e, v); there {
				return fault(e, "the browser is sent to %s, and the client has registered %s", v, nowhere)
			}
			if refuses(e) {
				refused = e
			}
		}
	}
	if refused == nil {
		return probe.Unverified("the authorization server looks at redirect URIs only after a login")
	}
	return probe.Pass(Of(refused)...)
}

// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func asksBeforeRedirect(x *X) probe.Finding {
	if x.client.web == "" {
		return probe.Unverified("no client with a redirect URI elsewhere can be registered")
	}
	q := x.asks(x.client.web, nowhere)
	seen := false
	for _, asked := range []*question{q.without("response_type"), q.without("code_challenge", "code_challenge_method"), q.with("prompt", "none")} {
		e := x.submit(asked)
		if values, there := leadsTo(e, nowhere); there {
			return fault(e, "the browser is sent at once to the redirect URI of a client that registered itself (error %s)", values.Get("error"))
		}
		seen = seen || refuses(e)
	}
	if !seen {
		return probe.Unverified("the authorization server refuses nothing before a login")
	}
	return probe.Pass()
}

// Spec: 2026-07-28 basic/authorization#overview.
func wantsPKCE(x *X) probe.Finding {
	if x.client.id == "" {
		return probe.Unverified("no client can be registered").Explained("register/accepts")
	}
	e := x.submit(x.asks(x.client.id, x.client.redirect).without("code_challenge", "code_challenge_method"))
	values, there := leadsTo(e, x.client.redirect)
	switch {
	case e.Status == 0:
		return silent(e)
	case there && values.Get("error") != "", refuses(e):
		x.remember(e, x.client.redirect)
		return probe.Pass(Of(e)...)
	case there && values.Get("code") != "":
		return fault(e, "a code is issued without PKCE")
	}
	return probe.Unverified("the authorization server looks at the request only after a login")
}

// remember keeps an answer that came through the browser.
func (x *X) remember(e *peer.Exchange, redirect string) {
	if values, there := leadsTo(e, redirect); there {
		x.answered = append(x.answered, answer{e, values})
	}
}

var (
	hasPassword = regexp.MustCompile(`(?i)type\s*=\s*["']?password`)
	hasForm     = regexp.MustCompile(`(?i)<form\b[^>]*method\s*=\s*["']?post`)
	hasHidden   = regexp.MustCompile(`(?i)type\s*=\s*["']?hidden`)
)

// protectsConsent looks at the page that is shown to those who have not logged
// in: where it asks for no password, it asks for consent.
//
// Spec: 2026-07-28 guides/security_best_practices#required-protections.
func protectsConsent(x *X) probe.Finding {
	if x.client.id == "" {
		return probe.Unverified("no client can be registered").Explained("register/accepts")
	}
	e := x.follow(x.submit(x.asks(x.client.id, x.client.redirect)))
	page := string(e.Text)
	switch {
	case !took(e) || !strings.Contains(peer.MediaType(e.ResponseHeader), "html") || !hasForm.MatchString(page):
		return probe.Unverified("no page of the authorization server asks for consent before a login")
	case hasPassword.MatchString(page):
		return probe.Unverified("a person has to log in before the page is shown")
	case e.ResponseHeader.Get("X-Frame-Options") == "" && !strings.Contains(e.ResponseHeader.Get("Content-Security-Policy"), "frame-ancestors"):
		return fault(e, "the page that asks for consent can be shown in a frame: it has neither X-Frame-Options nor frame-ancestors")
	case !hasHidden.MatchString(page) && len(e.ResponseHeader.Values("Set-Cookie")) == 0:
		return fault(e, "the form that asks for consent has no hidden field, and no cookie is set: other pages can send it")
	}
	return probe.Pass(Of(e)...)
}

// follow follows redirects to the same host, at most three.
func (x *X) follow(e *peer.Exchange) *peer.Exchange {
	for range 3 {
		to, ok := within(e)
		if !ok {
			break
		}
		e = x.Ask((&peer.Out{HTTPMethod: "GET", URL: to}).With("Accept", "text/html"))
	}
	return e
}

// within returns where an exchange redirects to on the same host.
func within(e *peer.Exchange) (string, bool) {
	base, err := url.Parse(e.URL)
	if err != nil || !isRedirect(e) {
		return "", false
	}
	to, err := base.Parse(e.ResponseHeader.Get("Location"))
	if err != nil || to.Host != base.Host {
		return "", false
	}
	return to.String(), true
}
