package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/mcp"
)

// builtin is a command that only a shell has.
type builtin struct {
	name, usage, about string
	run                func(s *shell, ctx context.Context, args []string) error
}

func builtins() []builtin {
	return []builtin{
		{"subscribe", "subscribe tools|prompts|resources|URI...", "Show a line for each change, until the shell ends", (*shell).subscribe},
		{"unsubscribe", "unsubscribe [tools|prompts|resources|URI...]", "Stop that; without an argument, all of it", (*shell).unsubscribe},
		{"log", "log LEVEL", "Show log messages of the server from this level on", (*shell).logLevel},
		{"help", "help [COMMAND]", "Show this, or the help of a command", (*shell).help},
		{"exit", "exit", "Leave; so does Ctrl-D", (*shell).exit},
	}
}

// commands makes the commands that a shell shares with the program. It resets the
// flags.
func (s *shell) commands() *cobra.Command {
	a := s.app
	root := &cobra.Command{Use: "parley", SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}}
	root.SetIn(a.io.In)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(misplaced)
	root.AddCommand(a.info(), a.list(), a.call(), a.task(), a.read(), a.prompt(), a.complete(), a.watch(), a.ping(), a.skills(), a.checkHere())
	return root
}

// line runs a line, and shows what fails. It returns the code of a failure, or "".
func (s *shell) line(ctx context.Context, line string) code {
	if comment(line) {
		return ""
	}
	a := s.app
	defer func() { a.flags, a.jsonErrors = s.flags, s.flags.json() }()
	words, err := shellwords.Of(line)
	if err == nil {
		a.jsonErrors = s.flags.json() || wantsJSON(words)
		err = s.run(ctx, words)
	}
	if err == nil {
		return ""
	}
	a.report(ctx, a.failed(err, s.target))
	return failureOf(ctx, err).code
}

// run runs the words of a line.
func (s *shell) run(ctx context.Context, words []string) error {
	for _, b := range builtins() {
		if b.name == words[0] || b.name == "exit" && words[0] == "quit" {
			return s.app.failed(b.run(s, ctx, words[1:]), s.target)
		}
	}
	root := s.commands()  //nolint:contextcheck // commands get their context when they run
	s.app.flags = s.flags // the commands have set theirs to the defaults
	if cmd, _, err := root.Find(words); err != nil || cmd == root {
		if !hasTool(ctx, s.client, words[0]) {
			return &failure{code: codeUsage, err: usagef("there is no command or tool %q", words[0]), hint: `"help" lists the commands, "list tools" the tools`}
		}
		words = append([]string{"call"}, words...)
	}
	root.SetArgs(words)
	cmd, err := root.ExecuteContextC(ctx)
	return pointed(err, cmd.CommandPath())
}

// settled refuses flags of a line that concern the connection, which is open already.
func (s *shell) settled(cmd *cobra.Command) error {
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if concernsConnection(f.Name) {
			wrong = &failure{code: codeUsage, err: usagef("--%s has no effect here: the connection is open already", f.Name), hint: "give it to parley shell"}
		}
	})
	if cmd.ArgsLenAtDash() >= 0 {
		wrong = usagef("there are two servers: this shell talks to one already")
	}
	return wrong
}

// concernsConnection reports whether a flag says how a server is reached, or what it is
// offered.
func concernsConnection(name string) bool {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(flags).reach(set)
	return set.Lookup(name) != nil && name != "timeout"
}

// subscribe shows changes as they come.
func (s *shell) subscribe(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("say what to subscribe to: tools, prompts, resources, or a URI")
	}
	for _, name := range args {
		s.mu.Lock()
		already := s.subs[name] != nil
		s.mu.Unlock()
		if already {
			continue
		}
		sub, err := s.client.Listen(ctx, filterOf(name), func(_ context.Context, e client.Event) { s.event(e) })
		if err != nil {
			return err
		}
		if len(wanted(sub.Honoured())) == 0 {
			_ = sub.Close() // nothing will come
			return &failure{code: codeNotDeclared, err: usagef("the server does not report changes of %s", name)}
		}
		s.keep(name, sub)
	}
	return nil
}

func filterOf(name string) mcp.SubscriptionFilter {
	switch name {
	case "tools":
		return mcp.SubscriptionFilter{ToolsListChanged: true}
	case "prompts":
		return mcp.SubscriptionFilter{PromptsListChanged: true}
	case "resources":
		return mcp.SubscriptionFilter{ResourcesListChanged: true}
	}
	return mcp.SubscriptionFilter{ResourceSubscriptions: []string{name}}
}

// event shows a change that was subscribed to.
func (s *shell) event(e client.Event) {
	s.app.hideBar()
	s.app.showEventAs(e, s.flags.json())
}

func (s *shell) unsubscribe(_ context.Context, args []string) error {
	s.mu.Lock()
	names := args
	if len(names) == 0 {
		names = slices.DeleteFunc(slices.Collect(maps.Keys(s.subs)), func(name string) bool { return name == "" })
	}
	var ended []*client.Subscription
	var unknown string
	for _, name := range names {
		if sub := s.subs[name]; sub != nil && name != "" {
			ended = append(ended, sub)
			delete(s.subs, name)
		} else {
			unknown = name
		}
	}
	s.mu.Unlock()
	for _, sub := range ended {
		_ = sub.Close() // always nil
	}
	if unknown != "" {
		return usagef("there is no subscription to %q", unknown)
	}
	return nil
}

func (s *shell) logLevel(ctx context.Context, args []string) error {
	if len(args) != 1 || mcp.LoggingLevel(args[0]).Severity() < 0 {
		return usagef("say a level: %s", levelNames())
	}
	return s.client.SetLogLevel(ctx, mcp.LoggingLevel(args[0]))
}

func (s *shell) exit(context.Context, []string) error {
	s.ends = true
	return nil
}

func (s *shell) help(ctx context.Context, args []string) error {
	root := s.commands() //nolint:contextcheck // commands get their context when they run
	s.app.flags = s.flags
	if len(args) > 0 {
		if cmd, _, err := root.Find(args); err == nil && cmd != root {
			root.SetArgs(append(args, "--help"))
			return root.ExecuteContext(ctx)
		}
	}
	o := s.app.out
	for _, cmd := range everyCommand(root) {
		if cmd.HasSubCommands() {
			continue
		}
		use := strings.NewReplacer("[URL|@NAME] ", "", " [URL|@NAME]", "", " [-- COMMAND...]", "").Replace(cmd.Use)
		use = strings.TrimPrefix(cmd.Parent().CommandPath()+" ", root.Name()+" ") + use
		o.printf("  %s\n      %s\n", o.bold(use), o.dim(cmd.Short))
	}
	for _, b := range builtins() {
		o.printf("  %s\n      %s\n", o.bold(b.usage), o.dim(b.about))
	}
	o.printf("  %s\n      %s\n", o.bold("TOOL [key=value | key:=JSON]..."), o.dim("Call a tool"))
	return nil
}
