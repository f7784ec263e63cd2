package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// TaskOptions say how the tools of a server run as tasks. The zero value is a
// complete configuration. Which tools do is said by mcp.Tool.Execution; docs/tasks.md
// tells the whole story.
type TaskOptions struct {
	// Store keeps the tasks. nil means taskstore.NewMemory(): they end with the
	// process. Servers that share a Store share their tasks, so they should also
	// share a Hub, and offer the same tools.
	Store taskstore.Store
	// After is how long a call waits for its result before it becomes a task, if
	// the client leaves the choice to the server, as clients of 2026-07-28 do that
	// can take tasks. 0 means that it is a task at once; a negative value, that it
	// becomes one when its handler calls Call.StartTask. TaskAfter says it for one
	// tool.
	After time.Duration
	// TTL is how long a task and its result are kept, from its creation, where the
	// client asks for no particular time. 0 means 1 hour.
	TTL time.Duration
	// MaxTTL bounds the time that a client can ask for. 0 means 24 hours. The least
	// that a client gets is PollInterval: it has to ask once.
	MaxTTL time.Duration
	// PollInterval is how often clients are told to ask for the state of a task,
	// and how often the messages of Call.Progress are stored. 0 means 1 second.
	PollInterval time.Duration
	// Lease is how long a task whose process died waits until another process goes
	// on with it. 0 means 30 seconds, the minimum is 1 second. It must be much longer than the clocks
	// of the processes that share a Store differ, and than the Store takes to
	// answer.
	Lease time.Duration
	// PerPrincipal bounds how many tasks are kept for one principal, and Total how
	// many are kept in all; those that have ended count until their TTL is over. 0
	// means 1000 and 10,000; a negative value means no bound. Clients without a
	// principal are bounded by Total only.
	//
	// Spec: 2025-11-25 basic/utilities/tasks#resource-management.
	PerPrincipal, Total int
	// ListUnowned lets clients without a principal list the tasks of all such
	// clients: right where everybody who reaches the server is the same user, as on
	// standard input and output. Otherwise only the ID gives access to these tasks.
	//
	// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
	ListUnowned bool
	// Rate bounds how often one client asks about tasks, as Options.ToolRate does for
	// calls, with the same default.
	Rate mcp.Rate
}

const (
	defaultTaskTTL      = time.Hour
	defaultMaxTaskTTL   = 24 * time.Hour
	defaultPollInterval = time.Second
	defaultLease        = 30 * time.Second
	minLease            = time.Second
	defaultPerPrincipal = 1000
	defaultTotal        = 10_000
)

// withDefaults returns a copy in which every field has its effective value; bounds
// that there are not are 0.
func (o TaskOptions) withDefaults() TaskOptions {
	if o.Store == nil {
		o.Store = taskstore.NewMemory()
	}
	setDefault(&o.MaxTTL, defaultMaxTaskTTL)
	setDefault(&o.TTL, min(defaultTaskTTL, o.MaxTTL))
	setDefault(&o.PollInterval, defaultPollInterval)
	setDefault(&o.Lease, defaultLease)
	setDefault(&o.PerPrincipal, defaultPerPrincipal)
	setDefault(&o.Total, defaultTotal)
	o.PerPrincipal, o.Total = max(o.PerPrincipal, 0), max(o.Total, 0)
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *TaskOptions) check() error {
	switch {
	case o.MaxTTL < 0: // first, because it bounds the others
		return fmt.Errorf("Options.Tasks.MaxTTL is %s", o.MaxTTL)
	case o.TTL < 0:
		return fmt.Errorf("Options.Tasks.TTL is %s", o.TTL)
	case o.PollInterval < 0:
		return fmt.Errorf("Options.Tasks.PollInterval is %s", o.PollInterval)
	case o.TTL > o.MaxTTL:
		return fmt.Errorf("Options.Tasks.TTL is %s, and MaxTTL %s", o.TTL, o.MaxTTL)
	case o.Lease < minLease:
		return fmt.Errorf("Options.Tasks.Lease is %s, and the minimum is %s", o.Lease, minLease)
	case math.IsNaN(o.Rate.PerSecond):
		return errors.New("Options.Tasks.Rate.PerSecond is not a number; a negative one means no bound")
	}
	return nil
}

// ttl is how long a task is kept for which a client asks for a time, or nil.
//
// Spec: 2025-11-25 basic/utilities/tasks#ttl-and-resource-management (3).
func (o *TaskOptions) ttl(asked *int64) time.Duration {
	if asked == nil || *asked <= 0 {
		return o.TTL
	}
	if *asked > o.MaxTTL.Milliseconds() {
		return o.MaxTTL
	}
	return max(time.Duration(*asked)*time.Millisecond, min(o.PollInterval, o.MaxTTL))
}

// declareTasks declares that tools can run as tasks, in the words of all revisions.
//
// Spec: 2025-11-25 basic/utilities/tasks#server-capabilities.
// Spec: ext-tasks/draft tasks#capability-negotiation.
func declareTasks(c *mcp.ServerCapabilities) {
	call := mcp.TaskRequests{Tools: &mcp.ToolTasks{Call: &mcp.Empty{}}}
	c.Tasks = &mcp.TasksCapability{Cancel: &mcp.Empty{}, Requests: call}
	c.Extensions = maps.Clone(c.Extensions)
	if c.Extensions == nil {
		c.Extensions = objects{}
	}
	if c.Extensions[mcp.ExtensionTasks] == nil {
		c.Extensions[mcp.ExtensionTasks] = json.RawMessage("{}")
	}
}

// ToolOption says more about a tool than its description for clients does.
type ToolOption func(*tool)

// Resumable says that the handler of a tool may run again from its start when the
// process that ran it as a task has ended: what must not happen twice is in Once,
// what should not is in Step. Without it such a task fails. A task that waits for
// the answer to a question needs no process, and goes on in any case.
func Resumable() ToolOption { return func(t *tool) { t.resumable = true } }

// TaskAfter is TaskOptions.After for one tool.
func TaskAfter(d time.Duration) ToolOption { return func(t *tool) { t.after = &d } }

// configure applies the options of a tool.
func (t *tool) configure(opts []ToolOption) error {
	for _, o := range opts {
		o(t)
	}
	support := mcp.TaskForbidden
	if e := t.tool.Execution; e != nil && e.TaskSupport != "" {
		support = e.TaskSupport
	}
	switch support {
	case mcp.TaskForbidden:
		if t.resumable || t.after != nil {
			return errors.New("the options Resumable and TaskAfter need mcp.Tool.Execution with TaskOptional or TaskRequired")
		}
	case mcp.TaskOptional, mcp.TaskRequired:
		t.tasks, t.onlyTask = true, support == mcp.TaskRequired
	default:
		return fmt.Errorf("Execution.TaskSupport is %q; it may be %s, %s or %s", support, mcp.TaskForbidden, mcp.TaskOptional, mcp.TaskRequired)
	}
	return nil
}
