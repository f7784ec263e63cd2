package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Input implements mcp.Backchannel. In a task it returns what the client has
// answered; questions that it has not make the handler end, and the task wait.
func (r *taskRun) Input(ctx context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	if answers, passed, err := r.inputBefore(ctx, questions); passed {
		return answers, err
	}
	t := r.known()
	answers := make([]json.RawMessage, len(questions))
	open := new(mcp.InputRequired)
	for i, q := range questions {
		if err := question.Missing(q, &r.x.Peer.Capabilities); err != nil {
			return nil, err
		}
		a, ok := t.Answers[q.Key]
		switch {
		case !ok:
			q.Task = r.id
			open.Requests = append(open.Requests, q)
		case a.Result == nil:
			return nil, errors.New(a.Failed)
		}
		answers[i] = a.Result
	}
	if len(open.Requests) > 0 {
		r.mu.Lock()
		r.unasked = open
		r.mu.Unlock()
		return nil, open
	}
	return answers, nil
}

// inputBefore asks in the way of the exchange, if the call is not a task, and
// remembers the answers in case it becomes one.
func (r *taskRun) inputBefore(ctx context.Context, questions []mcp.InputRequest) (answers []json.RawMessage, passed bool, err error) {
	r.way.RLock()
	defer r.way.RUnlock()
	if r.live {
		return nil, false, nil
	}
	answers, err = r.back.Input(ctx, questions...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, asks := errors.AsType[*mcp.InputRequired](err); asks {
		r.leaving = true
	}
	for i := 0; err == nil && i < len(answers); i++ {
		known := maps.Clone(r.draft.Answers)
		if known == nil {
			known = map[string]inputAnswer{}
		}
		known[questions[i].Key] = inputAnswer{Result: answers[i]}
		r.draft.Answers = known
	}
	return answers, true, err
}

// park stores the questions that the handler ended with: the task waits for the
// answers, without a run.
//
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
func (r *taskRun) park(ask *mcp.InputRequired) error {
	asked := make([]askedInput, 0, len(ask.Requests))
	for _, q := range ask.Requests {
		if err := question.Missing(q, &r.x.Peer.Capabilities); err != nil {
			return r.conclude(failedBy(taskError(err)))
		}
		a := askedInput{Key: q.Key, Method: q.Method}
		if q.Params != nil {
			raw, err := wire.Marshal(q.Params)
			if err != nil {
				return r.conclude(failedBy(taskError(fmt.Errorf("question %q: %w", q.Key, err))))
			}
			a.Params = raw
		}
		asked = append(asked, a)
	}
	err := r.save(r.ctx, func(t *task) {
		t.Run, t.Lease, t.Crashes = "", time.Time{}, 0
		if ask.State != nil {
			t.State = ask.State
		}
		r.goneSoFar(t)
		if len(asked) == 0 { // it wants to run again, later
			t.free(true)
			return
		}
		t.ask(asked)
		t.set(mcp.TaskInputRequired, r.takeLatest(t.Message))
	})
	if err == nil {
		r.e.publish(r.id)
		return nil
	}
	if isStop(err) {
		return err
	}
	return r.conclude(r.unstorable("what the task asks", err))
}

// ask makes questions the open ones. Each has a key that the client has not seen
// before, even if the handler asks again under a key of its own.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
func (t *task) ask(questions []askedInput) {
	t.Asked, t.UsedKeys, t.Answers = slices.Clone(questions), slices.Clone(t.UsedKeys), maps.Clone(t.Answers)
	for i := range t.Asked {
		q := &t.Asked[i]
		q.Sent = q.Key
		for n := 2; slices.Contains(t.UsedKeys, q.Sent); n++ {
			q.Sent = fmt.Sprintf("%s (%d)", q.Key, n)
		}
		t.UsedKeys = append(t.UsedKeys, q.Sent)
		delete(t.Answers, q.Key)
	}
}

// Notify implements mcp.Backchannel. Progress becomes the message of the task.
// Notifications reach the client of a session only, where there is still a way.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-progress-notifications.
// Spec: ext-tasks/draft tasks#task-status-notifications.
func (r *taskRun) Notify(ctx context.Context, method string, params any) error {
	live := r.isLive()
	if method == mcp.NoteProgress {
		further := r.report(ctx, params, live)
		if !further || r.draft.Token.IsZero() {
			return nil
		}
	}
	if !live {
		return r.back.Notify(ctx, method, params)
	}
	backs := r.backs()
	if len(backs) == 0 {
		r.x.Drop(mcp.DropNotWanted, method, nil)
		return nil
	}
	ctx = related.To(ctx, r.id)
	var errs []error
	for _, back := range backs {
		errs = append(errs, back.Notify(ctx, method, params))
	}
	return errors.Join(errs...)
}

// LogEnabled implements mcp.Backchannel.
func (r *taskRun) LogEnabled(level mcp.LoggingLevel) bool {
	if !r.isLive() {
		return r.back.LogEnabled(level)
	}
	return slices.ContainsFunc(r.backs(), func(b mcp.Backchannel) bool { return b.LogEnabled(level) })
}

func (r *taskRun) isLive() bool {
	r.way.RLock()
	defer r.way.RUnlock()
	return r.live
}

// backs are the ways to the session that asked for the task: exchanges of it that
// wait for the result or, if there are none, the one that the task began in.
func (r *taskRun) backs() []mcp.Backchannel {
	if !r.x.Task.Demanded {
		return nil
	}
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	var backs []mcp.Backchannel
	for _, l := range r.e.waiting[r.id] {
		if l.session == r.x.Peer.SessionID {
			backs = append(backs, l.back)
		}
	}
	if len(backs) == 0 && r.back != nil {
		return []mcp.Backchannel{r.back}
	}
	return backs
}

// report makes progress the message of the task. It is stored as often as clients
// are told to poll. It reports whether that is further than the client knows: a
// handler that runs again after a question passes what it has passed before.
//
// Spec: 2025-11-25 basic/utilities/progress#progress-flow.
func (r *taskRun) report(ctx context.Context, params any, live bool) (further bool) {
	p, ok := params.(*mcp.ProgressParams)
	if raw, isRaw := params.(json.RawMessage); isRaw {
		p = new(mcp.ProgressParams)
		ok = wire.Unmarshal(raw, p) == nil
	}
	if !ok {
		return true
	}
	now := time.Now()
	r.mu.Lock()
	if further = r.far == nil || p.Progress > *r.far; further {
		r.far = &p.Progress
	}
	r.latest = progressMessage(p)
	due := live && now.Sub(r.saved) >= r.e.opts.PollInterval
	if due {
		r.saved = now
	}
	r.mu.Unlock()
	if due && r.renew(ctx) == nil {
		r.e.publish(r.id)
	}
	return further
}

// goneSoFar notes in a task how far the client knows it to be.
func (r *taskRun) goneSoFar(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.far != nil {
		t.Far = r.far
	}
}

func progressMessage(p *mcp.ProgressParams) string {
	switch {
	case p.Message != "":
		return p.Message
	case p.Total > 0:
		return fmt.Sprintf("%g of %g", p.Progress, p.Total)
	}
	return fmt.Sprintf("%g", p.Progress)
}

// renew extends the lease, and stores the newest message.
func (r *taskRun) renew(ctx context.Context) error {
	return r.save(ctx, func(t *task) {
		r.goneSoFar(t)
		if message := r.takeLatest(t.Message); message != t.Message {
			t.set(t.Status, message)
		}
	})
}

// takeLatest returns the newest message, or old if there is none.
func (r *taskRun) takeLatest(old string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest == "" {
		return old
	}
	return r.latest
}

// grown returns the task that the call becomes, with what it has learnt so far. way
// is held.
func (r *taskRun) grown() *task {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := *r.draft
	t.Message, t.Learnt = r.latest, r.notes.before()
	return &t
}
