package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/internal/yamljson"
	"github.com/parley-mcp/parley/mcp"
)

const gatewayPolicyLong = `Ask the policies of a gateway who may do what, without starting anything. FILE is the
configuration of the gateway.

In policies, the principal is User::"ID" with its claims, in Group::"NAME", Role::"NAME"
and Scope::"NAME", or Anonymous::""; the action is Action::"tools/call" and so on, in
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

// policyCase is a question to policies as people write it.
type policyCase struct {
	Name        string               `json:"name"`
	Principal   string               `json:"principal"`
	Claims      json.RawMessage      `json:"claims"`
	Scopes      []string             `json:"scopes"`
	View        string               `json:"view"`
	Method      string               `json:"method"`
	Backend     string               `json:"backend"`
	Tool        string               `json:"tool"`
	Prompt      string               `json:"prompt"`
	Resource    string               `json:"resource"`
	Annotations *mcp.ToolAnnotations `json:"annotations"`
	Arguments   json.RawMessage      `json:"arguments"`
	// Expect is "allow", "approval" for what is allowed if a human approves it, or "deny".
	Expect string `json:"expect"`
}

// question asks what the case says of a gateway.
func (p *policyCase) question(c *config.Config) (*policy.Question, error) {
	revisions := mcp.Revisions()
	newest := revisions[len(revisions)-1]
	b := c.Backend(p.Backend)
	if b == nil {
		return nil, fmt.Errorf("there is no backend %q", p.Backend)
	}
	names, err := naming.New([]naming.Rules{b.Rules()})
	if err != nil {
		return nil, err
	}
	q := &policy.Question{
		Peer: &mcp.Peer{Principal: p.Principal, Revision: newest}, View: p.View, Backend: p.Backend,
		Annotations: p.Annotations, Arguments: p.Arguments,
	}
	if p.Principal != "" {
		q.Peer.Authorization = &mcp.Authorization{Subject: p.Principal, Claims: p.Claims, Scopes: p.Scopes}
	}
	for _, subject := range []struct {
		kind         mcp.FeatureKind
		name, method string
	}{
		{mcp.ToolFeature, p.Tool, mcp.MethodCallTool},
		{mcp.PromptFeature, p.Prompt, mcp.MethodGetPrompt},
		{mcp.ResourceFeature, p.Resource, mcp.MethodReadResource},
	} {
		switch {
		case subject.name == "":
		case q.Kind != 0:
			return nil, errors.New("it can be about one of tool, prompt and resource")
		default:
			q.Kind, q.Name, q.Method = subject.kind, subject.name, subject.method
			q.Shown = names.Backend(p.Backend).Shown(subject.kind, subject.name)
		}
	}
	q.Method = cmp.Or(p.Method, q.Method)
	if mcp.MethodNamed(q.Method) == nil {
		return nil, errors.New("it is about nothing: name a tool, a prompt, a resource or a method")
	}
	return q, nil
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
		Long:    "Say whether something is allowed, and which policies decide so. The exit code is 1 if it is denied.",
		Example: "  parley gateway policy explain gateway.yaml --principal alice --claims '{\"groups\": [\"staff\"]}' --backend shop --tool pay",
	}
	honours(cmd, a.flags.format)
	completesFile(cmd)
	set := cmd.Flags()
	set.StringVar(&asked.Principal, "principal", "", "who asks, by `ID`; nobody by default")
	set.StringVar(&claims, "claims", "", "the claims of its token, as `JSON`")
	set.StringArrayVar(&asked.Scopes, "scope", nil, "a `SCOPE` of its token (repeatable)")
	set.StringVar(&asked.View, "view", "", "the view that is used, by `NAME`")
	set.StringVar(&asked.Method, "method", "", "the `METHOD`, if it is not that of calling, getting or reading")
	set.StringVar(&asked.Backend, "backend", "", "the backend, by `NAME`")
	set.StringVar(&asked.Tool, "tool", "", "the tool, by its `NAME` at the backend")
	set.StringVar(&asked.Prompt, "prompt", "", "the prompt, by its `NAME` at the backend")
	set.StringVar(&asked.Resource, "resource", "", "the resource, by its `URI` at the backend")
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
		for _, m := range d.Mistakes {
			a.out.printf("    without %s\n", label(m, 500))
		}
	}
	if !d.Allowed {
		return &failure{code: codePolicy}
	}
	return nil
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

The exit code is 1 if an answer is another than the case expects.`

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
			return usagef("%s: %w", args[1], err)
		}
		c, p, err := a.policyOf(cmd, args[0])
		if err != nil {
			return err
		}
		return a.testPolicy(c, p, cases)
	}
	return cmd
}

// readCases reads a file of cases.
func readCases(path string) ([]policyCase, error) {
	source, err := os.ReadFile(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	top, err := yamljson.Parse(source)
	if err != nil {
		return nil, err
	}
	if top == nil {
		return nil, errors.New("there are no cases")
	}
	raw, err := yamljson.Render(top, 0)
	if err != nil {
		return nil, err
	}
	var cases []policyCase
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&cases); err != nil {
		return nil, err
	}
	for i := range cases {
		if e := cases[i].Expect; !slices.Contains(verbs, e) {
			return nil, fmt.Errorf("case %d expects %q; it must be one of %s", i+1, e, strings.Join(verbs, ", "))
		}
	}
	return cases, nil
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
		if got := verb(d); got != one.Expect {
			failed++
			a.out.printf("FAIL  %s: %s, expected %s: %s\n", name, got, one.Expect, label(d.String(), 500))
			continue
		}
		a.out.printf("ok    %s\n", name)
	}
	a.out.printf("%d of %d as expected\n", len(cases)-failed, len(cases))
	if failed > 0 {
		return &failure{code: codePolicy}
	}
	return nil
}
