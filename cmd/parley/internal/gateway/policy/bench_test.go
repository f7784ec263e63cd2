package policy_test

import (
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
)

// typical are policies of the kinds that people write.
const typical = `permit(principal in Group::"staff", action, resource in Backend::"files");
permit(principal, action, resource) when { resource has readOnly && resource.readOnly };
@id("large-sums") @reason("ask your manager")
forbid(principal, action, resource == Tool::"shop__pay") when { context.arguments.amount > 100 };`

// What a decision adds to a call.
func BenchmarkDecide(b *testing.B) {
	p := load(b, typical, policy.Options{})
	q := reading(alice, `{"path":"/tmp/a","limit":5}`)
	b.ReportAllocs()
	for b.Loop() {
		if !p.Decide(q).Allowed {
			b.Fatal("it is denied")
		}
	}
}

// What a list of 10,000 tools costs, for the first time and again.
func BenchmarkSees(b *testing.B) {
	defs := make([]*guard.Definition, 10_000)
	for i := range defs {
		name := fmt.Sprintf("tool%d", i)
		defs[i] = &guard.Definition{Kind: mcp.ToolFeature, List: mcp.MethodListTools, Backend: "files", Name: name, Shown: "files__" + name}
	}
	for _, cached := range []bool{false, true} {
		b.Run(fmt.Sprintf("cached=%t", cached), func(b *testing.B) {
			p := load(b, typical, policy.Options{})
			b.ReportAllocs()
			for b.Loop() {
				if !cached {
					p = load(b, typical, policy.Options{})
				}
				sees := p.Look(b.Context(), alice, "")
				for _, d := range defs {
					if !sees(d) {
						b.Fatal("it is not seen")
					}
				}
			}
		})
	}
}
