package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/handles"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// taskFolder is where the tasks are remembered that were started from here.
func (a *app) taskFolder() handles.Folder {
	dir := a.stateFolder()
	if dir == "" {
		return ""
	}
	return handles.Folder(filepath.Join(dir, "tasks"))
}

// handles returns the tasks that were started from here and are not over.
func (a *app) handles() ([]*handles.Handle, error) {
	all, err := a.taskFolder().All(time.Now())
	if err != nil {
		return nil, fmt.Errorf("the tasks that were started from here: %w", err)
	}
	return all, nil
}

// serverOf describes a target, so that a later run finds it again.
func serverOf(t target.Target) handles.Server {
	if t.Entry != nil {
		s := handles.Server{Entry: t.Entry.Name}
		if t.Entry.File != nil {
			s.Config = t.Entry.File.Path
			if path, err := filepath.Abs(s.Config); err == nil {
				s.Config = path
			}
		}
		return s
	}
	s := handles.Server{URL: t.URL, Command: t.Command, Dir: t.Dir}
	if s.URL == "" && s.Dir == "" {
		s.Dir, _ = os.Getwd() // without one, the command is started wherever the later run is
	}
	return s
}

// keeper remembers a task while this run has to do with it.
type keeper struct {
	app    *app
	handle handles.Handle
	failed bool
}

// newKeeper begins to remember a task. Nothing is written yet.
func (a *app) newKeeper(t target.Target, c *client.Client, tool string) *keeper {
	k := &keeper{app: a, handle: handles.Handle{Tool: tool, Begun: time.Now().Truncate(time.Second), Server: serverOf(t)}}
	k.handle.Server.Revision = c.Revision().String()
	return k
}

// saw remembers the state of the task, if that says anything new.
func (k *keeper) saw(task *mcp.Task) {
	h := k.handle
	h.ID, h.Status = task.ID, task.Status
	h.Expires = time.Time{}
	if task.TTLMs != nil && *task.TTLMs > 0 && *task.TTLMs < int64(longestKept/time.Millisecond) {
		h.Expires = h.Begun.Add(time.Duration(*task.TTLMs) * time.Millisecond)
	}
	if h.ID == k.handle.ID && h.Status == k.handle.Status && h.Expires.Equal(k.handle.Expires) {
		return
	}
	k.handle = h
	if err := k.app.taskFolder().Put(&h); err != nil && !k.failed {
		k.failed = true
		k.app.note("parley: the task is not remembered: %s", oneLine(err.Error(), 500))
	}
}

// longestKept is the longest time that a server is believed to keep a task.
const longestKept = 10 * 365 * 24 * time.Hour

// forget is for a task that nobody needs to come back to.
func (k *keeper) forget() {
	if k.handle.ID != "" {
		_ = k.app.taskFolder().Remove(&k.handle) // it is pruned later
	}
}

// comeBack is the command that goes on with the task.
func (k *keeper) comeBack() string { return "parley task wait " + k.handle.ID }

// ended takes what following the task has led to, and says what became of the task.
func (k *keeper) ended(err error) error {
	var given *client.TaskError
	switch {
	case !errors.As(err, &given):
		return k.app.taskFailed(err)
	case given.Left:
		k.app.note("the task goes on; come back with: %s", k.comeBack())
	default:
		k.forget()
		if !errors.Is(err, client.ErrTaskCancelled) && !errors.Is(err, client.ErrNotFound) {
			k.app.note("the task was cancelled")
		}
	}
	return k.app.taskFailed(err)
}

// taskFailed gives errors about tasks the codes they have.
func (a *app) taskFailed(err error) error {
	var given *client.TaskError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrTaskCancelled):
		return &failure{code: codeTaskCancelled, err: err}
	case errors.Is(err, client.ErrNotFound) && errors.As(err, &given), errors.Is(err, errTaskGone):
		return &failure{code: codeTaskGone, err: err, hint: "servers keep tasks for a limited time, and may forget them when they are restarted"}
	}
	return err
}

// errTaskGone says that a server does not know a task.
var errTaskGone = errors.New("the server does not know the task")
