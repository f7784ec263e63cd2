package cli

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// tasking says what to do with a call that becomes a task.
type tasking struct {
	detach      bool
	onInterrupt string
}

func (h *tasking) register(set *pflag.FlagSet) {
	set.BoolVar(&h.detach, "detach", false, "print the ID of the task and end, if the call becomes one")
	onInterrupt(set, &h.onInterrupt, interruptCancel)
}

// waiting returns the options of waiting for a task.
func waiting(interrupt string, more ...client.CallOption) []client.CallOption {
	if interrupt == interruptLeave {
		more = append(more, client.WithTaskLeft())
	}
	return more
}

// callOrTask calls a tool and returns the raw result, or nil if the call goes on as a
// task that nobody waits for.
func (a *app) callOrTask(ctx context.Context, t target.Target, c *client.Client, tool string, args json.RawMessage, how tasking) (json.RawMessage, error) {
	progress, done := a.progress(tool)
	defer done()
	k := a.newKeeper(t, c, tool)
	opts := []client.CallOption{progress, client.WithTaskStatus(k.saw)}
	if !how.detach {
		opts = append(opts, client.WithTask(-1)) // whoever waits needs no task
	}
	task, err := c.StartTask(ctx, tool, args, opts...)
	if err != nil {
		return nil, err
	}
	switch {
	case task.ID() == "":
		if how.detach {
			a.note("the server made no task of the call, and has answered")
		}
	case how.detach:
		done()
		return nil, a.detached(ctx, t, task, k)
	case a.err.terminal:
		a.note("%s", a.err.dim("the server works on it as task "+label(task.ID(), 200)+"; Ctrl-C "+when(how.onInterrupt == interruptLeave, "leaves it running")+when(how.onInterrupt != interruptLeave, "cancels it")))
	}
	raw, err := task.WaitRaw(ctx, waiting(how.onInterrupt)...)
	done()
	if err != nil {
		return nil, k.ended(err)
	}
	k.forget()
	return raw, nil
}

// detached says how to come back to a task.
func (a *app) detached(ctx context.Context, t target.Target, task *client.Task, k *keeper) error {
	state, err := task.Status(ctx)
	if err != nil { // it exists all the same
		state = &mcp.TaskState{Task: mcp.Task{ID: task.ID(), Status: mcp.TaskWorking}}
	}
	k.saw(&state.Task)
	if a.flags.json() {
		raw, err := wire.Marshal(k.shown())
		a.out.json(raw)
		return err
	}
	a.out.printf("%s\n", label(task.ID(), 1000))
	if a.shell != nil {
		a.note("%s", a.err.dim("come back with: task wait "+label(task.ID(), 200)))
		return nil
	}
	a.note("%s", a.err.dim("come back with: "+label(k.comeBack(), 300)))
	if t.URL == "" {
		a.note("%s", a.err.dim("the server's command ends now; the task goes on only if the server keeps its tasks, as parley serve --task-store does"))
	}
	return nil
}

// shownTask is a remembered task as JSON.
type shownTask struct {
	ID      string         `json:"taskId"`
	Tool    string         `json:"tool,omitzero"`
	Status  mcp.TaskStatus `json:"status,omitzero"`
	Begun   string         `json:"begun,omitzero"`
	Expires string         `json:"expires,omitzero"`
	Server  string         `json:"server"`
}

// shown is what the user sees of a remembered task: no secrets of the server's address.
func (k *keeper) shown() shownTask { return shownHandle(&k.handle) }

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// questionText is what a question says.
func questionText(q *mcp.InputRequest) string {
	raw, _ := q.Params.(json.RawMessage)
	message, _ := wire.Text(wire.Find(raw, "message"))
	return or(message, q.Method)
}
