package cli

import (
	"cmp"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayPolicyLong = `Ask the policies of a gateway who may do what, without starting anything. FILE is the
configuration of the gateway.

In policies, the principal is User::"SUBJECT" with its issuer and claims, in
Group::"NAME", Role::"NAME" and Scope::"NAME"; or Program::"CLIENT", which acts for
itself; or Anonymous::"". The action is Action::"tools/call" and so on, in
Action::"tools"; the resource is Tool::"NAME", Prompt::"NAME", Resource::"URI" or
Template::"URI" as clients see it, in Backend::"NAME", with backend, name, and for tools
readOnly, destructive, idempotent and openWorld. The context has the arguments, view,
revision, and whether there is a session.`

func (a *app) gatewayPolicy() *cobra.Command {
	return family(&cobra.Command{
		Use:     "policy explain|test",
		Short:   "Ask the policies of a gateway who may do what",
		Long:    gatewayPolicyLong,
		Example: "  parley gateway policy explain gateway.yaml --principal alice --backend shop --tool pay --arguments '{\"amount\": 5}'\n  parley gateway policy test gateway.yaml cases.yaml",
	}, a.policyExplain(), a.policyTest())
}

// policyOf reads the policies of a configuration.
func (a *app) policyOf(cmd *cobra.Command, file string) (*config.Config, *policy.Policy, error) {
	c, err := config.Read(file, a.environment(cmd.Context()))
	if err != nil {
		return nil, nil, a.invalid(file, err)
	}
	if c.Policy == nil {
		return nil, nil, usagef("%s has no policies; add\n\n  policy: {files: [policy.cedar]}", file)
	}
	p, err := policies(c.Policy, slog.New(slog.DiscardHandler))
	return c, p, err
}

func (a *app) policyExplain() *cobra.Command {
	var asked policyCase
	var claims, arguments, annotations string
	cmd := &cobra.Command{
		Use:     "explain FILE --backend NAME --tool NAME",
		Short:   "Say what the policies decide, and which of them",
		Long:    "Say whether something is allowed, which policies decide so, and which cannot be evaluated. The exit code is 1 if it is denied.",
		Example: "  parley gateway policy explain gateway.yaml --principal alice --claims '{\"groups\": [\"staff\"]}' --backend shop --tool pay",
	}
	honours(cmd, a.flags.format)
	completesFile(cmd)
	set := cmd.Flags()
	set.StringVar(&asked.Principal, "principal", "", "who asks: the `SUBJECT` of a user, or \"client ID\" for a program; nobody by default")
	set.StringVar(&claims, "claims", "", "the claims of its token, as `JSON`")
	set.StringArrayVar(&asked.Scopes, "scope", nil, "a `SCOPE` of its token (repeatable)")
	set.StringVar(&asked.View, "view", "", "the view that is used, by `NAME`")
	set.StringVar(&asked.Method, "method", "", "the `METHOD`, if it is not that of calling, getting or reading")
	set.StringVar(&asked.Backend, "backend", "", "the backend, by `NAME`; it can be left out where clients' names are used")
	set.StringVar(&asked.Tool, "tool", "", "the tool, by its `NAME` at the backend; or without --backend, as clients see it")
	set.StringVar(&asked.Prompt, "prompt", "", "the prompt, by its `NAME` at the backend; or without --backend, as clients see it")
	set.StringVar(&asked.Resource, "resource", "", "the resource, by its `URI` at the backend; or without --backend, as clients see it")
	set.StringVar(&arguments, "arguments", "", "the arguments of the call, as `JSON`")
	set.StringVar(&annotations, "annotations", "", "the annotations of the tool, as `JSON`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if len(args) != 1 {
			return usagef("name one file: %s", cmd.UseLine())
		}
		if err := asked.parse(claims, arguments, annotations); err != nil {
			return err
		}
		c, p, err := a.policyOf(cmd, args[0])
		if err != nil {
			return err
		}
		q, err := asked.question(c)
		if err != nil {
			return usagef("%w", err)
		}
		return a.showDecision(p.Decide(q))
	}
	return cmd
}

// parse takes what flags have as JSON.
func (p *policyCase) parse(claims, arguments, annotations string) error {
	for _, flag := range []struct {
		name, text string
		into       any
	}{{"claims", claims, &p.Claims}, {"arguments", arguments, &p.Arguments}, {"annotations", annotations, &p.Annotations}} {
		if flag.text == "" {
			continue
		}
		if flag.text[0] != '{' || wire.Unmarshal([]byte(flag.text), flag.into) != nil {
			return usagef("--%s is no JSON object: %.100s", flag.name, flag.text)
		}
	}
	return nil
}

// shownDecision is a decision as --output json shows it.
type shownDecision struct {
	Allowed  bool          `json:"allowed"`
	Why      string        `json:"why"`
	Policies []shownPolicy `json:"policies"`
	// Approval is why a human has to approve it.
	Approval []string `json:"approval,omitzero"`
	Mistakes []string `json:"mistakes,omitzero"`
}

type shownPolicy struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitzero"`
	File   string `json:"file,omitzero"`
	Line   int    `json:"line,omitzero"`
}

func (a *app) showDecision(d policy.Decision) error {
	shown := shownDecision{Allowed: d.Allowed, Why: d.String(), Policies: []shownPolicy{}, Approval: d.Demands, Mistakes: d.Mistakes}
	for _, r := range d.Reasons {
		shown.Policies = append(shown.Policies, shownPolicy{r.ID, r.Text, r.File, r.Line})
	}
	if a.flags.json() {
		raw, err := wire.Marshal(shown)
		if err != nil {
			return err
		}
		a.out.json(raw)
	} else {
		a.out.printf("%s  %s\n", a.out.bold(verb(d)), label(shown.Why, 500))
		for _, why := range shown.Approval {
			a.out.printf("    if a human approves it: %s\n", label(why, 500))
		}
		for _, r := range shown.Policies {
			a.out.printf("    by %s%s\n", label(r.ID, 200), a.out.dim(when(r.File != "", fmt.Sprintf("  %s:%d", label(r.File, 300), r.Line))))
		}
		a.showMistakes(d.Mistakes)
	}
	if !d.Allowed {
		return &failure{code: codePolicy}
	}
	return nil
}

// showMistakes says which policies could not be evaluated, and what to do.
func (a *app) showMistakes(mistakes []string) {
	for _, m := range mistakes {
		a.out.printf("    %s\n", label(m, 500))
	}
	if len(mistakes) > 0 {
		a.out.printf("    %s\n", a.out.dim(policy.Mend))
	}
}

var verbs = []string{"allow", "approval", "deny"}

// verb is a decision in the words of tests.
func verb(d policy.Decision) string {
	switch {
	case !d.Allowed:
		return "deny"
	case len(d.Demands) > 0:
		return "approval"
	}
	return "allow"
}

const policyTestLong = `Ask the policies what a file of cases asks, and compare the answers. CASES is YAML, a list
of cases such as

  - name: staff may not pay large sums
    principal: alice
    claims: {groups: [staff]}
    backend: shop
    tool: pay
    annotations: {destructiveHint: true}
    arguments: {amount: 5000}
    expect: deny

The exit code is 1 if an answer is another than the case expects, or a policy could not be
evaluated.`

func (a *app) policyTest() *cobra.Command {
	cmd := &cobra.Command{
		Use: "test FILE CASES", Short: "Compare what policies decide with what is expected",
		Long: policyTestLong, Example: "  parley gateway policy test gateway.yaml cases.yaml",
	}
	honours(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usagef("name the configuration and the cases: %s", cmd.UseLine())
		}
		cases, err := readCases(args[1])
		if err != nil {
			return usagef("%w", err)
		}
		c, p, err := a.policyOf(cmd, args[0])
		if err != nil {
			return err
		}
		return a.testPolicy(c, p, cases)
	}
	return cmd
}

func (a *app) testPolicy(c *config.Config, p *policy.Policy, cases []policyCase) error {
	failed := 0
	for i := range cases {
		one := &cases[i]
		name := label(cmp.Or(one.Name, fmt.Sprintf("case %d", i+1)), 200)
		q, err := one.question(c)
		if err != nil {
			return usagef("%s: %w", name, err)
		}
		d := p.Decide(q)
		got := verb(d)
		switch {
		case got != one.Expect:
			a.out.printf("FAIL  %s: %s, expected %s: %s\n", name, got, one.Expect, label(d.String(), 500))
		case len(d.Mistakes) > 0:
			a.out.printf("FAIL  %s: %s as expected, but not all policies could be evaluated\n", name, got)
		default:
			a.out.printf("ok    %s\n", name)
			continue
		}
		failed++
		a.showMistakes(d.Mistakes)
	}
	a.out.printf("%d of %d as expected\n", len(cases)-failed, len(cases))
	if failed > 0 {
		return &failure{code: codePolicy}
	}
	return nil
}
