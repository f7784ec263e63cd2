package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// questions are those of a task in the stateless era, by their keys. Each is asked
// once, whenever the state still has it.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
type questions struct {
	asked   map[string]*asked
	rounds  int // states with new questions
	stale   int // states, in a row, that had nothing but answered questions
	answers chan answered
	// What became of the answers that were sent last: the server refused them, or
	// could not be asked, so many times in a row.
	refusal  error
	failures int
}

// asked is a question that has been asked.
type asked struct {
	raw    json.RawMessage
	answer json.RawMessage    // nil until there is one
	cancel context.CancelFunc // withdraws it
}

// answered is an answer on its way to the follower.
type answered struct {
	key   string
	of    *asked
	value json.RawMessage
	err   error
}

const (
	// maxTaskQuestions bounds the questions of a state.
	maxTaskQuestions = 256
	// patience is how many states in a row may have an answered question before it is
	// answered again: servers need a while, and may lose what they have not stored.
	patience = 5
)

// ask asks the new questions of the state, and withdraws those that it has no longer.
func (f *follower) ask(front *era.StatelessClient) error {
	q := &f.questions
	open := f.state.questions
	if len(open) > maxTaskQuestions {
		return fmt.Errorf("the server asked %d questions at once; this client answers at most %d", len(open), maxTaskQuestions)
	}
	for key, a := range q.asked {
		if open[key] == nil && a.answer == nil {
			a.cancel()
			delete(q.asked, key)
		}
	}
	waits, news := false, false
	for _, key := range slices.Sorted(maps.Keys(open)) {
		a := q.asked[key]
		switch {
		case a == nil:
			waits, news = true, true
			f.pose(front, key, open[key])
		case a.answer == nil:
			waits = true
		case !same(a.raw, open[key]):
			return fmt.Errorf("the server asks another question under the key %q, which was answered before", key)
		}
	}
	if news {
		q.stale = 0
		if q.rounds++; q.rounds > f.c.opts.MaxRounds {
			return fmt.Errorf("the server asked for input more than %d times", f.c.opts.MaxRounds)
		}
	}
	if waits {
		return nil
	}
	if q.refusal != nil {
		return q.refusal // nothing is left with which the server might be content
	}
	if q.stale++; q.stale%patience == 0 && len(open) > 0 {
		return f.update()
	}
	return nil
}

// same reports whether two questions say the same.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err := wire.Canonical(a)
	if err != nil {
		return false
	}
	y, err := wire.Canonical(b)
	return err == nil && bytes.Equal(x, y)
}

// pose has a question answered, like one that the server asks by itself.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
func (f *follower) pose(front *era.StatelessClient, key string, raw json.RawMessage) {
	ctx, cancel := context.WithCancel(f.ctx)
	a := &asked{raw: raw, cancel: cancel}
	if f.questions.asked == nil {
		f.questions.asked = make(map[string]*asked)
	}
	f.questions.asked[key] = a
	f.work.Go(func() { // ends with the following
		defer cancel()
		value, err := front.Reply(ctx, raw)
		select {
		case f.questions.answers <- answered{key, a, value, err}:
		case <-f.ctx.Done():
		}
	})
}

// answered takes an answer, and sends it.
func (f *follower) answered(a answered) error {
	if f.questions.asked[a.key] != a.of {
		return nil // it was withdrawn
	}
	if a.err != nil {
		return fmt.Errorf("cannot answer %q: %w", a.key, a.err)
	}
	a.of.answer = a.value
	return f.update()
}

// update sends the answers to all questions that the server has not been seen to
// know: one that takes no part of the answers gets all of them in the end.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
func (f *follower) update() error {
	p := mcp.UpdateTaskParams{ID: f.t.id, InputResponses: map[string]json.RawMessage{}}
	for key := range f.state.questions {
		if a := f.questions.asked[key]; a != nil && a.answer != nil {
			p.InputResponses[key] = a.answer
		}
	}
	if len(p.InputResponses) == 0 {
		return nil
	}
	_, err := f.request(mcp.MethodUpdateTask, p, f.opts.timeout)
	q := &f.questions
	q.refusal = nil
	switch {
	case err == nil:
		q.failures = 0
		return nil
	case f.ctx.Err() != nil:
		return context.Cause(f.ctx)
	case isPassing(err) && q.failures < maxAttempts:
		q.failures++
		q.stale = patience - 1 // they are sent again if the next state has the questions
		return nil
	case isAnswer(err):
		// Perhaps the task has ended, or somebody else has answered: the state says.
		q.refusal = err
		return f.look()
	}
	return err
}
