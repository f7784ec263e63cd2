package clientprobe

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// Which scopes clients ask for, and what they do when those are not enough.
var authScopes = []Probe{
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
