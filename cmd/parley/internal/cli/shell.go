package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

const shellLong = `Talk to one server in one connection: the commands of parley, without naming the
server each time, and some more, which "help" lists. The name of a tool is a command,
too.

On a terminal, lines can be edited; Tab completes commands, tools, arguments, prompts
and URIs, and asks the server for values; the arrows and Ctrl-R find earlier lines. What
the server says meanwhile appears above the line. Ctrl-C cancels what runs, Ctrl-D
leaves. Lines are kept in a file of the user's, except for those that begin with a blank.

From a pipe, the lines are a script: nothing is prompted, "#" begins a comment, and
the first failure ends it with its exit code; with --keep-going, the rest runs first.`

const shellExamples = `  parley shell -- parley serve --stdio
  parley shell @shop
  printf 'list tools\ncall calculate expression=1+2\n' | parley shell https://mcp.example.com/mcp`

// shell is a conversation with one server.
type shell struct {
	app    *app
	client *client.Client
	target target.Target
	flags  flags                             // those that shell was called with
	given  atomic.Pointer[map[string]string] // --answer, of the shell and of the line

	mu     sync.Mutex
	subs   map[string]*client.Subscription // by what was subscribed to
	ends   bool                            // "exit" was typed
	search search
}

// shellFlags are the flags of shell.
type shellFlags struct {
	noHistory bool
	keepGoing bool
}

func (a *app) newShell() *cobra.Command {
	var f shellFlags
	cmd := &cobra.Command{
		Use:     "shell [URL|@NAME] [-- COMMAND...]",
		Short:   "Talk to a server interactively, or by a script",
		Long:    shellLong,
		Example: shellExamples,
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim, a.flags.asked)
	cmd.Flags().BoolVar(&f.noHistory, "no-history", false, "keep no lines beyond this session, and show none of earlier ones")
	cmd.Flags().BoolVar(&f.keepGoing, "keep-going", false, "run the rest of a script after a failure")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
			return a.runShell(ctx, cmd.Context(), t, f)
		})(cmd, args)
	}
	return cmd
}

// runShell connects within the time of --timeout, which is then that of each line:
// the shell itself runs for as long as its user likes.
func (a *app) runShell(connecting, ctx context.Context, t target.Target, f shellFlags) error {
	var e *editor
	if in, ok := a.io.In.(*os.File); ok && a.interactive() {
		e = newEditor(in, a.io.Err)
		a.err.w = e
		if a.out.terminal {
			a.out.w = e
		}
		a.typing = e.lines(a)
	}
	if a.flags.logLevel == "" && e != nil {
		a.flags.logLevel = string(mcp.LevelWarning)
	}
	c, err := a.connect(connecting, t)
	if err != nil {
		return err
	}
	defer c.Close()
	s := &shell{app: a, client: c, target: t, flags: a.flags, subs: map[string]*client.Subscription{}}
	a.shell = s
	defer s.close()
	if e == nil {
		return s.script(ctx, f.keepGoing)
	}
	return s.talk(ctx, e, f)
}

// close ends the subscriptions.
func (s *shell) close() {
	s.mu.Lock()
	subs := s.subs
	s.subs = nil
	s.mu.Unlock()
	for _, sub := range subs {
		_ = sub.Close() // always nil
	}
}

// script runs the lines of the input.
func (s *shell) script(ctx context.Context, keepGoing bool) error {
	in := bufio.NewScanner(s.app.io.In)
	in.Buffer(nil, 16<<20)
	var first error
	for in.Scan() && !s.ends && ctx.Err() == nil {
		code := s.line(ctx, in.Text())
		if code == "" {
			continue
		}
		if first == nil {
			first = &failure{code: code}
		}
		if !keepGoing {
			break
		}
	}
	if first == nil && in.Err() != nil {
		return usagef("standard input: %w", in.Err())
	}
	return first
}

// talk runs what the user types.
func (s *shell) talk(ctx context.Context, e *editor, f shellFlags) error {
	past := new(history)
	if !f.noHistory {
		past = loadHistory(s.app.historyFile())
	}
	e.history = past
	e.complete = func(line string, pos int, key rune) (string, int, bool) { return s.key(ctx, past, line, pos, key) }
	s.greet() //nolint:contextcheck // the subscription ends with the shell
	over := make(chan struct{})
	defer close(over)
	go s.mourn(over) // ends with the shell
	for !s.ends {
		text, err := s.next(ctx, e)
		switch {
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return past.save()
		case errors.Is(err, errInterrupted):
			continue
		case err != nil:
			return errors.Join(err, past.save())
		}
		running, done := s.interruptible(ctx)
		s.line(running, text)
		done()
	}
	return past.save()
}

// next reads the next line. While it is typed, the shell holds the screen; questions of
// the server wait until it has ended.
func (s *shell) next(ctx context.Context, e *editor) (string, error) {
	s.app.turns.wait()
	s.app.screen.Lock()
	defer s.app.screen.Unlock()
	return e.command(ctx, string(s.app.err.bold(label(or(s.client.ServerInfo().Name, "parley"), 30)+"> ")))
}

// interruptible returns the context of one command, which Ctrl-C ends.
func (s *shell) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	release := func() {}
	if s.app.io.CatchInterrupt != nil {
		release = s.app.io.CatchInterrupt(cancel)
	}
	return ctx, func() {
		release()
		cancel()
	}
}

// greet says who the server is, and subscribes to changes of its lists.
func (s *shell) greet() {
	a, server := s.app, s.client.ServerInfo()
	a.err.printf("%s %s, revision %s. %s\n", a.err.bold(label(or(server.Title, server.Name), 200)), label(server.Version, 80),
		s.client.Revision().String(), a.err.dim(`"help" lists the commands, Tab completes, Ctrl-D leaves.`))
	filter := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true}
	go func() { // ends when the server has agreed; the subscription ends with the shell
		sub, err := s.client.Listen(context.Background(), filter, func(_ context.Context, e client.Event) {
			if !s.shows(e) {
				a.note("%s", a.err.dim("• "+eventName(e)))
			}
		})
		if err == nil {
			s.keep("", sub)
		}
	}()
}

// shows reports whether a change is one that the user has subscribed to, which is shown
// as such.
func (s *shell) shows(e client.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, sub := range s.subs {
		if honoured := sub.Honoured(); name != "" && (e.Gap || honoured.Matches(e.Change)) {
			return true
		}
	}
	return false
}

// keep remembers a subscription, until the shell ends.
func (s *shell) keep(name string, sub *client.Subscription) {
	s.mu.Lock()
	if s.subs != nil {
		s.subs[name] = sub
		sub = nil
	}
	s.mu.Unlock()
	if sub != nil {
		_ = sub.Close() // always nil
	}
}

// mourn says when the server is gone.
func (s *shell) mourn(over <-chan struct{}) {
	select {
	case <-over:
	case <-s.client.Done():
		if err := s.client.Err(); err != nil {
			s.app.note("%s %s", s.app.err.red("parley: the connection has ended:"), oneLine(err.Error(), 1000))
		}
	}
}

// turns lets those who want to ask the user something have the screen before the shell
// takes it again.
type turns struct {
	mu      sync.Mutex
	waiting int
	none    sync.Cond
}

func (t *turns) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting += n; t.waiting == 0 && t.none.L != nil {
		t.none.Broadcast()
	}
}

func (t *turns) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.none.L = &t.mu
	for t.waiting > 0 {
		t.none.Wait()
	}
}

// takeScreen waits until a question may be shown. Who types a command is told.
func (a *app) takeScreen() {
	if a.screen.TryLock() {
		return
	}
	a.turns.add(1)
	defer a.turns.add(-1)
	if a.shell != nil {
		a.note("%s", a.err.bold("The server has a question: press Enter to see it."))
	}
	a.screen.Lock()
}

// leave ends a connection, unless it is that of a shell.
func (a *app) leave(c *client.Client) {
	if a.shell == nil {
		_ = c.Close() // the command is over
	}
}

// comment reports whether a line of a script says nothing.
func comment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}
