package authprobe

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// loopbackRedirect is where a native client listens.
const loopbackRedirect = "http://127.0.0.1:33418/callback"

// Registration, if it is allowed.
var registerProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "register/accepts",
			Rows:    []string{"2506.basic.authorization-001"},
			Does:    "Registers a public native client with a redirect URI on the loopback.",
			Accepts: "201 with a JSON object that has a client_id and the redirect URI.",
			Mend:    "Answer a registration by RFC 7591, section 3.2.1.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsClient}, Run: acceptsClient,
	},
	{
		Info: probe.Info{
			ID:      "register/redirect-uris",
			Rows:    []string{"26.basic.authorization.security-012", "2511.basic.authorization-086"},
			Does:    "Registers clients with redirect URIs that are http on another host, of a scheme of their own, and javascript:.",
			Accepts: "They are refused.",
			Mend:    "Refuse redirect URIs that are neither https nor on localhost, with invalid_redirect_uri.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsClient}, Run: refusesRedirects,
	},
}

// client is what was registered.
type client struct {
	*peer.Exchange

	id, redirect string
	// web is a second one, whose redirect URI is https: "" if there is none.
	web     string
	created []map[string]any // the answers, to delete what they are about
}

// lackClient registers a client when the first probe needs one.
func (x *X) lackClient() (probe.Finding, bool) {
	switch {
	case x.at("registration_endpoint") == "":
		return probe.NotApplicable("the authorization server registers no clients"), true
	case !x.opts.Register:
		return probe.Unverified("it registers a client: allow it with --register"), true
	}
	x.enrol()
	return probe.Finding{}, false
}

// enrol registers the clients that probes use, once.
func (x *X) enrol() {
	if x.client != nil {
		return
	}
	x.client = &client{redirect: loopbackRedirect}
	if x.opts.Login != nil && x.opts.Login.RedirectURI != "" {
		x.client.redirect = x.opts.Login.RedirectURI
	}
	x.client.Exchange = x.register("native", x.client.redirect)
	if v, ok := object(x.client.Exchange); ok && took(x.client.Exchange) {
		x.client.id = text(v, "client_id")
	}
	web := x.register("web", nowhere)
	if v, ok := object(web); ok && took(web) {
		x.client.web = text(v, "client_id")
	}
}

// register asks for a registration.
func (x *X) register(kind, redirect string) *peer.Exchange {
	e := x.Ask(&peer.Out{URL: x.at("registration_endpoint"), Raw: peer.Encode(map[string]any{
		"client_name": "parley check (may be deleted)", "redirect_uris": []string{redirect}, "application_type": kind,
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": "none",
	})})
	if v, ok := object(e); ok && took(e) {
		x.client.created = append(x.client.created, v)
	}
	return e
}

// clear deletes what was registered, where the server lets clients do so (RFC
// 7592).
func (x *X) clear() {
	if x.client == nil {
		return
	}
	left := 0
	for _, v := range x.client.created {
		at, token := text(v, "registration_client_uri"), text(v, "registration_access_token")
		if at == "" || token == "" || !took(x.Ask(Bearer(&peer.Out{HTTPMethod: http.MethodDelete, URL: at}, token))) {
			left++
		}
	}
	if left > 0 {
		x.Note("%d clients named %q stay registered: the authorization server does not let them be deleted", left, "parley check (may be deleted)")
	}
}

// Spec: 2025-06-18 basic/authorization#dynamic-client-registration.
func acceptsClient(x *X) probe.Finding {
	e := x.client.Exchange
	v, ok := object(e)
	switch {
	case e.Status == 0:
		return silent(e)
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden, e.Status == http.StatusTooManyRequests:
		return probe.Unverified("the authorization server does not let everybody register (%d)", e.Status)
	case !took(e):
		return fault(e, "a client with a redirect URI on the loopback is refused with %d", e.Status)
	case !ok || text(v, "client_id") == "":
		return fault(e, "the answer has no client_id")
	case !slices.Contains(texts(v, "redirect_uris"), x.client.redirect):
		return fault(e, "the answer does not have the redirect URI that was registered")
	}
	return probe.Pass(Of(e)...)
}

// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security.
func refusesRedirects(x *X) probe.Finding {
	if x.client.id == "" && x.client.web == "" {
		return probe.Unverified("no client can be registered").Explained("register/accepts")
	}
	for _, bad := range []string{"http://parley-check.invalid/callback", "invalid.parley-check:/callback", "javascript:alert(1)"} {
		e := x.register("native", bad)
		if took(e) && keeps(e, bad) {
			return fault(e, "the redirect URI %s is registered, which is neither https nor on localhost", bad)
		}
	}
	return probe.Pass(Of(x.client.Exchange)...)
}

// keeps reports whether a registration has a redirect URI, and not another one
// that the server put in its place.
func keeps(e *peer.Exchange, redirect string) bool {
	v, ok := object(e)
	if !ok {
		return false
	}
	_, named := v["redirect_uris"]
	return !named || slices.Contains(texts(v, "redirect_uris"), redirect)
}

// answer is what an authorization server sent through a browser.
type answer struct {
	*peer.Exchange

	values url.Values
}
