package era

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// taskOffer reads whether a request asks for a task. A server that has not declared
// tasks ignores that.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-support-and-handling (1).
func (a *agreement) taskOffer(m *jsonrpc.Message) (*mcp.TaskOffer, error) {
	if !a.facts.Tasks || a.declared.Tasks == nil || a.declared.Tasks.Requests.Tools == nil || a.declared.Tasks.Requests.Tools.Call == nil {
		return nil, nil //nolint:nilnil // no task
	}
	if d := mcp.MethodNamed(m.Method); d == nil || !d.AsTask {
		return nil, nil //nolint:nilnil // likewise
	}
	return readTaskParam(m.Params)
}

// readTaskParam reads the member of params that asks for a task; nil if there is none.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-parameters.
func readTaskParam(params json.RawMessage) (*mcp.TaskOffer, error) {
	task := wire.Find(params, memberTask)
	if task == nil || string(task) == "null" {
		return nil, nil //nolint:nilnil // no task
	}
	if !isObject(task) {
		return nil, mcp.InvalidParams("params: task must be an object")
	}
	offer := &mcp.TaskOffer{Demanded: true}
	ttl := wire.Find(task, "ttl")
	if ttl == nil || string(ttl) == "null" {
		return offer, nil
	}
	const most = 1 << 53 // any server bounds it
	ms, err := strconv.ParseFloat(string(ttl), 64)
	if errors.Is(err, strconv.ErrRange) {
		ms, err = most, nil
	}
	if err != nil || ms < 0 {
		return nil, mcp.InvalidParams("params: task.ttl must be a number of milliseconds, not less than 0")
	}
	offer.TTLMs = new(int64(min(ms, most)))
	return offer, nil
}

// handedOut returns the task that a handler's result hands out, or nil.
func handedOut(result any) *mcp.Task {
	switch r := result.(type) {
	case *mcp.CreateTaskResult:
		return &r.Task
	case json.RawMessage:
		t := new(mcp.CreateTaskResult)
		if related.IsTask(r) && wire.Unmarshal(r, t) == nil {
			return &t.Task
		}
	}
	return nil
}

// watchedTask is a task about which its client is told on the standing stream.
type watchedTask struct {
	of   *mcp.Exchange // of askerOf
	last mcp.Task      // what the client knows; only whoever has set asked uses it

	// asked says that the state is being asked for, and again that it has changed
	// meanwhile. Session.mu guards them.
	asked, again bool
}

// taskKey is the key in Session.subscriptions of the task with an ID. It is no URI.
func taskKey(id string) string { return "\x00" + id }

// keyOf returns the key in Session.subscriptions of what a change belongs to.
func keyOf(c mcp.Change) string {
	if c.Kind == mcp.TaskChanged {
		return taskKey(c.URI)
	}
	return c.URI
}

// watchTask has the client told about changes of a task that it was just given. The
// task may have changed since.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-notifications.
func (s *Session) watchTask(x *mcp.Exchange, t *mcp.Task) {
	if t.ID == "" {
		return
	}
	w := &watchedTask{of: askerOf(x, t.ID, s.seen), last: *t}
	own := newSubscribedTo(w)
	key := taskKey(t.ID)
	if had, err := s.reserve(key, own); had != nil || err != nil {
		return // the client asks for the state itself
	}
	watching := *w.of
	if err := s.begin(s.contextOf(w), key, own, &watching, mcp.SubscriptionFilter{TaskIDs: []string{t.ID}}); err != nil {
		s.opts.Logger.DebugContext(s.ctx, "the client will not be notified of the status of a task", "error", err)
		return
	}
	s.queue.add(mcp.Change{Kind: mcp.TaskChanged, URI: t.ID})
}

// askerOf returns an exchange in which whoever made another one asks for the state of
// a task. It has no way back.
func askerOf(x *mcp.Exchange, id string, seen *tap.Conn) *mcp.Exchange {
	own := &mcp.Exchange{ID: x.ID, Method: mcp.MethodGetTask, Peer: x.Peer, Back: noBack{seen}}
	own.Params = append(wire.AppendText([]byte(`{"taskId":`), id), '}')
	access.SetObserver(own, seen)
	return own
}

// contextOf returns the context for asking about a task: that of the session, with
// the authorization that the task was made with.
func (s *Session) contextOf(w *watchedTask) context.Context {
	if a := w.of.Peer.Authorization; a != nil {
		return mcp.WithAuthorization(s.ctx, a)
	}
	return s.ctx
}

// tellTask tells the client about a task, unless it knows already.
func (s *Session) tellTask(c mcp.Change) {
	w := s.askAbout(c)
	if w == nil {
		return
	}
	defer s.asked(c, w)
	if a := w.of.Peer.Authorization; a != nil && !a.Expires.IsZero() && !a.Expires.After(time.Now()) {
		s.queue.dropped(c, mcp.DropClosed, ErrExpired)
		s.unwatchTask(c.URI)
		return
	}
	state, err := stateOf(s.contextOf(w), s.handler, w.of, &s.opts)
	if err != nil {
		s.queue.dropped(c, mcp.DropNoForm, err)
		if isUnknown(err) {
			s.unwatchTask(c.URI)
		}
		return
	}
	if state.Status != w.last.Status || state.StatusMessage != w.last.StatusMessage {
		w.last = state.Task
		if err := s.Notify(s.ctx, mcp.NoteTaskStatus, &state.Task); err != nil {
			s.opts.Logger.DebugContext(s.ctx, "status of a task not sent", "error", err)
			s.queue.dropped(c, tap.ReasonOf(err), err)
		}
	}
	if state.Status.Final() {
		s.unwatchTask(c.URI)
	}
}

// askAbout returns the task of a change, about which nobody else asks until asked; nil
// if there is nothing to do.
func (s *Session) askAbout(c mcp.Change) *watchedTask {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.subscriptions[keyOf(c)]
	switch {
	case own == nil || own.task == nil:
		s.queue.dropped(c, mcp.DropUnsubscribed, nil)
		return nil
	case own.task.asked:
		own.task.again = true
		return nil
	}
	own.task.asked = true
	return own.task
}

func (s *Session) asked(c mcp.Change, w *watchedTask) {
	s.mu.Lock()
	again := w.again
	w.asked, w.again = false, false
	s.mu.Unlock()
	if again {
		s.queue.add(c)
	}
}

func (s *Session) unwatchTask(id string) {
	s.mu.Lock()
	own := s.subscriptions[taskKey(id)]
	delete(s.subscriptions, taskKey(id))
	s.mu.Unlock()
	if own != nil {
		own.end()
	}
}

// stateOf asks a handler for the state of the task that an exchange of askerOf names.
func stateOf(ctx context.Context, h mcp.Handler, of *mcp.Exchange, opts *mcp.ServeOptions) (_ *mcp.TaskState, err error) {
	x := *of
	var result any
	err = func() (err error) {
		defer rescue(ctx, h, x.Method, opts.Logger, &result, &err)
		result, err = h.Serve(ctx, &x)
		return err
	}()
	if err != nil {
		return nil, err
	}
	if state, ok := result.(*mcp.TaskState); ok {
		return state, nil
	}
	doc, err := wire.Marshal(result)
	if err != nil {
		return nil, err
	}
	state := new(mcp.TaskState)
	return state, wire.Unmarshal(doc, state)
}

// isUnknown reports whether an error says that there is no such task, or no longer.
func isUnknown(err error) bool {
	_, invalid := errors.AsType[*mcp.InvalidParamsError](err)
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	return invalid || ok && rpc.Code == jsonrpc.CodeInvalidParams
}
