package authprobe

import (
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// The token endpoint, towards those who have nothing to give.
var tokenEndpointProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "token/errors",
			Rows:    []string{"26.basic.authorization.index-005", "2511.basic.authorization-005"},
			Does:    "Asks for tokens with a code that was never issued, with a grant type that nobody has, with none, with a password, and with JSON in place of a form.",
			Accepts: "400 or 401 with a JSON object whose error is one of the codes of OAuth.",
			Mend:    `Answer 400 (401 for invalid_client) with {"error": "..."} as application/json.`,
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: refusesGrants,
	},
	{
		Info: probe.Info{
			ID:      "token/post-only",
			Rows:    []string{"26.basic.authorization.index-005", "2511.basic.authorization-005"},
			Does:    "Asks for tokens with GET.",
			Accepts: "Anything but 2xx.",
			Mend:    "Take POST only at the token endpoint.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: takesPostOnly,
	},
	{
		Info: probe.Info{
			ID:      "token/foreign",
			Rows:    []string{"2506.basic.authorization-006"},
			Does:    "Presents a refresh token, and at the userinfo endpoint an access token, that were issued by nobody.",
			Accepts: "They are refused.",
			Mend:    "Take only tokens that this server has issued.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: refusesForeign,
	},
}

// refusesGrants looks at errors by OAuth 2.1, section 3.2.4.
//
// Spec: 2026-07-28 basic/authorization#overview.
func refusesGrants(x *X) probe.Finding {
	at := x.at("token_endpoint")
	code := url.Values{
		"grant_type": {"authorization_code"}, "code": {"parley-check"}, "client_id": {"parley-check"},
		"redirect_uri": {nowhere}, "code_verifier": {"parley-check-parley-check-parley-check-parley-check"},
	}
	other, none := url.Values{"grant_type": {"parley-check"}, "client_id": {"parley-check"}}, url.Values{"client_id": {"parley-check"}}
	password := url.Values{"grant_type": {"password"}, "client_id": {"parley-check"}, "username": {"parley-check"}, "password": {"parley-check"}}
	all := []*peer.Exchange{x.Form(at, code), x.Form(at, other), x.Form(at, none), x.Form(at, password)}
	all = append(all, x.Ask(&peer.Out{URL: orNone(at), Raw: peer.Encode(map[string]any{"grant_type": "authorization_code", "code": "parley-check", "client_id": "parley-check"})}))
	for n, e := range all {
		if f := asError(e, n == len(all)-1); f.Why != "" {
			return f
		}
	}
	return probe.Pass(Of(all[0])...)
}

// asError says what is wrong with an answer that has to be an error. What was
// sent in the wrong form may be refused in any form.
func asError(e *peer.Exchange, form bool) probe.Finding {
	v, ok := object(e)
	switch {
	case e.Status == 0:
		return silent(e)
	case e.Status == http.StatusTooManyRequests, e.Status == http.StatusServiceUnavailable:
		return probe.Unverified("the token endpoint has no time (%d)", e.Status)
	case took(e):
		return fault(e, "a request that nobody may make is answered with %d", e.Status)
	case form && e.Status < 500:
	case e.Status < 400 || e.Status >= 500:
		return fault(e, "the error has the status %d", e.Status)
	case peer.MediaType(e.ResponseHeader) != "application/json" || !ok:
		return fault(e, "the error is no JSON object of the type application/json")
	case text(v, "error") == "":
		return fault(e, "the error has no member error")
	}
	return probe.Finding{}
}

// Spec: 2026-07-28 basic/authorization#overview.
func takesPostOnly(x *X) probe.Finding {
	e := x.Get(orNone(x.at("token_endpoint")) + "?grant_type=authorization_code&code=parley-check&client_id=parley-check")
	switch {
	case e.Status == 0:
		return silent(e)
	case took(e):
		return fault(e, "GET at the token endpoint is answered with %d", e.Status)
	}
	return probe.Pass(Of(e)...)
}

// Spec: 2025-06-18 basic/authorization#token-handling.
func refusesForeign(x *X) probe.Finding {
	token := forged(x.Issuer, "", "RS256")
	e := x.Form(x.at("token_endpoint"), url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {"parley-check"}})
	switch {
	case e.Status == 0:
		return silent(e)
	case took(e):
		return fault(e, "a refresh token that nobody issued is taken")
	}
	if at := x.at("userinfo_endpoint"); at != "" {
		if u := x.Ask(Bearer(&peer.Out{HTTPMethod: http.MethodGet, URL: at}, token)); took(u) {
			return fault(u, "an access token that nobody issued is taken")
		}
	}
	return probe.Pass(Of(e)...)
}
