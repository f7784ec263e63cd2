package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
)

// A policy that forbids does so where it cannot be evaluated, and one that permits does not
// permit.
func TestUnsure(t *testing.T) {
	const all = `permit(principal, action, resource);`
	for _, test := range []struct {
		name, rules, arguments string
		allowed                bool
		says, mistake          string
	}{
		{
			"what forbids", all + `@id("x") forbid(principal, action, resource) when { context.arguments.amount > 100 };`, `{}`, false,
			"the policy x cannot be evaluated, and so forbids it: record does not have the attribute `amount`", "x cannot be evaluated, and so forbids it",
		},
		{
			"without an ID", all + `forbid(principal, action, resource) unless { context.arguments.amount < 100 };`, `{"amount":1.5}`, false,
			"the policy rules.cedar:1:37 cannot be evaluated, and so forbids it: type error", "/etc/parley/rules.cedar:1:37 cannot be evaluated",
		},
		{
			"what permits", `@id("x") permit(principal, action, resource) when { context.arguments.amount < 100 };`, `{"amount":1.5}`, false,
			"no policy permits it", "x cannot be evaluated, and so does not permit it",
		},
		{"what permits, and another does", all + `@id("x") permit(principal, action, resource) when { context.arguments.amount < 100 };`, `{}`, true, "a policy permits it", "x cannot be evaluated, and so does not permit it"},
		{"another forbids", all + `@id("x") forbid(principal, action, resource) when { context.arguments.amount > 100 }; @reason("no") forbid(principal, action, resource);`, `{}`, false, "no", "x cannot be evaluated, and so forbids it"},
		{"it is about something else", all + `forbid(principal, action, resource == Tool::"pay") when { context.arguments.amount > 100 };`, `{}`, true, "a policy permits it", ""},
		{"it asks with has", all + `forbid(principal, action, resource) when { context.arguments has amount && context.arguments.amount > 100 };`, `{}`, true, "a policy permits it", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := policy.New([]policy.Source{{Name: "/etc/parley/rules.cedar", Text: test.rules}}, policy.Options{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			d := p.Decide(reading(alice, test.arguments))
			if d.Allowed != test.allowed || !strings.HasPrefix(d.String(), test.says) {
				t.Errorf("allowed %t, because %s", d.Allowed, d)
			}
			if strings.Join(d.Mistakes, "") == "" != (test.mistake == "") || !strings.HasPrefix(strings.Join(d.Mistakes, ""), test.mistake) {
				t.Errorf("mistakes: %q, want %q", d.Mistakes, test.mistake)
			}
		})
	}
}

// Who runs the gateway learns from its log which policy cannot be evaluated, and what to do.
// A dry run denies nothing because of it.
func TestUnsureInTheLog(t *testing.T) {
	for _, dry := range []bool{false, true} {
		var log bytes.Buffer
		p, err := policy.New([]policy.Source{{Name: "rules.cedar", Text: `@id("large-sums") forbid(principal, action, resource) when { context.arguments.amount > 100 };`}},
			policy.Options{AllowByDefault: true, DryRun: dry, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		op := &guard.Operation{
			Exchange: &mcp.Exchange{Peer: *alice}, Method: mcp.MethodNamed(mcp.MethodCallTool), Backend: "files",
			Subject: "read", Shown: "files__read", Params: json.RawMessage(`{"name":"read","arguments":{"amount":1.5}}`),
		}
		reached := false
		_, err = p.Serve(t.Context(), op, func(context.Context, *guard.Operation) (any, error) {
			reached = true
			return nil, nil
		})
		if reached != dry || (err == nil) != dry {
			t.Errorf("dry run %t: reached the backend: %t, error %v", dry, reached, err)
		}
		for _, want := range []string{"large-sums cannot be evaluated, and so forbids it", "asks with", "denied by policy"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("dry run %t: %q is not in the log:\n%s", dry, want, &log)
			}
		}
	}
}
