package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/lint"
	"github.com/parley-mcp/parley/internal/wire"
)

const checkLintLong = `Judge definitions: what a server says of its tools, prompts and resources. It looks for
what the specification forbids, what OpenAI, Anthropic and Gemini refuse or ignore, what
misleads a model, what nobody sees and a model reads, and what the list costs.

Of a server, the lists and the instructions are read, and of one at a URL its server card,
if it has one; nothing is called. A FILE is what
"parley list --output json" prints, a result of tools/list, a list of tools, a
server.json, a server card, or a configuration such as mcp.json, whose servers are then
all asked and judged together. FILE may be - for standard input, and there may be several.

Errors lead to exit code 1. Findings can be accepted, each with a reason, in a file:

  names/style: the names are older than the rule
  injection/markup=quote: the description is about HTML`

// lintFlags are the flags of check lint.
type lintFlags struct {
	lint.Options

	output  string
	accept  string
	listed  bool // --rules
	verbose bool
	bounds  bounds
}

func (a *app) checkLint() *cobra.Command {
	var l lintFlags
	cmd := &cobra.Command{
		Use:     "lint [URL|@NAME|FILE...] [-- COMMAND...]",
		Short:   "Judge the definitions of tools, prompts and resources",
		Long:    checkLintLong,
		Example: "  parley check lint -- parley serve --stdio\n  parley check lint https://mcp.example.com/mcp --output sarif >lint.sarif\n  parley check lint .vscode/mcp.json --ignore names/style\n  parley check lint --rules",
	}
	honours(cmd, a.flags.dial, a.flags.bounded)
	l.register(cmd)
	l.bounds.register(cmd)
	onTarget := a.onTarget(a.lintTarget, 0, -1, func(ctx context.Context, t target.Target, files []string) error {
		return a.runLint(ctx, t, files, &l)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := l.check(); err != nil {
			return err
		}
		if l.listed {
			return a.lintRules(&l)
		}
		return onTarget(cmd, args)
	}
	return cmd
}

// lintOutputs are the forms of a report.
var lintOutputs = []string{"text", "json", "sarif", "markdown"}

func (l *lintFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&l.output, "output", "text", "`"+strings.Join(lintOutputs, "|")+"`; errors of the command are JSON with json")
	set.StringSliceVar(&l.Rules, "rule", nil, "look for this `RULE` only, for a group such as names, or RULE=NAME for one definition (repeatable)")
	set.StringSliceVar(&l.Ignore, "ignore", nil, "leave out this `RULE`, or RULE=NAME for one definition (repeatable)")
	set.StringSliceVar(&l.Vendors, "vendor", nil, "apply the rules of this `VENDOR`: openai, anthropic, gemini, a mode such as openai/strict, all, or none (default openai,anthropic,gemini)")
	set.StringVar(&l.accept, "accept", "", "read findings that are accepted from this `FILE`: a line \"RULE: reason\" or \"RULE=NAME: reason\" for each")
	set.IntVar(&l.MaxTokens, "max-tokens", 0, "it is an error if the tools of a server cost more than `N` tokens, estimated; 0 means any number")
	set.IntVar(&l.MaxToolTokens, "max-tool-tokens", mostToolTokens, "warn of tools that cost more than `N` tokens, estimated; 0 means any number")
	set.BoolVar(&l.Strict, "strict", false, "count warnings as errors")
	set.BoolVar(&l.listed, "rules", false, "list the rules with their sources, and judge nothing")
	set.BoolVar(&l.verbose, "verbose", false, "show every place, and where each rule comes from")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(lintOutputs, cobra.ShellCompDirectiveNoFileComp)) // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("rule", cobra.FixedCompletions(lintRuleIDs(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("ignore", cobra.FixedCompletions(lintRuleIDs(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("vendor", cobra.FixedCompletions(append(lintVendors(), lint.Modes()...), cobra.ShellCompDirectiveNoFileComp))
}

func lintRuleIDs() []string {
	var ids []string
	for _, r := range lint.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

func lintVendors() []string { return append(lint.Vendors(), "all", "none") }

// check refuses values that make no sense, and reads the acceptances.
func (l *lintFlags) check() error {
	if err := oneOf("--output", l.output, lintOutputs); err != nil {
		return err
	}
	for _, r := range slices.Concat(l.Rules, l.Ignore) {
		if rule, _, _ := strings.Cut(r, "="); !lint.Known(rule) {
			return usagef("there is no rule %q; --rules lists them", rule)
		}
	}
	for _, v := range l.Vendors {
		if err := oneOf("--vendor", v, append(lintVendors(), lint.Modes()...)); err != nil {
			return err
		}
	}
	if l.MaxTokens < 0 || l.MaxToolTokens < 0 {
		return usagef("a number of tokens is negative; 0 means any number")
	}
	if l.MaxToolTokens == 0 {
		l.MaxToolTokens = -1
	}
	if l.accept == "" {
		return nil
	}
	text, err := os.ReadFile(l.accept)
	if err != nil {
		return usagef("--accept: %w", err)
	}
	if l.Accepted, err = lint.ParseAcceptances(string(text)); err != nil {
		return usagef("--accept %s: %w", l.accept, err)
	}
	return nil
}

// oneOf refuses a value of a flag that is none of those there are.
func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return usagef("%s %q is none of %s", flag, value, strings.Join(values, ", "))
}

// lintTarget separates a server from files: the target is zero if there are files.
func (a *app) lintTarget(cmd *cobra.Command, args []string) (target.Target, []string, error) {
	named := cmd.ArgsLenAtDash() >= 0 || a.flags.server != "" || a.flags.config != ""
	if named || len(args) == 0 || target.IsURL(args[0]) || strings.HasPrefix(args[0], "@") {
		t, rest, err := a.splitTarget(cmd, args)
		if err == nil && len(rest) > 0 {
			err = usagef("%q: name a server or files, not both", rest[0])
		}
		return t, nil, err
	}
	return target.Target{}, args, nil
}

func (a *app) runLint(ctx context.Context, t target.Target, files []string, l *lintFlags) error {
	var all []lint.Definitions
	var missed error // why a server of a configuration could not be asked
	if len(files) == 0 {
		d, err := a.definitions(ctx, t, "", l.bounds)
		if err != nil {
			return err
		}
		all = append(all, *d)
	}
	for _, file := range files {
		found, err := a.lintFile(ctx, file, l.bounds, len(files) > 1, &missed)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if len(all) == 0 && missed != nil {
		return missed
	}
	r := lint.Run(all, &l.Options)
	if err := a.showLint(r, l); err != nil {
		return err
	}
	if !r.OK() {
		return &failure{code: codeDefinitions}
	}
	return missed
}

// mostToolTokens is what a tool may cost without a warning, if nobody says otherwise.
const mostToolTokens = 1500

// lintJSON writes a report for programs.
func lintJSON(r *lint.Report) (json.RawMessage, error) {
	return wire.Marshal(struct {
		OK bool `json:"ok"`
		*lint.Report
	}{r.OK(), r})
}

func (a *app) showLint(r *lint.Report, l *lintFlags) error {
	switch l.output {
	case "json":
		raw, err := lintJSON(r)
		if err != nil {
			return err
		}
		a.out.json(raw)
	case "sarif":
		raw, err := r.SARIF(buildVersion())
		if err != nil {
			return err
		}
		a.out.json(raw)
	case "markdown":
		a.out.printf("%s", r.Markdown())
	default:
		a.lintReport(r, l)
	}
	return nil
}
