// Package cli is the program parley, except for its main function: one file for
// each subcommand, and what they share. It has no global state; everything it
// knows about its environment comes in through IO.
package cli

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/time/rate"
)

// IO is the program's access to the outside world.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// LookupEnv looks up a variable of the environment.
	LookupEnv func(name string) (string, bool)
	// IsTerminal reports whether one of the streams is a terminal.
	IsTerminal func(stream any) bool
	// Executable returns the path of this program.
	Executable func() (string, error)
	// CatchInterrupt has interrupts call f instead of ending the program, until release
	// is called. nil means that interrupts cannot be caught.
	CatchInterrupt func(f func()) (release func())
	// CatchHangup has hangups call f instead of ending the program, until release is
	// called. nil means that hangups cannot be caught.
	CatchHangup func(f func()) (release func())
}

// Run runs the program with its arguments and returns its exit code; exits lists
// them. The end of ctx interrupts the program.
func Run(ctx context.Context, streams IO, args []string) int {
	a := newApp(streams)
	a.jsonErrors, a.dashed = wantsJSON(args), slices.Contains(args, "--")
	root := a.root() //nolint:contextcheck // commands get their context when they run
	root.SetArgs(hoisted(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	err = pointed(err, cmd.CommandPath())
	for _, end := range a.atEnd {
		_ = end() // the program ends anyway
	}
	a.noteWithheld()
	a.noteChatter(ctx, err)
	if a.out.replaced {
		a.note("parley: control characters of the server were replaced with %c; --raw writes them as they are", unicode.ReplacementChar)
	}
	code := a.report(ctx, err)
	if err := a.out.err; err != nil && code == exitOK {
		code = a.report(ctx, &failure{code: codeFailed, err: err})
	}
	return code
}

// app is one run of the program.
type app struct {
	io    IO
	out   *output // standard output
	err   *output // standard error
	flags flags
	// jsonErrors says that errors are reported as JSON.
	jsonErrors bool
	// completing says that a shell asks, whose user must not be.
	completing bool
	// dashed says that the arguments have a "--".
	dashed bool

	warnings tally
	logs     *rate.Limiter // of the server's log messages
	// logsLeftOut counts the messages that logs did not let pass.
	logsLeftOut atomic.Int64
	heard       *overheard     // what the server's command says beside the protocol; nil for none
	budget      *budget        // the time that the command may take; nil for any
	atEnd       []func() error // closes what the commands have opened

	// screen is held by whoever asks the user something: a progress bar must
	// not be drawn over a question.
	screen sync.Mutex
	bar    *bar // guarded by screen
	// turns are those who wait for the screen while a shell reads a line.
	turns  turns
	shell  *shell // nil unless this is one
	typing *lines // where a shell's user types; nil means to open the terminal for each use
}

func newApp(streams IO) *app {
	return &app{io: streams, out: newOutput(&streams, streams.Out), err: newOutput(&streams, streams.Err)}
}

// interactive reports whether there is somebody to ask.
func (a *app) interactive() bool { return !a.completing && a.io.IsTerminal(a.io.In) && a.err.terminal }

const longHelp = `parley speaks the Model Context Protocol, in every released revision.

It serves a reference server, and it talks to any server. A server is named in
one of three ways: by an http:// or https:// URL as the first argument, by the
command that starts it, after "--", or as @NAME, if a configuration file of this
machine names it so ("parley servers" lists them).

With --output json, results are one JSON document on standard output, and an
error is one JSON document, the last line of standard error.

`

const rootExamples = `  parley tour
  parley list -- parley serve --stdio
  parley call calculate expression='2 + 3 * 4' -- parley serve --stdio
  parley read server://info --output json -- parley serve --stdio`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "parley",
		Short:         "Speak the Model Context Protocol",
		Long:          longHelp + exitHelp(),
		Example:       rootExamples,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.io.In)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(misplaced)
	root.SetVersionTemplate("parley {{.Version}}\n")
	root.AddGroup(&cobra.Group{ID: "server", Title: "Talk to a server:"}, &cobra.Group{ID: "self", Title: "Be one:"})
	for _, cmd := range []*cobra.Command{a.info(), a.list(), a.call(), a.task(), a.read(), a.prompt(), a.complete(), a.watch(), a.ping(), a.skills(), a.newShell(), a.inspect(), a.card(), a.login(), a.logout(), a.servers(), a.check()} {
		cmd.GroupID = "server"
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{a.serve(), a.bridge(), a.gateway(), a.tour(), a.version()} {
		cmd.GroupID = "self"
		root.AddCommand(cmd)
	}
	for _, cmd := range everyCommand(root) {
		a.completeFlags(cmd)
	}
	return root
}
