package authprobe

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// What a person's login shows.
var loginProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "login/tokens",
			Rows:    []string{"26.basic.authorization.index-005", "2511.basic.authorization-005"},
			Does:    "Logs in, exchanges the code with its verifier, and looks at the answer.",
			Accepts: "A JSON object with access_token and token_type, and Cache-Control: no-store.",
			Mend:    "Answer by OAuth 2.1, section 3.2.3.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsLogin}, Run: givesTokens,
	},
	{
		Info: probe.Info{
			ID:      "login/lifetime",
			Rows:    []string{"26.basic.authorization.security-006", "2511.basic.authorization-082", "2503.basic.authorization-024"},
			Does:    "Looks at expires_in of the access token.",
			Accepts: "A day at most.",
			Mend:    "Issue access tokens for minutes or hours, and refresh tokens for what lasts longer.",
			After:   []string{"login/tokens"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsLogin}, Run: givesShortLives,
	},
	{
		Info: probe.Info{
			ID:      "login/expiry",
			Rows:    []string{"2503.basic.authorization-017"},
			Does:    "Looks for expires_in of the access token.",
			Accepts: "A number of seconds.",
			Mend:    "Let access tokens expire, and say when.",
			After:   []string{"login/tokens"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsIssuer, needsLogin}, Run: givesExpiry,
	},
	{
		Info: probe.Info{
			ID:      "login/verifier",
			Rows:    []string{"26.basic.authorization.index-005", "2511.basic.authorization-005"},
			Does:    "Logs in again and exchanges the code with the verifier of another request, and without one.",
			Accepts: "Errors.",
			Mend:    "Compare the hash of code_verifier with code_challenge.",
			After:   []string{"login/tokens"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsLogin}, Run: comparesVerifier,
	},
}

// The answers that came through the browser, and the grants of a further login.
var grantProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "answers/iss",
			Rows:    []string{"26.basic.authorization.index-022"},
			Does:    "Looks for iss in the answers, errors too, that the authorization server sends through the browser.",
			Accepts: "The issuer.",
			Mend:    "Add iss to the parameters of every redirect to a client (RFC 9207).",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: answersWithIssuer,
	},
	{
		Info: probe.Info{
			ID:      "answers/iss-advertised",
			Rows:    []string{"26.basic.authorization.index-023"},
			Does:    "Compares iss in such answers with the metadata.",
			Accepts: "authorization_response_iss_parameter_supported is true if iss is there.",
			Mend:    `Add "authorization_response_iss_parameter_supported": true to the metadata.`,
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: advertisesIssuer,
	},
	{
		Info: probe.Info{
			ID:      "grants/rotation",
			Rows:    []string{"26.basic.authorization.security-007", "2511.basic.authorization-083", "2503.basic.authorization-023"},
			Does:    "Logs in once more, refreshes the tokens, and refreshes again with the first refresh token.",
			Accepts: "A new refresh token, and an error for the old one.",
			Mend:    "Issue a new refresh token with each refresh of a public client, and refuse the old one.",
			After:   []string{"login/tokens"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsLogin}, Run: rotates,
	},
	{
		Info: probe.Info{
			ID:      "grants/code-once",
			Rows:    []string{"26.basic.authorization.index-005", "2511.basic.authorization-005"},
			Does:    "Exchanges a code for the second time.",
			Accepts: "An error.",
			Mend:    "Take each code once.",
			After:   []string{"login/tokens"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsLogin}, Run: takesCodeOnce,
	},
}

// logged is what a login has brought.
type logged struct {
	*peer.Exchange // that with the token endpoint

	why             string // why it brought nothing
	client          string
	code            string
	question        *question
	values          map[string]any
	access, refresh string
}

// lackLogin logs in when the first probe needs it.
func (x *X) lackLogin() (probe.Finding, bool) {
	switch {
	case x.opts.Login == nil:
		return probe.Unverified("a person has to log in: ask for it with --login"), true
	case x.logged == nil:
		x.logged = x.login()
	}
	return probe.Unverified("the login brought nothing: %s", x.logged.why), x.logged.why != ""
}

// clientID is the client that logs in, or "".
func (x *X) clientID() string {
	switch {
	case x.opts.Login.ClientID != "":
		return x.opts.Login.ClientID
	case x.at("registration_endpoint") != "" && x.opts.Register:
		x.enrol()
		return x.client.id
	case x.opts.ClientMetadata != "":
		return x.opts.ClientMetadata
	}
	return ""
}

// visit brings the person to the authorization server.
func (x *X) visit(scopes ...string) *logged {
	l := &logged{client: x.clientID()}
	if l.client == "" {
		l.why = "there is no client to log in as: give --client-id or --client-metadata, or allow --register"
		return l
	}
	l.question = x.asks(l.client, x.opts.Login.RedirectURI, scopes...)
	state := l.question.values.Get("state")
	values, err := x.opts.Login.Visit(x.Ctx, x.page(l.question), state)
	if err != nil {
		l.why = err.Error()
		return l
	}
	arrival := &peer.Exchange{Method: http.MethodGet, URL: x.opts.Login.RedirectURI + "?" + values.Encode(), Status: http.StatusOK, Done: true}
	x.Log.Begin(arrival)
	x.answered = append(x.answered, answer{arrival, values})
	switch l.code = values.Get("code"); {
	case subtle.ConstantTimeCompare([]byte(values.Get("state")), []byte(state)) != 1:
		l.why = "the answer is not to the request: its state is another one"
	case l.code == "":
		l.why = "the authorization server answered with the error " + values.Get("error")
	}
	return l
}

// exchange asks for the tokens of a code.
func (x *X) exchange(l *logged, change url.Values) *peer.Exchange {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {l.code}, "client_id": {l.client},
		"redirect_uri": {x.opts.Login.RedirectURI}, "code_verifier": {l.question.verifier},
	}
	if resource := l.question.values.Get("resource"); resource != "" {
		form.Set("resource", resource)
	}
	for name, values := range change {
		form[name] = values
		if len(values) == 0 {
			delete(form, name)
		}
	}
	return x.Form(x.at("token_endpoint"), form)
}

// login logs in and gets tokens.
func (x *X) login(scopes ...string) *logged {
	l := x.visit(scopes...)
	if l.why != "" {
		return l
	}
	l.Exchange = x.exchange(l, nil)
	l.values, _ = object(l.Exchange)
	l.access, l.refresh = text(l.values, "access_token"), text(l.values, "refresh_token")
	if !took(l.Exchange) {
		l.why = "the token endpoint refused a good code with the error " + text(l.values, "error")
	}
	return l
}

// givesTokens looks at the answer by OAuth 2.1, section 3.2.3.
//
// Spec: 2026-07-28 basic/authorization#overview.
func givesTokens(x *X) probe.Finding {
	e := x.logged.Exchange
	switch {
	case peer.MediaType(e.ResponseHeader) != "application/json":
		return fault(e, "the tokens come as %q instead of application/json", peer.MediaType(e.ResponseHeader))
	case x.logged.access == "":
		return fault(e, "the answer has no access_token")
	case text(x.logged.values, "token_type") == "":
		return fault(e, "the answer has no token_type")
	case !strings.Contains(e.ResponseHeader.Get("Cache-Control"), "no-store"):
		return fault(e, "the tokens may be kept by caches: Cache-Control does not have no-store")
	}
	return probe.Pass(Of(e)...)
}

// longest is how long an access token is short-lived.
const longest = 24 * time.Hour

func (l *logged) lifetime() (time.Duration, bool) {
	n, ok := seconds(l.values["expires_in"])
	return time.Duration(n) * time.Second, ok
}

// Spec: 2026-07-28 basic/authorization/security-considerations#token-theft.
func givesShortLives(x *X) probe.Finding {
	lifetime, ok := x.logged.lifetime()
	switch {
	case !ok:
		return probe.Unverified("the answer does not say when the token expires")
	case lifetime > longest:
		return fault(x.logged.Exchange, "the access token is good for %s", lifetime)
	}
	return probe.Pass(Of(x.logged.Exchange)...)
}

// Spec: 2025-03-26 basic/authorization#security-considerations.
func givesExpiry(x *X) probe.Finding {
	if _, ok := x.logged.lifetime(); !ok {
		return fault(x.logged.Exchange, "the answer has no expires_in")
	}
	return probe.Pass(Of(x.logged.Exchange)...)
}

// Spec: 2026-07-28 basic/authorization#overview.
func comparesVerifier(x *X) probe.Finding {
	l := x.visit()
	if l.why != "" {
		return probe.Unverified("the login brought nothing: %s", l.why)
	}
	for _, change := range []url.Values{{"code_verifier": {strings.Repeat("parley-check-", 5)}}, {"code_verifier": nil}} {
		if e := x.exchange(l, change); took(e) {
			return fault(e, "a code is exchanged without the verifier of its request")
		}
	}
	return probe.Pass()
}

// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
func answersWithIssuer(x *X) probe.Finding {
	for _, a := range x.answered {
		if iss := a.values.Get("iss"); iss != x.Issuer {
			return fault(a.Exchange, "the answer to the client has iss %q instead of %q", iss, x.Issuer)
		}
	}
	if len(x.answered) == 0 {
		return probe.Unverified("no answer came through the browser: --register may provoke an error, --login a code")
	}
	return probe.Pass(Of(x.answered[0].Exchange)...)
}

// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
func advertisesIssuer(x *X) probe.Finding {
	for _, a := range x.answered {
		if !a.values.Has("iss") {
			continue
		}
		if x.Metadata.Value["authorization_response_iss_parameter_supported"] != true {
			return probe.Fail(Of(x.Metadata.Exchange, a.Exchange), "the answer has iss, and the metadata does not say authorization_response_iss_parameter_supported")
		}
		return probe.Pass(Of(a.Exchange)...)
	}
	return probe.Unverified("no answer with iss came through the browser")
}

// again is a further login, for what uses its tokens up.
func (x *X) again() *logged {
	if x.spare == nil {
		x.spare = x.login()
	}
	return x.spare
}

func (x *X) renew(l *logged, token string) (*peer.Exchange, map[string]any) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {l.client}}
	if resource := l.question.values.Get("resource"); resource != "" {
		form.Set("resource", resource)
	}
	e := x.Form(x.at("token_endpoint"), form)
	v, _ := object(e)
	return e, v
}

// Spec: 2026-07-28 basic/authorization/security-considerations#token-theft.
func rotates(x *X) probe.Finding {
	l := x.again()
	switch {
	case l.why != "":
		return probe.Unverified("the login brought nothing: %s", l.why)
	case l.refresh == "":
		return probe.NotApplicable("the authorization server issues no refresh token")
	}
	first, v := x.renew(l, l.refresh)
	if !took(first) {
		return probe.Unverified("the refresh token is not taken (%s)", text(v, "error"))
	}
	if fresh := text(v, "refresh_token"); fresh == "" || fresh == l.refresh {
		return fault(first, "the refresh token of a public client stays the same")
	}
	if second, _ := x.renew(l, l.refresh); took(second) {
		return probe.Fail(Of(first, second), "a refresh token that was replaced is taken again")
	}
	return probe.Pass(Of(first)...)
}

// Spec: 2026-07-28 basic/authorization#overview.
func takesCodeOnce(x *X) probe.Finding {
	l := x.again()
	if l.why != "" {
		return probe.Unverified("the login brought nothing: %s", l.why)
	}
	if e := x.exchange(l, nil); took(e) {
		return fault(e, "a code is exchanged for the second time")
	}
	return probe.Pass(Of(l.Exchange)...)
}
