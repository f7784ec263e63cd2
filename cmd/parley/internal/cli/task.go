package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/handles"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

const taskLong = `A task is a call that a server works on apart from the connection that made it:
"parley call --detach" starts one, and any long call may become one. Tasks that were
started from here are remembered with their servers until the servers delete them, so
that the beginning of an ID is enough to come back to one. A task that was started
elsewhere needs its server named, and its whole ID.`

const taskExamples = `  parley call https://mcp.example.com/mcp annual_report --detach
  parley task list
  parley task wait 3f2a`

func (a *app) task() *cobra.Command {
	return family(&cobra.Command{
		Use:     "task list|show|wait|answer|cancel",
		Short:   "Come back to calls that go on as tasks",
		Long:    taskLong,
		Example: taskExamples,
	}, a.taskList(), a.taskShow(), a.taskWait(), a.taskAnswer(), a.taskCancel())
}

// onTask makes the body of a command about one task. Its server is the one that is
// named or, if none is, the one on which the task was started from here.
func (a *app) onTask(f func(ctx context.Context, t target.Target, h *handles.Handle) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		var found *handles.Handle
		split := func(cmd *cobra.Command, args []string) (target.Target, []string, error) {
			if a.shell != nil || a.namesServer(cmd, args) || len(args) != 1 {
				return a.splitTarget(cmd, args)
			}
			all, err := a.handles()
			if err == nil {
				found, err = handles.Find(all, args[0], nil)
			}
			if err != nil {
				return target.Target{}, nil, unknownHandle(err)
			}
			t, err := a.targetOf(cmd.Context(), &found.Server)
			return t, args, err
		}
		return a.onTarget(split, 1, 1, func(ctx context.Context, t target.Target, args []string) error {
			if found == nil {
				var err error
				if found, err = a.handleOn(t, args[0]); err != nil {
					return err
				}
			}
			return f(ctx, t, found)
		})(cmd, args)
	}
}

// unknownHandle points out what can be done about an ID that says nothing here.
func unknownHandle(err error) error {
	var none *handles.NotFoundError
	if !errors.As(err, &none) {
		return err
	}
	f := &failure{code: codeUsage, err: err, hint: `"parley task list" shows those that were; for any other, name its server and its whole ID`}
	if len(none.Among) > 0 {
		f.hint = "give more of the ID, or name the server"
	}
	return f
}

// namesServer reports whether a command line says which server is meant.
func (a *app) namesServer(cmd *cobra.Command, args []string) bool {
	return cmd.ArgsLenAtDash() >= 0 && !a.completing || a.flags.server != "" || a.flags.config != "" ||
		len(args) > 0 && (target.IsURL(args[0]) || strings.HasPrefix(args[0], "@"))
}

// handleOn returns the task of a server that an ID, or the beginning of one, means. An
// ID that is not known here may still be known there.
func (a *app) handleOn(t target.Target, id string) (*handles.Handle, error) {
	server := serverOf(t)
	all, err := a.handles()
	if err != nil {
		return nil, err
	}
	h, err := handles.Find(all, id, &server)
	var none *handles.NotFoundError
	if errors.As(err, &none) && len(none.Among) == 0 {
		return &handles.Handle{ID: id, Server: server}, nil
	}
	if err != nil {
		return nil, unknownHandle(err)
	}
	return h, nil
}

// targetOf returns the server on which a task was started, in the same revision.
func (a *app) targetOf(ctx context.Context, s *handles.Server) (target.Target, error) {
	var t target.Target
	if s.Entry != "" {
		a.flags.config = s.Config
		var err error
		if t, err = a.entry(ctx, s.Entry); err != nil {
			return t, err
		}
	} else {
		t = target.Target{URL: s.URL, Command: s.Command, Dir: s.Dir}
	}
	if r, ok := mcp.ParseRevision(s.Revision); ok {
		t.Revision = r
	}
	return t, nil
}

// onInterrupt registers the flag that says what becomes of a task when the command
// ends before it.
func onInterrupt(set *pflag.FlagSet, to *string, preset string) {
	set.StringVar(to, "on-interrupt", preset, "`cancel|leave` the task when the command ends before it, as by Ctrl-C or --timeout")
}

func checkInterrupt(s string) error {
	if s != interruptCancel && s != interruptLeave {
		return usagef("--on-interrupt %q is neither %s nor %s", s, interruptCancel, interruptLeave)
	}
	return nil
}

const (
	interruptCancel = "cancel"
	interruptLeave  = "leave"
)

// completesTasks has a shell complete the IDs of tasks that were started from here.
func (a *app) completesTasks(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		a.completing = true
		var server *handles.Server
		if a.namesServer(cmd, args) {
			t, rest, err := a.splitTarget(cmd, args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			s := serverOf(t)
			server = &s
		} else if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if server == nil && strings.HasPrefix(prefix, "@") {
			return a.serverNames(cmd.Context(), "@"), cobra.ShellCompDirectiveNoFileComp
		}
		return a.taskIDs(server, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// taskIDs returns the IDs of tasks, as a shell completes them; a nil server stands for
// any.
func (a *app) taskIDs(server *handles.Server, prefix string) []string {
	all, err := a.handles()
	if err != nil {
		return nil
	}
	var values []string
	for _, h := range all {
		if strings.HasPrefix(h.ID, prefix) && (server == nil || server.Same(&h.Server)) {
			values = append(values, candidate(h.ID, h.Tool)...)
		}
	}
	return values
}

// onItsServer connects to the server of a task.
func (a *app) onItsServer(ctx context.Context, t target.Target, h *handles.Handle, f func(c *client.Client, task *client.Task, k *keeper) error) error {
	c, err := a.connect(ctx, t)
	if err != nil {
		return err
	}
	defer a.leave(c)
	k := &keeper{app: a, handle: *h}
	err = f(c, c.Task(h.ID, h.Tool), k)
	var f2 *failure
	if errors.Is(err, client.ErrNotFound) && !errors.As(err, &f2) {
		k.forget()
		return a.taskFailed(errors.Join(errTaskGone, err))
	}
	return err
}
