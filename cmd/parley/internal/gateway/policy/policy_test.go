package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
)

var (
	alice = &mcp.Peer{
		Principal: "https://issuer.example user alice",
		Authorization: &mcp.Authorization{
			Issuer: "https://issuer.example", Subject: "alice", Scopes: []string{"files"},
			Claims: json.RawMessage(`{"groups":["staff","admins"],"level":3,"limit":12.5,"name":null,"at":{"floor":2}}`),
		},
	}
	nobody = &mcp.Peer{}
)

// reading is a question about a tool that only reads.
func reading(peer *mcp.Peer, arguments string) *policy.Question {
	return &policy.Question{
		Peer: peer, Method: mcp.MethodCallTool, Backend: "files", Kind: mcp.ToolFeature, Name: "read", Shown: "files__read",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}, Arguments: json.RawMessage(arguments),
	}
}

func load(t testing.TB, text string, o policy.Options) *policy.Policy {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	p, err := policy.New([]policy.Source{{Name: "rules.cedar", Text: text}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDecide asks what a policy can say about each part of a question.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name, rules string
		q           *policy.Question
		want        bool
	}{
		{"nothing is permitted by default", ``, reading(alice, `{}`), false},
		{"by principal", `permit(principal == User::"alice", action, resource);`, reading(alice, `{}`), true},
		{"not by another principal", `permit(principal == User::"bob", action, resource);`, reading(alice, `{}`), false},
		{"nobody is no user", `permit(principal is User, action, resource);`, reading(nobody, `{}`), false},
		{"nobody is anonymous", `permit(principal is Anonymous, action, resource);`, reading(nobody, `{}`), true},
		{"by group", `permit(principal in Group::"admins", action, resource);`, reading(alice, `{}`), true},
		{"by scope", `permit(principal in Scope::"files", action, resource);`, reading(alice, `{}`), true},
		{"by claim", `permit(principal, action, resource) when { principal.claims.level >= 3 && principal.claims.at.floor == 2 };`, reading(alice, `{}`), true},
		{"by claim that is a decimal", `permit(principal, action, resource) when { principal.claims.limit.lessThan(decimal("13.0")) };`, reading(alice, `{}`), true},
		{"null is absent", `permit(principal, action, resource) unless { principal.claims has name };`, reading(alice, `{}`), true},
		{"by method", `permit(principal, action == Action::"tools/call", resource);`, reading(alice, `{}`), true},
		{"by kind of method", `permit(principal, action in Action::"prompts", resource);`, reading(alice, `{}`), false},
		{"by backend", `permit(principal, action, resource in Backend::"files");`, reading(alice, `{}`), true},
		{"by tool", `permit(principal, action, resource == Tool::"files__read");`, reading(alice, `{}`), true},
		{"by annotation", `permit(principal, action, resource) when { resource.readOnly && !resource.destructive };`, reading(alice, `{}`), true},
		{"by argument", `permit(principal, action, resource) when { context.arguments.path like "/tmp/*" };`, reading(alice, `{"path":"/tmp/a"}`), true},
		{"by another argument", `permit(principal, action, resource) when { context.arguments.path like "/tmp/*" };`, reading(alice, `{"path":"/etc/a"}`), false},
		{"by elements", `permit(principal, action, resource) when { context.arguments.tags.contains(2) };`, reading(alice, `{"tags":[1,2,null]}`), true},
		{"a number that does not fit is not rounded", `permit(principal, action, resource) when { context.arguments.n == "9223372036854775808" };`, reading(alice, `{"n":9223372036854775808}`), true},
		{"what forbids is stronger", `permit(principal, action, resource); forbid(principal, action, resource) when { context.arguments.path == "/etc/a" };`, reading(alice, `{"path":"/etc/a"}`), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := load(t, test.rules, policy.Options{}).Decide(test.q)
			if d.Allowed != test.want || len(d.Mistakes) > 0 {
				t.Errorf("allowed: %t, mistakes: %q; want %t and none", d.Allowed, d.Mistakes, test.want)
			}
		})
	}
}

// TestAbsentHints asks about a tool without annotations: it may destroy.
func TestAbsentHints(t *testing.T) {
	q := reading(alice, `{}`)
	q.Annotations = nil
	p := load(t, `permit(principal, action, resource) when { resource.destructive && resource.openWorld && !resource.readOnly && !resource.idempotent };`, policy.Options{})
	if !p.Decide(q).Allowed {
		t.Error("a tool that says nothing does not have the hints that the specification says it has")
	}
}

// TestReasons sees what a denial says, and where it comes from.
func TestReasons(t *testing.T) {
	const rules = "permit(principal, action, resource);\n\n@id(\"no-secrets\")\n@reason(\"/etc is not for you\")\nforbid(principal, action, resource) when { context.arguments.path like \"/etc/*\" };\nforbid(principal, action, resource) when { context.arguments.mode == 1 };"
	d := load(t, rules, policy.Options{}).Decide(reading(alice, `{"path":"/etc/passwd"}`))
	if d.Allowed || d.String() != "/etc is not for you" || len(d.Reasons) != 1 {
		t.Fatalf("%+v says %q", d, d)
	}
	if r := d.Reasons[0]; r.ID != "no-secrets" || r.File != "rules.cedar" || r.Line != 3 {
		t.Errorf("the reason is %+v", r)
	}
	if len(d.Mistakes) != 1 || !strings.Contains(d.Mistakes[0], "rules.cedar:6") {
		t.Errorf("mistakes: %q; want that of line 6, which asks for an absent argument", d.Mistakes)
	}
}

// TestDemands sees which decisions a human has to approve. That something else permits the
// same, or that a policy cannot be evaluated, is no way around it.
func TestDemands(t *testing.T) {
	const large = `@approval("large sums") permit(principal, action, resource) when { context.arguments.amount > 100 };`
	for _, test := range []struct {
		name, rules, arguments string
		allowed                bool
		want                   string
	}{
		{"it permits", large, `{"amount":500}`, true, "large sums"},
		{"it does not permit", large, `{"amount":5}`, false, ""},
		{"another permits, too", large + `permit(principal, action, resource);`, `{"amount":500}`, true, "large sums"},
		{"only another permits", large + `permit(principal, action, resource);`, `{"amount":5}`, true, ""},
		{"it cannot be evaluated", large + `permit(principal, action, resource);`, `{"amount":"500"}`, true, "large sums"},
		{"another forbids", large + `forbid(principal, action, resource);`, `{"amount":500}`, false, ""},
		{"without a reason", `@id("x") @approval permit(principal, action, resource);`, `{}`, true, "the policy x wants it"},
		{"two", `@approval("b") permit(principal, action, resource);@approval("a") permit(principal, action, resource);`, `{}`, true, "a, b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := load(t, test.rules, policy.Options{})
			d := p.Decide(reading(alice, test.arguments))
			if got := strings.Join(d.Demands, ", "); d.Allowed != test.allowed || got != test.want || !p.Demands() {
				t.Errorf("allowed %t, demands %q", d.Allowed, got)
			}
			for dry, want := range map[bool]string{false: test.want, true: ""} {
				op := &guard.Operation{
					Exchange: &mcp.Exchange{Peer: *alice}, Method: mcp.MethodNamed(mcp.MethodCallTool), Backend: "files", Subject: "read", Shown: "files__read",
					Params: json.RawMessage(`{"name":"read","arguments":` + test.arguments + `}`),
				}
				_, _ = load(t, test.rules, policy.Options{DryRun: dry}).Serve(t.Context(), op, func(context.Context, *guard.Operation) (any, error) { return nil, nil })
				if got := strings.Join(op.Demands, ", "); got != want {
					t.Errorf("dry run %t: the operation is marked with %q", dry, got)
				}
			}
		})
	}
}

// TestMistakes sees that what is wrong with a file is told with its place.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"permit(principal, action)":                                                                      "rules.cedar",
		"@approval(\"why\")\nforbid(principal, action, resource);":                                       "@approval is for policies that permit",
		"@id(\"a\")permit(principal, action, resource);\n@id(\"a\")forbid(principal, action, resource);": "rules.cedar:2:1: there is another policy \"a\"",
	} {
		if _, err := policy.New([]policy.Source{{Name: "rules.cedar", Text: text}}, policy.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want one with %q", text, err, want)
		}
	}
}

// TestServe sees what reaches the backend.
func TestServe(t *testing.T) {
	op := &guard.Operation{
		Exchange: &mcp.Exchange{Peer: *alice}, Method: mcp.MethodNamed(mcp.MethodCallTool), Backend: "files",
		Subject: "read", Shown: "files__read", Params: json.RawMessage(`{"name":"read","arguments":{"path":"/etc/a"}}`),
	}
	const rules = `@reason("only /tmp") forbid(principal, action, resource) unless { context.arguments.path like "/tmp/*" };`
	for _, test := range []struct {
		name    string
		o       policy.Options
		reaches bool
	}{
		{"denied", policy.Options{AllowByDefault: true}, false},
		{"dry run", policy.Options{AllowByDefault: true, DryRun: true}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			reached := false
			_, err := load(t, rules, test.o).Serve(t.Context(), op, func(context.Context, *guard.Operation) (any, error) {
				reached = true
				return nil, nil
			})
			if reached != test.reaches {
				t.Errorf("reached the backend: %t", reached)
			}
			forbidden, ok := errors.AsType[*mcp.ForbiddenError](err)
			if ok == test.reaches || ok && forbidden.Reason != "tools/call of files__read is denied: only /tmp" {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A dry run leaves in the audit log what the policies would have done, and which of them, once
// for each operation.
func TestDryRunRemarks(t *testing.T) {
	for _, test := range []struct{ name, rules, want string }{
		{"permitted", `permit(principal, action, resource);`, ""},
		{"denied", `permit(principal, action, resource); @id("no-files") @reason("only /tmp") forbid(principal, action, resource);`, "policy: dry run: it would be denied: only /tmp (no-files)"},
		{"denied without a reason", `forbid(principal, action, resource);`, "policy: dry run: it would be denied: a policy forbids it (rules.cedar:1:1)"},
		{"permitted by none", ``, "policy: dry run: it would be denied: no policy permits it"},
		{"to be approved", `@approval("files are dear") permit(principal, action, resource);`, "policy: dry run: it would be approved by a human first: files are dear"},
	} {
		for _, dry := range []bool{true, false} {
			want := ""
			if dry {
				want = test.want
			}
			op := &guard.Operation{Exchange: &mcp.Exchange{Peer: *alice}, Method: mcp.MethodNamed(mcp.MethodCallTool), Backend: "files", Subject: "read", Shown: "files__read"}
			p := load(t, test.rules, policy.Options{DryRun: dry})
			ctx, remarks := guard.WithRemarks(t.Context())
			for range 2 { // it is judged again after an approval
				_, _ = p.Serve(ctx, op, func(context.Context, *guard.Operation) (any, error) { return nil, nil })
			}
			if got := strings.Join(remarks.List(), ", "); got != want {
				t.Errorf("%s, dry run %t: the remarks are %q, want %q", test.name, dry, got, want)
			}
		}
	}
}

// TestSees shows what some arguments permit, and nothing else.
func TestSees(t *testing.T) {
	tool := &guard.Definition{Kind: mcp.ToolFeature, Backend: "files", Name: "read", Shown: "files__read"}
	template := &guard.Definition{Kind: mcp.TemplateFeature, Backend: "files", Name: "file:///{path}", Shown: "mcp:files:file:///{path}"}
	for _, test := range []struct {
		rules string
		d     *guard.Definition
		want  bool
	}{
		{``, tool, false},
		{`permit(principal, action, resource);`, tool, true},
		{`permit(principal, action, resource) when { context.arguments.path like "/tmp/*" };`, tool, true},
		{`permit(principal, action, resource) when { context has arguments && context.arguments has path };`, tool, true},
		{`permit(principal, action, resource) unless { context.arguments.path == "/etc/a" };`, tool, true},
		{`permit(principal, action, resource); forbid(principal, action, resource) when { resource.destructive };`, tool, false},
		{`permit(principal, action == Action::"resources/read", resource);`, tool, false},
		{`permit(principal, action == Action::"resources/read", resource is Template);`, template, true},
		{`permit(principal in Group::"others", action, resource);`, tool, false},
		{`permit(principal, action, resource); forbid(principal, action, resource) when { !context.session };`, tool, false},
		{`permit(principal, action, resource); forbid(principal, action, resource) when { context.arguments.a == 1 };`, tool, true},
		{`permit(principal, action, resource) when { context.arguments.a == 1 }; forbid(principal, action, resource) when { resource.destructive };`, tool, false},
		{`permit(principal, action, resource) when { resource.readOnly && context.arguments.a == 1 };`, tool, false},
	} {
		if got := load(t, test.rules, policy.Options{}).Sees(t.Context(), alice, test.d); got != test.want {
			t.Errorf("%s\n%s is seen: %t", test.rules, test.d.Shown, got)
		}
	}
}

// FuzzArguments sees that no arguments make a policy fail.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"b":null}],"c":1e400,"d":-0.00001}`, `[]`, `"x"`} {
		f.Add(seed)
	}
	p, err := policy.New([]policy.Source{{Name: "rules.cedar", Text: `permit(principal, action, resource) when { context.arguments has a };`}}, policy.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		if !json.Valid([]byte(arguments)) {
			t.Skip()
		}
		p.Decide(reading(nobody, strings.TrimSpace(arguments)))
	})
}
