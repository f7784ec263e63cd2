package era

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Bounds of the tasks that a client keeps for its server. The server of the
// connection is the only one that can ask for them.
//
// Spec: 2025-11-25 basic/utilities/tasks#resource-management.
const (
	maxOwnTasks    = 256
	ownTaskTTL     = 15 * time.Minute // where the server asks for no time
	maxOwnTaskTTL  = 24 * time.Hour
	minOwnTaskTTL  = time.Second
	ownTaskPoll    = time.Second
	ownTasksInPage = 100
)

// TasksOffer returns what a client declares that answers questions as tasks, if it
// can answer anything that can be one; nil otherwise.
//
// Spec: 2025-11-25 basic/utilities/tasks#client-capabilities.
func TasksOffer(c *mcp.ClientCapabilities) *mcp.TasksCapability {
	if c.Sampling == nil && c.Elicitation == nil {
		return nil
	}
	offer := &mcp.TasksCapability{List: &mcp.Empty{}, Cancel: &mcp.Empty{}}
	if c.Sampling != nil {
		offer.Requests.Sampling = &mcp.SamplingTasks{CreateMessage: &mcp.Empty{}}
	}
	if c.Elicitation != nil {
		offer.Requests.Elicitation = &mcp.ElicitationTasks{Create: &mcp.Empty{}}
	}
	return offer
}

// covers reports whether a client has declared that a question can be a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#capability-negotiation.
func covers(c *mcp.TasksCapability, method string) bool {
	switch {
	case c == nil:
		return false
	case method == mcp.MethodSample:
		return c.Requests.Sampling != nil && c.Requests.Sampling.CreateMessage != nil
	case method == mcp.MethodElicit:
		return c.Requests.Elicitation != nil && c.Requests.Elicitation.Create != nil
	}
	return false
}

// ownTasks are the questions of a server that its client answers apart from their
// requests. They live as long as the connection. The zero value is ready.
//
// Spec: 2025-11-25 basic/utilities/tasks#definitions.
type ownTasks struct {
	mu   sync.Mutex
	all  []*ownTask // by number
	last int64
}

type ownTask struct {
	number  int64 // what cursors are made of
	id      string
	created time.Time
	ttl     time.Duration
	stop    context.CancelCauseFunc // ends the work; it may be called more than once
	over    chan struct{}           // closed when the task has ended

	// Guarded by ownTasks.mu; result and failed do not change once over is closed.
	status  mcp.TaskStatus
	message string
	updated time.Time
	result  json.RawMessage
	failed  *jsonrpc.Error
	fetched bool // the server has had the result
}

var (
	errUnknownTask   = jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown task: it does not exist, or has expired")
	errTooManyTasks  = jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many tasks at a time: the limit is %d; fetch the results of those that have ended", maxOwnTasks)
	errTaskCancelled = errors.New("the server has cancelled the task")
	errTaskExpired   = errors.New("the task has expired")
)

// add makes a new task. Where there is no room, one whose result the server has had
// goes first.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-id-requirements.
func (o *ownTasks) add(offer *mcp.TaskOffer, stop context.CancelCauseFunc) (*ownTask, error) {
	now, ttl := time.Now(), ownTaskTTL
	if offer.TTLMs != nil {
		ttl = min(max(time.Duration(min(*offer.TTLMs, maxOwnTaskTTL.Milliseconds()))*time.Millisecond, minOwnTaskTTL), maxOwnTaskTTL)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sweepLocked(now)
	if len(o.all) >= maxOwnTasks {
		had := slices.IndexFunc(o.all, func(t *ownTask) bool { return t.fetched })
		if had < 0 {
			return nil, errTooManyTasks
		}
		o.all = slices.Delete(o.all, had, had+1)
	}
	o.last++
	t := &ownTask{
		number: o.last, id: rand.Text(), created: now, updated: now, ttl: ttl,
		status: mcp.TaskWorking, stop: stop, over: make(chan struct{}),
	}
	o.all = append(o.all, t)
	return t, nil
}

// sweepLocked forgets what has expired.
func (o *ownTasks) sweepLocked(now time.Time) {
	o.all = slices.DeleteFunc(o.all, func(t *ownTask) bool {
		expired := !now.Before(t.created.Add(t.ttl))
		if expired {
			t.stop(errTaskExpired)
		}
		return expired
	})
}

// findLocked returns the task with an ID.
func (o *ownTasks) findLocked(id string) (*ownTask, error) {
	o.sweepLocked(time.Now())
	for _, t := range o.all {
		if t.id == id {
			return t, nil
		}
	}
	return nil, errUnknownTask
}

// stateLocked returns what the server sees of a task, in the form of a session.
func (t *ownTask) stateLocked() (json.RawMessage, error) {
	return sessionTask(&mcp.Task{
		ID: t.id, Status: t.status, StatusMessage: t.message,
		CreatedAt: related.Time(t.created), LastUpdatedAt: related.Time(t.updated),
		TTLMs: new(t.ttl.Milliseconds()), PollIntervalMs: new(ownTaskPoll.Milliseconds()),
	})
}

// end makes a task final, unless it is, and returns its state then; nil if it was.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-status-lifecycle.
func (o *ownTasks) end(t *ownTask, status mcp.TaskStatus, result json.RawMessage, failed *jsonrpc.Error) json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	if t.status.Final() {
		return nil
	}
	t.status, t.result, t.failed, t.updated = status, result, failed, time.Now()
	if failed != nil {
		t.message = failed.Message
	}
	close(t.over)
	state, err := t.stateLocked()
	if err != nil {
		return nil
	}
	return state
}

// get answers tasks/get.
//
// Spec: 2025-11-25 basic/utilities/tasks#getting-tasks.
func (o *ownTasks) get(id string) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, err := o.findLocked(id)
	if err != nil {
		return nil, err
	}
	return t.stateLocked()
}

// result answers tasks/result, which waits until the task has ended.
//
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
func (o *ownTasks) result(ctx context.Context, id string) (any, error) {
	o.mu.Lock()
	t, err := o.findLocked(id)
	o.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case <-t.over:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	o.mu.Lock()
	t.fetched = true
	o.mu.Unlock()
	if t.failed != nil {
		return nil, t.failed
	}
	return withRelated(t.result, t.id)
}

// cancel answers tasks/cancel. What the work still returns is dropped.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
func (o *ownTasks) cancel(id string) (any, error) {
	o.mu.Lock()
	t, err := o.findLocked(id)
	var status mcp.TaskStatus
	if t != nil {
		status = t.status
	}
	o.mu.Unlock()
	if err != nil {
		return nil, err
	}
	state := o.end(t, mcp.TaskCancelled, nil, jsonrpc.Errorf(codeRequestCancelled, "%s", errTaskCancelled))
	if state == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%s", (&mcp.TaskEndedError{ID: id, Status: status}).Error())
	}
	t.stop(errTaskCancelled)
	return state, nil
}

// list answers tasks/list. A cursor is the number of the last task of a page.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-listing.
func (o *ownTasks) list(cursor *string) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sweepLocked(time.Now())
	after := int64(0)
	if cursor != nil {
		var err error
		if after, err = strconv.ParseInt(*cursor, 10, 64); err != nil || after < 1 || after > o.last {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the cursor is not valid")
		}
	}
	page := struct {
		Tasks []json.RawMessage `json:"tasks"`
		Next  *string           `json:"nextCursor,omitzero"`
	}{Tasks: []json.RawMessage{}}
	for i, t := range o.all {
		if t.number <= after {
			continue
		}
		state, err := t.stateLocked()
		if err != nil {
			return nil, err
		}
		page.Tasks = append(page.Tasks, state)
		if len(page.Tasks) == ownTasksInPage && i+1 < len(o.all) {
			page.Next = new(strconv.FormatInt(t.number, 10))
			break
		}
	}
	doc, err := wire.Marshal(page)
	return json.RawMessage(doc), err
}
