package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// fetch is the request for the result of a task, in a session. Through it the server
// asks what the task needs to know, so it is made before the task has ended, too.
//
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
type fetch struct {
	on       bool // it has been made, and not been answered
	failures int
	done     chan fetched
	// refusal is what the server has answered before the task had ended. It is asked
	// again when the task has ended, or has another question; after a pause, if the
	// refusal may pass.
	refusal error
	refused time.Time // when
	times   int       // in a row
}

// waits reports whether a request that was refused is not to be made again yet.
func (f *fetch) waits() bool {
	return f.refusal != nil && !(isPassing(f.refusal) && time.Since(f.refused) >= pauseBefore(min(f.times, maxAttempts)))
}

// isHopeless reports whether it is of no use to make it again.
func (f *fetch) isHopeless() bool {
	return f.refusal != nil && (f.times > maxAttempts || !isPassing(f.refusal))
}

type fetched struct {
	raw json.RawMessage
	err error
}

// actSession is actStateless for a session.
//
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
func (f *follower) actSession() (over bool, err error) {
	switch s := f.state.Status; {
	case s.Final():
		f.fetchResult()
	case s != mcp.TaskInputRequired:
		f.fetch.refusal, f.fetch.times = nil, 0
	case f.untilAnswered && f.fetch.isHopeless():
		return true, f.fetch.refusal
	case !f.fetch.waits():
		f.fetchResult()
	}
	return false, nil
}

// fetchResult asks for the result, unless that has been done.
func (f *follower) fetchResult() {
	if f.fetch.on {
		return
	}
	f.fetch.on = true
	f.work.Go(func() { // ends with the following
		raw, err := f.request(mcp.MethodTaskResult, mcp.TaskParams{ID: f.t.id}, -1)
		f.fetch.done <- fetched{raw, err}
	})
}

// fetched takes the answer to the request for the result. An error of the server is
// that of the call if the task has ended; if it has not, the server may refuse to wait
// for that.
func (f *follower) fetched(got fetched) error {
	f.fetch.on = false
	switch {
	case got.err == nil && (len(got.raw) == 0 || got.raw[0] != '{'):
		return fmt.Errorf("%s: the server sent a malformed result: it must be an object", mcp.MethodTaskResult)
	case got.err == nil && saysNothing(got.raw) && f.hasFailed():
		return f.unexplained()
	case got.err == nil:
		f.result = got.raw
		return nil
	case f.ctx.Err() != nil:
		return nil // rest finds out why
	}
	var rpc *jsonrpc.Error
	switch {
	case errors.As(got.err, &rpc) && f.state.Status.Final():
		f.failure = f.callFailed(rpc)
		return nil
	case rpc != nil:
		f.fetch.refusal, f.fetch.refused = got.err, time.Now()
		f.fetch.times++
		return f.look()
	}
	if f.fetch.failures++; f.fetch.failures > maxAttempts || !isPassing(got.err) {
		return got.err
	}
	f.looked, f.failures = time.Now(), f.fetch.failures
	return nil
}

// saysNothing reports whether a result is that of a call that has returned nothing.
func saysNothing(result json.RawMessage) bool {
	content := wire.Find(result, "content")
	return (content == nil || string(content) == "[]") && wire.Find(result, "structuredContent") == nil && !toolresult.Failed(result)
}

// hasFailed reports whether the server says that the task has failed, now that there is
// a result.
func (f *follower) hasFailed() bool {
	return (f.state.Status.Final() || f.look() == nil) && f.state.Status == mcp.TaskFailed
}
