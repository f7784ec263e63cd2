package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/handles"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

func (a *app) taskList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [URL|@NAME] [-- COMMAND...]",
		Short: "List tasks",
		Long: "List the tasks that were started from here, with the status that was seen last. With a\n" +
			"server, list the tasks that it has for you; servers of 2026-07-28 have no such list, so\n" +
			"that only those that were started from here are shown.",
		Example: "  parley task list\n  parley task list @shop --output json",
	}
	honours(cmd, a.flags.reach, a.flags.format)
	a.completes(cmd, nil)
	onServer := a.onServer(0, 0, a.runTaskList)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.shell != nil || a.namesServer(cmd, args) || len(args) > 0 {
			return onServer(cmd, args)
		}
		if err := a.flags.check(); err != nil {
			return err
		}
		all, err := a.handles()
		if err != nil {
			return err
		}
		return a.listHandles(all)
	}
	return cmd
}

func (a *app) runTaskList(ctx context.Context, t target.Target, _ []string) error {
	c, err := a.connect(ctx, t)
	if err != nil {
		return err
	}
	defer a.leave(c)
	tasks, err := client.Collect(c.Tasks(ctx))
	if errors.Is(err, errors.ErrUnsupported) {
		return a.listOwn(t)
	}
	if err != nil {
		return err
	}
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"tasks": append([]*mcp.Task{}, tasks...)})
		a.out.json(raw)
		return err
	}
	for _, task := range tasks {
		a.out.printf("%s  %s  %s\n", a.out.bold(label(task.ID, 200)), label(string(task.Status), 40), a.out.dim(label(task.CreatedAt, 40)+when(task.StatusMessage != "", "  ")+label(task.StatusMessage, 200)))
	}
	return nil
}

// listOwn lists the tasks that were started from here on one server.
func (a *app) listOwn(t target.Target) error {
	server := serverOf(t)
	all, err := a.handles()
	if err != nil {
		return err
	}
	var own []*handles.Handle
	for _, h := range all {
		if server.Same(&h.Server) {
			own = append(own, h)
		}
	}
	a.note("%s", a.err.dim("servers of this revision do not list tasks; these were started from here"))
	return a.listHandles(own)
}

func (a *app) listHandles(all []*handles.Handle) error {
	if a.flags.json() {
		shown := []shownTask{}
		for _, h := range all {
			shown = append(shown, shownHandle(h))
		}
		raw, err := wire.Marshal(map[string]any{"tasks": shown})
		a.out.json(raw)
		return err
	}
	for _, h := range all {
		s := shownHandle(h)
		a.out.printf("%s  %s  %s  %s\n", a.out.bold(label(s.ID, 200)), label(string(s.Status), 40), label(s.Tool, 100),
			a.out.dim(label(s.Server, 200)+", "+ago(time.Since(h.Begun))))
	}
	return nil
}

func shownHandle(h *handles.Handle) shownTask {
	t := target.Target{URL: h.Server.URL, Command: h.Server.Command}
	s := shownTask{ID: h.ID, Tool: h.Tool, Status: h.Status, Begun: timeText(h.Begun), Expires: timeText(h.Expires), Server: t.String()}
	if h.Server.Entry != "" {
		s.Server = "@" + h.Server.Entry
	}
	return s
}

// ago says how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	}
	return fmt.Sprintf("%dd ago", d/(24*time.Hour))
}

func (a *app) taskShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show [URL|@NAME] ID [-- COMMAND...]",
		Short:   "Show how far a task has come",
		Long:    "Show how far a task has come, and what it waits for.",
		Example: "  parley task show 3f2a\n  parley task show https://mcp.example.com/mcp 3f2a91… --output json",
	}
	honours(cmd, a.flags.reach, a.flags.format)
	a.completesTasks(cmd)
	cmd.RunE = a.onTask(func(ctx context.Context, t target.Target, h *handles.Handle) error {
		return a.onItsServer(ctx, t, h, func(_ *client.Client, task *client.Task, k *keeper) error {
			return a.showTask(ctx, task, k)
		})
	})
	return cmd
}

// showTask shows the state of a task.
func (a *app) showTask(ctx context.Context, task *client.Task, k *keeper) error {
	s, err := task.Status(ctx)
	if err != nil {
		return err
	}
	if k.handle.Tool != "" { // it was started from here
		k.saw(&s.Task)
	}
	if a.flags.json() {
		raw, err := wire.Marshal(s)
		a.out.json(raw)
		return err
	}
	line := func(name, text string) {
		if text != "" {
			a.out.printf("%-9s %s\n", name, label(text, 2000))
		}
	}
	line("task", s.ID)
	line("tool", k.handle.Tool)
	line("status", string(s.Status))
	line("message", s.StatusMessage)
	line("created", s.CreatedAt)
	line("updated", s.LastUpdatedAt)
	line("expires", timeText(k.handle.Expires))
	for _, key := range slices.Sorted(maps.Keys(s.InputRequests)) {
		line("asks", questionText(s.InputRequests[key]))
	}
	if s.Error != nil {
		line("error", s.Error.Error())
	}
	return nil
}

func (a *app) taskWait() *cobra.Command {
	var save, interrupt string
	cmd := &cobra.Command{
		Use:   "wait [URL|@NAME] ID [-- COMMAND...]",
		Short: "Wait for a task, and show its result",
		Long: "Wait for a task as \"parley call\" does: with progress and questions on a terminal. Then\n" +
			"show its result. When the command ends before the task, the task goes on, unless\n" +
			"--on-interrupt cancel is given.",
		Example: "  parley task wait 3f2a\n  parley task wait 3f2a --answer format=csv --yes-form --output json",
	}
	cmd.Flags().StringVar(&save, "save", "", "write images, sound and other binary content to files in `DIR`")
	onInterrupt(cmd.Flags(), &interrupt, interruptLeave)
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim, a.flags.asked)
	a.completesTasks(cmd)
	wait := a.onTask(func(ctx context.Context, t target.Target, h *handles.Handle) error {
		return a.onItsServer(ctx, t, h, func(c *client.Client, task *client.Task, k *keeper) error {
			progress, done := a.progress(or(h.Tool, "task"))
			opts := []client.CallOption{progress}
			if h.Tool != "" {
				opts = append(opts, client.WithTaskStatus(k.saw))
			}
			raw, err := task.WaitRaw(ctx, waiting(interrupt, opts...)...)
			done()
			if err != nil {
				return k.ended(err)
			}
			return a.called(c, h.Tool, raw, save)
		})
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkInterrupt(interrupt); err != nil {
			return err
		}
		return wait(cmd, args)
	}
	return cmd
}

func (a *app) taskAnswer() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "answer [URL|@NAME] ID [-- COMMAND...]",
		Short:   "Answer what a task asks",
		Long:    "Answer what a task asks, without waiting for its end.",
		Example: "  parley task answer 3f2a\n  parley task answer 3f2a --answer format=csv --yes-form",
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.asked)
	a.completesTasks(cmd)
	cmd.RunE = a.onTask(func(ctx context.Context, t target.Target, h *handles.Handle) error {
		return a.onItsServer(ctx, t, h, func(_ *client.Client, task *client.Task, k *keeper) error {
			s, err := task.Status(ctx)
			if err != nil {
				return err
			}
			if s.Status != mcp.TaskInputRequired {
				a.note("the task asks nothing")
			} else if err := task.Answer(ctx); err != nil {
				return a.taskFailed(err)
			}
			return a.showTask(ctx, task, k)
		})
	})
	return cmd
}

func (a *app) taskCancel() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cancel [URL|@NAME] ID [-- COMMAND...]",
		Short:   "Cancel a task",
		Long:    "Ask the server to cancel a task. It may take a while, or complete the task all the same;\nthe state is shown.",
		Example: "  parley task cancel 3f2a",
	}
	honours(cmd, a.flags.reach, a.flags.format)
	a.completesTasks(cmd)
	cmd.RunE = a.onTask(func(ctx context.Context, t target.Target, h *handles.Handle) error {
		return a.onItsServer(ctx, t, h, func(_ *client.Client, task *client.Task, k *keeper) error {
			if err := task.Cancel(ctx); err != nil {
				return err
			}
			err := a.showTask(ctx, task, k)
			if errors.Is(err, client.ErrNotFound) { // servers may delete what is cancelled
				k.forget()
				a.note("the task was cancelled, and is gone")
				return nil
			}
			return err
		})
	})
	return cmd
}
