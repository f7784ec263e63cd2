package policy_test

import (
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
)

// A backend introduces itself to whom some use of something that it may have is permitted.
func TestIntroduces(t *testing.T) {
	const all = `permit(principal, action, resource); `
	for rules, want := range map[string]bool{
		``:  false,
		all: true,
		all + `forbid(principal in Group::"staff", action, resource in Backend::"hr");`:                                          false,
		all + `forbid(principal in Group::"guests", action, resource in Backend::"hr");`:                                         true,
		all + `forbid(principal, action, resource in Backend::"files");`:                                                         true,
		all + `forbid(principal, action, resource);`:                                                                             false,
		all + `forbid(principal, action == Action::"tools/call", resource in Backend::"hr");`:                                    true,
		all + `forbid(principal, action, resource is Tool in Backend::"hr");`:                                                    true,
		all + `forbid(principal, action, resource == Tool::"hr__look");`:                                                         true,
		all + `forbid(principal, action, resource in Backend::"hr") when { resource has readOnly && !resource.readOnly };`:       true,
		all + `forbid(principal, action, resource in Backend::"hr") when { context.view == "work" };`:                            false,
		all + `forbid(principal, action, resource in Backend::"hr") unless { context.view == "work" };`:                          true,
		all + `forbid(principal, action, resource in Backend::"hr") when { principal.claims.nothing };`:                          false,
		all + `forbid(principal, action, resource in Backend::"hr") when { context.arguments has a && context.arguments.a > 1};`: true,
		`permit(principal, action, resource in Backend::"files");`:                                                               false,
		`permit(principal, action, resource is Tool in Backend::"files");`:                                                       false,
		`permit(principal, action, resource is Tool in Backend::"hr");`:                                                          true,
		`permit(principal, action, resource in Backend::"hr");`:                                                                  true,
		`permit(principal in Group::"guests", action, resource in Backend::"hr");`:                                               false,
		`permit(principal, action == Action::"prompts/get", resource == Prompt::"hr__review");`:                                  true,
		`permit(principal, action == Action::"tasks/list", resource == Backend::"hr");`:                                          false,
		`permit(principal, action, resource is Prompt);`:                                                                         true,
		`permit(principal, action, resource) when { resource has readOnly && resource.readOnly };`:                               true,
	} {
		p := load(t, rules, policy.Options{})
		for range 2 { // what is remembered is the same
			if got := p.Introduces(t.Context(), alice, "work", "hr"); got != want {
				t.Errorf("%s\nhr introduces itself: %t", rules, got)
			}
		}
	}
}

// What is remembered of one backend, view or peer is not that of another, and a dry run hides
// nothing.
func TestIntroducesEach(t *testing.T) {
	const rules = `permit(principal is User, action, resource in Backend::"hr") when { context.view == "work" };`
	p := load(t, rules, policy.Options{})
	for range 2 {
		for _, test := range []struct {
			peer          *mcp.Peer
			view, backend string
			want          bool
		}{{alice, "work", "hr", true}, {alice, "", "hr", false}, {alice, "work", "files", false}, {nobody, "work", "hr", false}} {
			if got := p.Introduces(t.Context(), test.peer, test.view, test.backend); got != test.want {
				t.Errorf("%s introduces itself to %q in the view %q: %t", test.backend, test.peer.Principal, test.view, got)
			}
		}
	}
	if !load(t, rules, policy.Options{DryRun: true}).Introduces(t.Context(), nobody, "", "files") {
		t.Error("a dry run hides something")
	}
}
