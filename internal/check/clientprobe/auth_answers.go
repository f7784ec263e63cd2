package clientprobe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// What clients make of answers, tokens and scopes.
var authAnswers = []Probe{
	{
		Info: probe.Info{
			ID:      "auth/iss-wrong",
			Rows:    []string{"26.basic.authorization.index-025", "26.basic.authorization.index-024", "26.basic.authorization.index-021", "26.changelog-008"},
			Does:    "Answers with the iss of somebody else.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Compare iss with the issuer that was recorded.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-wrong"},
		Watch: rejectsAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-missing",
			Rows:    []string{"26.basic.authorization.index-026"},
			Does:    "Leaves iss out, though the metadata announces it.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Reject answers without an iss that was announced.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-missing"},
		Watch: rejectsAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-unannounced",
			Rows:    []string{"26.basic.authorization.index-027"},
			Does:    "Answers with the iss of somebody else, which was not announced.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Compare iss whenever it is there.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-unannounced"},
		Watch: rejectsAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-none",
			Rows:    []string{"26.basic.authorization.index-028"},
			Does:    "Has no iss and announces none.",
			Accepts: "The code goes to the token endpoint.",
			Mend:    "Go on if iss was neither announced nor sent.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-none"},
		Watch: takesAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-exact",
			Rows:    []string{"26.basic.authorization.index-029"},
			Does:    "Answers with an iss that has a slash more.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Compare iss as it is, without normalizing it.",
			After:   []string{"auth/iss-wrong"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-slash"},
		Watch: rejectsAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/bearer",
			Rows:    []string{"26.basic.authorization.index-040", "2511.basic.authorization-057", "26.basic.authorization.index-039", "2511.basic.authorization-056"},
			Does:    "Looks at how tokens come to the endpoint.",
			Accepts: "In the header Authorization, with the scheme Bearer.",
			Mend:    "Send Authorization: Bearer with the token.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: sendsBearer,
	},
	{
		Info: probe.Info{
			ID:      "auth/every-request",
			Rows:    []string{"26.basic.authorization.index-041", "2511.basic.authorization-058"},
			Does:    "Looks at the requests to the endpoint after the first one with a token.",
			Accepts: "All have one.",
			Mend:    "Send the token with every request.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: sendsAlways,
	},
	{
		Info: probe.Info{
			ID:      "auth/not-in-query",
			Rows:    []string{"26.basic.authorization.index-042", "2511.basic.authorization-059"},
			Does:    "Looks for tokens in the URLs of requests.",
			Accepts: "There is none.",
			Mend:    "Leave tokens out of URLs.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: keepsOutOfURLs,
	},
	{
		Info: probe.Info{
			ID:      "auth/scope-challenged",
			Rows:    []string{"26.basic.authorization.index-019", "2511.basic.authorization-046", "26.basic.authorization.index-015", "2511.basic.authorization-020", "26.basic.authorization.index-014", "2511.basic.authorization-019", "26.basic.authorization.index-002", "2511.basic.authorization-002"},
			Does:    "Asks for a scope in the first challenge, and lists more in the metadata.",
			Accepts: "The scope that the challenge names is asked for.",
			Mend:    "Take the scopes of the challenge.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: asksChallenged,
	},
	{
		Info: probe.Info{
			ID:      "auth/scope-necessary",
			Rows:    []string{"26.basic.authorization.index-018", "2511.basic.authorization-045"},
			Does:    "Compares the scopes that are asked for first with the challenge.",
			Accepts: "Those of the challenge, and offline_access.",
			Mend:    "Ask for what the challenge names.",
			After:   []string{"auth/scope-challenged"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: asksNecessary,
	},
	{
		Info: probe.Info{
			ID:      "auth/scope-fallback",
			Rows:    []string{"26.basic.authorization.index-020", "2511.basic.authorization-047", "2511.basic.authorization-023"},
			Does:    "Names no scope in the challenge.",
			Accepts: "All of scopes_supported, and no scope if there is none.",
			Mend:    "Without a scope in the challenge take scopes_supported; without that, leave scope out.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-tenant", "auth-openid"},
		Watch: asksSupported,
	},
	{
		Info: probe.Info{
			ID:      "auth/step-up",
			Rows:    []string{"26.basic.authorization.index-067", "2511.basic.authorization-074", "26.basic.authorization.index-066", "2511.basic.authorization-073"},
			Does:    "Answers 403 with insufficient_scope to a call.",
			Accepts: "A new authorization request with the scope.",
			Mend:    "Ask for the scopes of the challenge.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: stepsUp,
	},
	{
		Info: probe.Info{
			ID:      "auth/step-up-union",
			Rows:    []string{"26.basic.authorization.index-069", "26.basic.authorization.index-016", "26.security.best-practices-036"},
			Does:    "Compares the scopes of the second request with those of the first.",
			Accepts: "Those of the first are there.",
			Mend:    "Ask for the union of what was asked for and what the challenge names.",
			After:   []string{"auth/step-up"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: unites,
	},
	{
		Info: probe.Info{
			ID:      "auth/step-up-limit",
			Rows:    []string{"26.basic.authorization.index-071", "2511.basic.authorization-076", "26.basic.authorization.index-072", "2511.basic.authorization-077"},
			Does:    "Answers every token with insufficient_scope.",
			Accepts: "Ten logins at most.",
			Mend:    "Limit how often a user is asked for the same operation.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-never"},
		Watch: limitsStepUp,
	},
	{
		Info: probe.Info{
			ID:      "auth/refresh",
			Rows:    []string{"26.basic.authorization.index-054"},
			Does:    "Issues no refresh token.",
			Accepts: "No request with one.",
			Mend:    "Take refresh tokens only if they were issued.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: assumesNoRefresh,
	},
	{
		Info: probe.Info{
			ID:      "auth/other-server",
			Rows:    []string{"26.basic.authorization.registration-026", "26.basic.authorization.discovery-004", "26.basic.authorization.registration-025", "26.basic.authorization.discovery-003", "26.basic.authorization.registration-027", "26.changelog-009"},
			Does:    "Names another authorization server in its metadata after the first one was used.",
			Accepts: "The client_id of the first one is not used there; the client registers anew.",
			Mend:    "Keep clients by issuer.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-moves"},
		Watch: registersAnew,
	},
	{
		Info: probe.Info{
			ID:      "auth/other-tokens",
			Rows:    []string{"26.basic.authorization.index-048", "2511.basic.authorization-065"},
			Does:    "Looks at the tokens that come after the second authorization server issued one.",
			Accepts: "Its tokens.",
			Mend:    "Keep tokens by issuer.",
			After:   []string{"auth/other-server"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth-moves"},
		Watch: usesNewToken,
	},
}

// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
func rejectsAnswer(x *X, w *probe.Watch) {
	x.forbidden(w, pathAuthorize, "the code is exchanged though the answer is not the authorization server's", pathToken)
}

// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
func takesAnswer(x *X, w *probe.Watch) {
	used := x.errands(pathToken)
	for _, e := range x.errands(pathAuthorize) {
		if len(used) == 0 {
			w.FaultOf(e.blame(), "the code is not exchanged, though no iss was announced")
			return
		}
		w.SawExchange(e.Exchange)
	}
}

// calls are the requests to the endpoint, in order.
func (x *X) calls() []*peer.Exchange {
	return slices.DeleteFunc(x.Log.Exchanges(), func(e *peer.Exchange) bool {
		u, err := url.Parse(e.URL)
		return err != nil || !e.Incoming || u.Path != pathMCP
	})
}

// issued is the first exchange in which a token was issued, or nil.
func (x *X) issued() *errand {
	for _, e := range x.errands(pathToken) {
		if e.Status == 200 {
			return e
		}
	}
	return nil
}

// Spec: 2026-07-28 basic/authorization#token-requirements.
func sendsBearer(x *X, w *probe.Watch) {
	first := x.issued()
	if first == nil {
		return
	}
	for _, e := range x.calls() {
		if e.Number > first.Number && strings.HasPrefix(e.Header.Get("Authorization"), "Bearer ") {
			w.SawExchange(e)
			return
		}
	}
	for _, e := range x.calls() {
		if e.Number > first.Number && !x.ByHand {
			w.FaultOf([]probe.Blame{{Exchange: e}}, "the client was given a token and sends none as Authorization: Bearer")
			return
		}
	}
}

// Spec: 2026-07-28 basic/authorization#token-requirements.
func sendsAlways(x *X, w *probe.Watch) {
	began := false
	for _, e := range x.calls() {
		has := strings.HasPrefix(e.Header.Get("Authorization"), "Bearer ")
		switch {
		case has:
			began = true
			w.SawExchange(e)
		case began:
			w.FaultOf([]probe.Blame{{Exchange: e}}, "a request to the endpoint has no token, though earlier ones had")
		}
	}
}

// Spec: 2026-07-28 basic/authorization#token-requirements.
func keepsOutOfURLs(x *X, w *probe.Watch) {
	for _, e := range x.calls() {
		u, err := url.Parse(e.URL)
		switch {
		case err != nil || x.issued() == nil:
		case u.Query().Has("access_token") || strings.Contains(u.RawQuery, "token."):
			w.FaultOf([]probe.Blame{{Exchange: e}}, "a token is in the URL")
		default:
			w.SawExchange(e)
		}
	}
}

// firstAsked is the first authorization request, or nil: what follows is the
// step-up.
func (x *X) firstAsked() *errand {
	all := x.errands(pathAuthorize)
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// Spec: 2026-07-28 basic/authorization#scope-selection-strategy.
func asksChallenged(x *X, w *probe.Watch) {
	e := x.firstAsked()
	switch {
	case e == nil:
	case !slices.Contains(e.scopesAsked(), "read"):
		w.FaultOf(e.blame(), "the challenge asks for the scope read, and the client asks for %q", e.get("scope"))
	default:
		w.SawExchange(e.Exchange)
	}
}

// Spec: 2026-07-28 basic/authorization#scope-selection-strategy.
func asksNecessary(x *X, w *probe.Watch) {
	e := x.firstAsked()
	switch {
	case e == nil:
	case slices.ContainsFunc(e.scopesAsked(), func(s string) bool { return s != "read" }):
		w.FaultOf(e.blame(), "the challenge asks for the scope read, and the client asks for %q", e.get("scope"))
	default:
		w.SawExchange(e.Exchange)
	}
}

// Spec: 2026-07-28 basic/authorization#scope-selection-strategy.
func asksSupported(x *X, w *probe.Watch) {
	var want []string
	if x.Scenario.Name == "auth-tenant" && x.Facts.ResourceMetadata {
		want = []string{"list", "read"}
	}
	x.eachErrand(w, func(e *errand) string {
		asked := e.scopesAsked()
		slices.Sort(asked)
		if !slices.Equal(asked, want) {
			return "the client asks for the scopes \"" + e.get("scope") + "\", and scopes_supported has \"" + strings.Join(want, " ") + "\""
		}
		return ""
	}, pathAuthorize)
}

// steps are the authorization requests after the endpoint wanted more.
func (x *X) steps() []*errand {
	narrow := x.Marked("narrow")
	if narrow == nil {
		return nil
	}
	return slices.DeleteFunc(x.errands(pathAuthorize), func(e *errand) bool { return e.Number < narrow.Exchange.Number })
}

// Spec: 2026-07-28 basic/authorization#step-up-authorization-flow.
func stepsUp(x *X, w *probe.Watch) {
	steps := x.steps()
	switch narrow := x.Marked("narrow"); {
	case narrow == nil:
	case len(steps) == 0:
		w.Fault(narrow, "", "the answer was 403 with insufficient_scope, and the client did not ask for the scope")
	case !slices.Contains(steps[0].scopesAsked(), "write"):
		w.FaultOf(steps[0].blame(), "the endpoint wants the scope write, and the client asks for %q", steps[0].get("scope"))
	default:
		w.SawExchange(steps[0].Exchange)
	}
}

// Spec: 2026-07-28 basic/authorization#step-up-authorization-flow.
func unites(x *X, w *probe.Watch) {
	steps := x.steps()
	switch {
	case len(steps) == 0:
	case !slices.Contains(steps[0].scopesAsked(), "read"):
		w.FaultOf(steps[0].blame(), "the client asked for read before, and now only for %q", steps[0].get("scope"))
	default:
		w.SawExchange(steps[0].Exchange)
	}
}

// mostLogins is how often a user may be asked in vain.
const mostLogins = 10

// Spec: 2026-07-28 basic/authorization#step-up-authorization-flow.
func limitsStepUp(x *X, w *probe.Watch) {
	steps := x.steps()
	switch {
	case len(steps) > mostLogins:
		w.FaultOf(steps[mostLogins].blame(), "the client asked its user %d times for the same", len(steps))
	case len(steps) > 0:
		w.SawExchange(steps[0].Exchange)
	}
}

// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func assumesNoRefresh(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if e.get("grant_type") == "refresh_token" {
			return "the client refreshes, though it was given no refresh token"
		}
		return ""
	}, pathToken)
}

// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
func registersAnew(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if strings.HasPrefix(e.url.Path, "/second") && strings.HasPrefix(e.get("client_id"), "client-") {
			return "the client_id of the first authorization server is used at the second one"
		}
		return ""
	}, pathAuthorize, pathToken)
}

// Spec: 2026-07-28 basic/authorization#token-handling.
func usesNewToken(x *X, w *probe.Watch) {
	var since *errand
	for _, e := range x.errands(pathToken) {
		if strings.HasPrefix(e.url.Path, "/second") && since == nil {
			since = e
		}
	}
	for _, e := range x.calls() {
		switch {
		case since == nil || e.Number < since.Number || e.Header.Get("Authorization") == "":
		case strings.HasPrefix(e.Header.Get("Authorization"), "Bearer token.0"):
			w.FaultOf([]probe.Blame{{Exchange: e}}, "a token of the first authorization server is sent after the endpoint named another")
		default:
			w.SawExchange(e)
		}
	}
}
