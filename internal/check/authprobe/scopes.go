package authprobe

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// offlineAccess is the scope that stands for a refresh token.
const offlineAccess = "offline_access"

// The scopes that the endpoint asks for.
var scopeProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "scopes/challenged",
			Rows:    []string{"26.basic.authorization.index-013", "2511.basic.authorization-017"},
			Does:    "Looks for scope in WWW-Authenticate of a 401.",
			Accepts: "A list of scopes.",
			Mend:    "Name the scopes that the request needs in the parameter scope.",
			After:   []string{"challenge/bearer"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: challengesScope,
	},
	{
		Info: probe.Info{
			ID:      "scopes/consistent",
			Rows:    []string{"26.basic.authorization.index-017", "2511.basic.authorization-021"},
			Does:    "Repeats a request without a token and compares the scopes that are asked for.",
			Accepts: "The same scopes each time.",
			Mend:    "Ask for the same scopes for the same operation.",
			After:   []string{"scopes/challenged"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: asksConsistently,
	},
	{
		Info: probe.Info{
			ID:      "scopes/offline-access",
			Rows:    []string{"26.basic.authorization.index-055"},
			Does:    "Looks for offline_access in challenges and in scopes_supported of the endpoint.",
			Accepts: "It is in neither.",
			Mend:    "Leave offline_access to the authorization server: a refresh token is no requirement of a resource.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: leavesOffline,
	},
	{
		Info: probe.Info{
			ID:      "scopes/precise",
			Rows:    []string{"26.security.best-practices-035", "2511.security_best_practices-028"},
			Does:    "Compares the scopes of the first challenge with those that the authorization server has.",
			Accepts: "Not all of them, where there are four or more.",
			Mend:    "Ask for the scopes that the operation needs.",
			After:   []string{"scopes/challenged"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: asksPrecisely,
	},
	{
		Info: probe.Info{
			ID:      "scopes/minimal",
			Rows:    []string{"26.security.best-practices-037"},
			Does:    "Compares scopes_supported of the endpoint with the scopes of the authorization server, and looks for those that stand for everything.",
			Accepts: "Not all of them, where there are four or more, and none like * or full-access.",
			Mend:    "List what is needed for basic use; let challenges ask for more.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsResource}, Run: listsMinimum,
	},
}

// scopesOf are the scopes of a challenge, sorted.
func scopesOf(e *peer.Exchange) []string {
	c := bearer(e)
	if c == nil {
		return nil
	}
	all := strings.Fields(c.Get("scope"))
	slices.Sort(all)
	return all
}

// Spec: 2026-07-28 basic/authorization#scope-selection-strategy.
func challengesScope(x *X) probe.Finding {
	if bearer(x.First) == nil {
		return probe.Unverified("there is no challenge")
	}
	if len(scopesOf(x.First)) == 0 {
		return fault(x.First, "the challenge names no scope")
	}
	return probe.Pass(Of(x.First)...)
}

// Spec: 2026-07-28 basic/authorization#scope-selection-strategy.
func asksConsistently(x *X) probe.Finding {
	first, second := x.Ask(x.list()), x.Ask(x.list())
	a, b := scopesOf(first), scopesOf(second)
	switch {
	case len(a) == 0 && len(b) == 0:
		return probe.Unverified("the challenges name no scopes")
	case !slices.Equal(a, b):
		return probe.Fail(Of(first, second), "the same request is asked for %q and then for %q", strings.Join(a, " "), strings.Join(b, " "))
	}
	return probe.Pass(Of(first, second)...)
}

// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func leavesOffline(x *X) probe.Finding {
	if holds(scopesOf(x.First), offlineAccess) {
		return fault(x.First, "the challenge asks for offline_access")
	}
	if x.Resource != nil && holds(texts(x.Resource.Value, "scopes_supported"), offlineAccess) {
		return wrong(x.Resource, "/scopes_supported", "scopes_supported has offline_access")
	}
	return probe.Pass(Of(x.First)...)
}

// catalogue are the scopes of the authorization server that concern resources.
func (x *X) catalogue() []string {
	if x.Metadata == nil {
		return nil
	}
	general := []string{offlineAccess, "openid", "profile", "email", "address", "phone"}
	all := slices.DeleteFunc(texts(x.Metadata.Value, "scopes_supported"), func(s string) bool { return slices.Contains(general, s) })
	slices.Sort(all)
	return all
}

// many is how many scopes must be there for all of them to be too many.
const many = 4

func (x *X) isAll(scopes []string) bool {
	all := x.catalogue()
	return len(all) >= many && !slices.ContainsFunc(all, func(s string) bool { return !slices.Contains(scopes, s) })
}

// Spec: 2026-07-28 guides/security_best_practices#scope-minimization.
func asksPrecisely(x *X) probe.Finding {
	asked := scopesOf(x.First)
	switch {
	case len(asked) == 0:
		return probe.Unverified("the challenge names no scopes")
	case x.isAll(asked):
		return fault(x.First, "the first challenge asks for all %d scopes of the authorization server", len(x.catalogue()))
	}
	return probe.Pass(Of(x.First)...)
}

// everything are names of scopes that stand for all others.
var everything = []string{"*", "all", "full-access", "full_access", "superuser"}

// Spec: 2026-07-28 guides/security_best_practices#scope-minimization.
func listsMinimum(x *X) probe.Finding {
	listed := texts(x.Resource.Value, "scopes_supported")
	if len(listed) == 0 {
		return probe.Unverified("the metadata has no scopes_supported")
	}
	for _, s := range listed {
		if slices.Contains(everything, s) {
			return wrong(x.Resource, "/scopes_supported", "scopes_supported has %q, which stands for everything", s)
		}
	}
	if x.isAll(listed) {
		return wrong(x.Resource, "/scopes_supported", "scopes_supported has all %d scopes of the authorization server", len(x.catalogue()))
	}
	return probe.Pass(Of(x.Resource.Exchange)...)
}
