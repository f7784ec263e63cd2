package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/server/taskstore"
)

// OnceInterruptedError says that the process ended while a function given to Once
// ran in a task, so that nobody knows what came of it. Once does not run it again. A
// handler that can find out itself does so; otherwise it returns the error, and the
// task fails.
type OnceInterruptedError struct{ Key string }

// Error names the key.
func (e *OnceInterruptedError) Error() string {
	return fmt.Sprintf("%q was interrupted: the process ended while it ran, so it is not known whether it took effect, and it is not repeated", e.Key)
}

// notebook is what a run knows of the journal of its task. Before there is a task,
// it holds what the journal will begin with.
//
// Each attempt at something that must not happen twice has an entry before it begins.
// If it fails, there is another, and the next attempt has a number of its own. One
// without a result may have taken effect.
type notebook struct {
	stored bool // there may be a journal in the store, which has not been read

	mu      sync.Mutex // guards the fields below
	entries map[string]json.RawMessage
	busy    map[string]chan struct{} // closed when the key is free again
}

func begunEntry(n int, key string) string  { return "begun/" + strconv.Itoa(n) + "/" + key }
func failedEntry(n int, key string) string { return "failed/" + strconv.Itoa(n) + "/" + key }
func doneEntry(key string) string          { return "done/" + key }

// before returns the entries that a journal begins with.
func (n *notebook) before() map[string]json.RawMessage {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.entries)
}

func (n *notebook) get(entry string) (json.RawMessage, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	value, ok := n.entries[entry]
	return value, ok
}

func (n *notebook) put(entry string, value json.RawMessage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.entries == nil {
		n.entries = map[string]json.RawMessage{}
	}
	n.entries[entry] = value
}

func (n *notebook) drop(entry string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.entries, entry)
}

// reserve waits until nobody else of the same run is busy with a key.
func (n *notebook) reserve(ctx context.Context, key string) (free func(), err error) {
	for {
		n.mu.Lock()
		others := n.busy[key]
		if others == nil {
			mine := make(chan struct{})
			if n.busy == nil {
				n.busy = map[string]chan struct{}{}
			}
			n.busy[key] = mine
			n.mu.Unlock()
			return func() {
				n.mu.Lock()
				delete(n.busy, key)
				n.mu.Unlock()
				close(mine)
			}, nil
		}
		n.mu.Unlock()
		select {
		case <-others:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Once implements mcp.Backchannel.
func (r *taskRun) Once(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return r.keep(ctx, key, f, true)
}

// Step is Once for what has no effect: it may be repeated.
func (r *taskRun) Step(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return r.keep(ctx, key, f, false)
}

// keep returns what the journal knows under a key, or runs f and writes that down.
func (r *taskRun) keep(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error), effects bool) (json.RawMessage, error) {
	free, err := r.notes.reserve(ctx, key)
	if err != nil {
		return nil, err
	}
	defer free()
	live, n, done, err := r.open(ctx, key, effects)
	if err != nil || done != nil {
		return done, err
	}
	var result json.RawMessage
	if live {
		result, err = f(ctx)
	} else {
		result, err = r.back.Once(ctx, key, f)
	}
	return r.settle(ctx, n, key, result, err, effects)
}

// open looks a key up, and notes that its attempt number n begins. live says that the
// call is a task.
func (r *taskRun) open(ctx context.Context, key string, effects bool) (live bool, n int, done json.RawMessage, err error) {
	r.way.RLock()
	defer r.way.RUnlock()
	if r.live {
		if err := r.read(ctx); err != nil {
			return true, 0, nil, err
		}
	}
	if done, ok := r.notes.get(doneEntry(key)); ok {
		return r.live, 0, done, nil
	}
	for n = 1; ; n++ {
		if _, begun := r.notes.get(begunEntry(n, key)); !begun {
			break
		}
		if _, failed := r.notes.get(failedEntry(n, key)); !failed {
			return r.live, 0, nil, &OnceInterruptedError{key}
		}
	}
	if effects {
		err = r.write(ctx, begunEntry(n, key), nil)
	}
	if errors.Is(err, taskstore.ErrExists) { // by a run that has lost its lease and does not know it yet
		err = &OnceInterruptedError{key}
	}
	return r.live, n, nil, err
}

// settle notes how an attempt ended. The call may have become a task meanwhile.
func (r *taskRun) settle(ctx context.Context, n int, key string, result json.RawMessage, failed error, effects bool) (json.RawMessage, error) {
	r.way.RLock()
	defer r.way.RUnlock()
	if failed != nil {
		if !r.live {
			r.notes.drop(begunEntry(n, key))
		} else if effects {
			_ = r.write(ctx, failedEntry(n, key), nil) // the task fails if that fails
		}
		return nil, failed
	}
	if result == nil {
		result = json.RawMessage("null")
	}
	err := r.write(ctx, doneEntry(key), result)
	if !effects && errors.Is(err, taskstore.ErrExists) { // likewise, and one result is as good as the other
		return result, nil
	}
	return result, err
}

// read reads the journal, unless that was done before.
func (r *taskRun) read(ctx context.Context) error {
	r.notes.mu.Lock()
	defer r.notes.mu.Unlock()
	if !r.notes.stored {
		return nil
	}
	stored, err := r.e.opts.Store.Journal(ctx, r.id)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return r.breakOff(err)
	}
	r.notes.entries = maps.Clone(r.draft.Learnt)
	if r.notes.entries == nil {
		r.notes.entries = make(map[string]json.RawMessage, len(stored))
	}
	for entry, value := range stored {
		r.notes.entries[entry] = value
	}
	r.notes.stored = false
	return nil
}

// write adds an entry to the journal, or to what it will begin with. If that fails,
// the task does: it could not be gone on with. way is held.
func (r *taskRun) write(ctx context.Context, entry string, value json.RawMessage) error {
	if r.live {
		if err := r.append(ctx, entry, value); err != nil {
			return err
		}
	}
	r.notes.put(entry, value)
	return nil
}

func (r *taskRun) append(ctx context.Context, entry string, value json.RawMessage) error {
	ctx, done := r.e.always(ctx)
	defer done()
	err := r.e.opts.Store.Append(ctx, r.id, entry, value)
	switch {
	case err == nil || errors.Is(err, taskstore.ErrExists):
		return err
	case errors.Is(err, taskstore.ErrNotFound):
		r.stop(errTaskExpired)
		return errTaskExpired
	case errors.Is(err, taskstore.ErrTooLarge):
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "a result of Once or Step is too large for the store of tasks")
	}
	return r.breakOff(err)
}
