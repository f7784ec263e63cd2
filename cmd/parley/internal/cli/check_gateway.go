package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/gateway"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
)

const checkGatewayLong = `Judge a gateway or proxy: speak to a server directly and through the gateway, and report
what got lost, what was changed, what came late, and what was mixed up between two
clients; and which requirements the gateway breaks that the server behind it keeps.

Both are named as one word: a URL, @NAME, or the command that starts it, in quotes.
--header and --token are for the gateway.

A server that uses every feature, and that tells what reached it, is "parley check
specimen": put it behind the gateway to have everything compared.`

const checkGatewayExamples = `  parley check gateway --around http://127.0.0.1:7001/mcp --through https://gateway.example.com/mcp
  parley check gateway --around 'parley check specimen' --through 'parley bridge -- parley check specimen'`

func (a *app) checkGateway() *cobra.Command {
	var around, through string
	var how judging
	var shown reporting
	cmd := &cobra.Command{
		Use:     "gateway --around TARGET --through TARGET",
		Short:   "Judge a gateway: what gets lost, changed, late or mixed up on the way",
		Long:    checkGatewayLong,
		Example: checkGatewayExamples,
		Args:    cobra.NoArgs,
	}
	honours(cmd, a.flags.dial, a.flags.bounded, how.register, shown.register)
	cmd.Flags().StringVar(&around, "around", "", "the server behind the gateway, reached directly, as `TARGET`")
	cmd.Flags().StringVar(&through, "through", "", "the same server, reached through the gateway, as `TARGET`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		near, err := a.inOneWord(cmd.Context(), "--around", around)
		if err != nil {
			return err
		}
		far, err := a.inOneWord(cmd.Context(), "--through", through)
		if err != nil {
			return err
		}
		a.flags.timed = cmd.Flags().Changed("timeout")
		ctx, stop := a.limited(cmd.Context())
		defer stop()
		return a.failed(inTime(ctx, a.judgeGateway(ctx, near, far, &how, &shown)), far)
	}
	return cmd
}

func (a *app) judgeGateway(ctx context.Context, near, far target.Target, how *judging, shown *reporting) error {
	options, err := a.prepared(how, shown)
	if err != nil {
		return err
	}
	through, err := a.judged(ctx, far)
	if err != nil {
		return err
	}
	around := a.withoutCredentials(near)
	report, err := gateway.Check(ctx, around, through, options)
	a.hideBar()
	if err != nil {
		return &failure{code: codeRefused, err: err, hint: "do both answer? \"parley check\" with each of them says more"}
	}
	return a.showReport(ctx, report, shown)
}

// withoutCredentials is judged for a server that gets none of the user's flags.
func (a *app) withoutCredentials(t target.Target) serverprobe.Target {
	if t.URL == "" {
		return a.judgedCommand(t)
	}
	return serverprobe.Target{Name: t.String(), Site: &peer.Site{URL: t.URL, Header: t.Header}}
}

// inOneWord is a target that a flag names.
func (a *app) inOneWord(ctx context.Context, flag, text string) (target.Target, error) {
	switch name, named := strings.CutPrefix(text, "@"); {
	case text == "":
		return target.Target{}, usagef("%s is missing: it is a URL, @NAME, or a command in quotes", flag)
	case target.IsURL(text):
		return target.Target{URL: text}, nil
	case named:
		return a.entry(ctx, name)
	}
	words, err := shellwords.Of(text)
	if err == nil && len(words) == 0 {
		err = usagef("there is no command")
	}
	if err != nil {
		return target.Target{}, usagef("%s %q: %v", flag, text, err)
	}
	return target.Target{Command: words}, nil
}
