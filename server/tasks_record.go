package server

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// task is a record of the store, decoded. A copy of it is a version of its own:
// what its maps, slices and pointers lead to is replaced and never changed.
type task struct {
	taskstore.Record
	taskData
}

// taskData is what taskstore.Record.Data holds, as JSON. Processes of different ages
// may share a store, so members may be added, but not change their meaning.
type taskData struct {
	// What the run is about. It is dropped when the task has ended.
	Method string            `json:"method,omitzero"`
	Params json.RawMessage   `json:"params,omitzero"` // exactly as sent
	Peer   *taskPeer         `json:"peer,omitzero"`
	Token  mcp.ProgressToken `json:"progressToken,omitzero"`
	Trace  mcp.Trace         `json:"trace,omitzero"`
	// Demanded says that the client asked for a task, as sessions do.
	Demanded bool `json:"demanded,omitzero"`

	Status  mcp.TaskStatus `json:"status"`
	Message string         `json:"message,omitzero"`
	Updated int64          `json:"updated"` // in milliseconds since 1970
	// Far is the newest progress that the client was told of, when it was last asked
	// something.
	Far *float64 `json:"far,omitzero"`

	// Run names the run that holds the lease. Only it may save the record, unless
	// the task is cancelled, or taken over when the lease is over.
	Run string `json:"run,omitzero"`
	// Ready says that no run was interrupted: a handler may begin, or begin again, as
	// after each question.
	Ready bool `json:"ready,omitzero"`
	// Crashes counts the runs that ended with their process since the last question.
	Crashes int `json:"crashes,omitzero"`

	// Asked are the open questions, and UsedKeys all keys that clients got to see.
	Asked    []askedInput `json:"asked,omitzero"`
	UsedKeys []string     `json:"usedKeys,omitzero"`
	// Answers are by the handler's keys, and State is that of mcp.InputRequired.
	Answers map[string]inputAnswer `json:"answers,omitzero"`
	State   json.RawMessage        `json:"state,omitzero"`
	// Learnt are entries that the journal began with: what Once was used for before
	// the call became a task.
	Learnt map[string]json.RawMessage `json:"learnt,omitzero"`

	Result     json.RawMessage `json:"result,omitzero"`
	ToolFailed bool            `json:"toolFailed,omitzero"`
	Error      *jsonrpc.Error  `json:"error,omitzero"`
}

// taskPeer is who called the tool, without credentials.
type taskPeer struct {
	Revision      string                 `json:"revision"`
	Info          mcp.Implementation     `json:"info"`
	Capabilities  mcp.ClientCapabilities `json:"capabilities"`
	Authorization *mcp.Authorization     `json:"authorization,omitzero"`
	Session       string                 `json:"session,omitzero"`
}

// askedInput is an open question. Key is the handler's, Sent the client's.
type askedInput struct {
	Key    string          `json:"key"`
	Sent   string          `json:"sent"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitzero"`
}

// inputAnswer is what the client answered, or why it did not.
type inputAnswer struct {
	Result json.RawMessage `json:"result,omitzero"`
	Failed string          `json:"failed,omitzero"`
}

// newTask returns the task that the call of an exchange is to become.
func (e *tasks) newTask(x *mcp.Exchange) *task {
	p := &x.Peer
	t := &task{Record: taskstore.Record{ID: newID(), Owner: p.Principal}}
	t.taskData = taskData{
		Method: x.Method, Params: x.Params, Token: x.ProgressToken, Trace: x.Trace, State: x.State, Demanded: x.Task.Demanded,
		Peer: &taskPeer{p.Revision.String(), p.Info, p.Capabilities, p.Authorization, p.SessionID},
	}
	for key, raw := range x.Answers {
		if t.Answers == nil {
			t.Answers = map[string]inputAnswer{}
		}
		if isObject(raw) { // anything else is no answer
			t.Answers[key] = inputAnswer{Result: raw}
		}
	}
	return t
}

// begin sets the times of a new task, and gives its lease to a run.
func (e *tasks) begin(t *task, run string, x *mcp.Exchange) {
	now := time.Now().Truncate(time.Millisecond)
	t.Created, t.Expires = now, now.Add(e.opts.ttl(x.Task.TTLMs))
	t.Run, t.Lease = run, now.Add(e.opts.Lease)
	t.set(mcp.TaskWorking, t.Message)
}

// set changes what clients see.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-status-lifecycle.
func (t *task) set(status mcp.TaskStatus, message string) {
	t.Status, t.Message, t.Updated = status, message, time.Now().UnixMilli()
}

// end makes a task final. Only what it has come to is kept.
func (t *task) end(status mcp.TaskStatus, message string) {
	t.taskData = taskData{Result: t.Result, ToolFailed: t.ToolFailed, Error: t.Error}
	t.Lease = time.Time{}
	t.set(status, message)
}

// fail ends a task with an error.
func (t *task) fail(err *jsonrpc.Error) {
	t.Result, t.ToolFailed, t.Error = nil, false, err
	t.end(mcp.TaskFailed, err.Message)
}

// abandoned reports whether the task needs somebody who works on it, and nobody does.
func (t *task) abandoned(now time.Time) bool {
	return t.Status == mcp.TaskWorking && !t.Lease.IsZero() && t.Lease.Before(now)
}

func (t *task) encode() (taskstore.Record, error) {
	data, err := wire.Marshal(&t.taskData)
	r := t.Record
	r.Data = data
	return r, err
}

func decodeTask(r taskstore.Record) (*task, error) {
	t := &task{Record: r}
	err := wire.Unmarshal(r.Data, &t.taskData)
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, fmt.Errorf("the store holds a task that cannot be read: %w", err)
	}
	t.Data = nil
	return t, nil
}

// check reports whether a record lacks what belongs to its status. A store may be
// damaged, and nothing of that may end the process.
func (t *task) check() error {
	missing := ""
	switch t.Status {
	case mcp.TaskWorking, mcp.TaskInputRequired:
		if d := mcp.MethodNamed(t.Method); d == nil || !d.AsTask || t.tool() == "" {
			missing = "the call"
		} else if t.Peer == nil {
			missing = "the caller"
		} else if t.Status == mcp.TaskInputRequired && len(t.Asked) == 0 {
			missing = "the questions"
		}
	case mcp.TaskCompleted:
		if !isObject(t.Result) {
			missing = "the result"
		}
	case mcp.TaskFailed:
		if t.Error == nil {
			missing = "the error"
		}
	case mcp.TaskCancelled:
	default:
		return fmt.Errorf("its status is %q", shorten(string(t.Status)))
	}
	if missing != "" {
		return fmt.Errorf("it is %s, and %s is missing", t.Status, missing)
	}
	return nil
}

// tool returns the name of the tool.
func (t *task) tool() string { return mcp.MethodNamed(t.Method).SubjectOf(t.Params) }

// brief returns what clients see of a task in all states.
func (e *tasks) brief(t *task) mcp.Task {
	ttl, poll := t.Expires.Sub(t.Created).Milliseconds(), e.opts.PollInterval.Milliseconds()
	return mcp.Task{
		ID: t.ID, Status: t.Status, StatusMessage: t.Message, ToolFailed: t.ToolFailed,
		CreatedAt: related.Time(t.Created), LastUpdatedAt: related.Time(time.UnixMilli(t.Updated)),
		TTLMs: &ttl, PollIntervalMs: &poll,
	}
}

// state returns all that clients see of a task.
//
// Spec: ext-tasks/draft tasks#task-polling.
func (e *tasks) state(t *task) *mcp.TaskState {
	s := &mcp.TaskState{Task: e.brief(t), Result: t.Result, Error: t.Error}
	if len(t.Asked) > 0 {
		s.InputRequests = make(map[string]*mcp.InputRequest, len(t.Asked))
		for _, q := range t.Asked {
			request := q.request(t.ID)
			s.InputRequests[q.Sent] = &request
		}
	}
	return s
}

// request returns the question as it is put to the client.
func (q *askedInput) request(task string) mcp.InputRequest {
	r := mcp.InputRequest{Key: q.Sent, Method: q.Method, Task: task}
	if q.Params != nil {
		r.Params = q.Params
	}
	return r
}
