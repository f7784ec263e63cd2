package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// taskState is the state of a task as a server has sent it.
type taskState struct {
	mcp.TaskState
	questions map[string]json.RawMessage // its open ones, in their raw form
}

// readTaskState reads the state of a task whose ID is known, or "".
func readTaskState(id string, raw json.RawMessage) (*taskState, error) {
	s := new(taskState)
	err := errors.New("it must be an object")
	if len(raw) > 0 && raw[0] == '{' {
		raw = era.WholeTimes(raw)
		err = wire.Unmarshal(raw, &s.TaskState)
	}
	if questions := wire.Find(raw, "inputRequests"); err == nil && questions != nil {
		err = wire.Unmarshal(questions, &s.questions)
	}
	switch {
	case err != nil:
	case s.ID == "":
		err = errors.New("it has no taskId")
	case id != "" && s.ID != id:
		err = fmt.Errorf("it is that of another task, %.100q", s.ID)
	case s.Status == "":
		err = errors.New("it has no status")
	}
	if err != nil {
		return nil, fmt.Errorf("the server sent a malformed state of a task: %w", err)
	}
	return s, nil
}

// withQuestions returns the state with its questions as the server sent them.
func (s *taskState) withQuestions() (*mcp.TaskState, error) {
	s.InputRequests = nil
	for key, raw := range s.questions {
		method, params, err := era.ReadQuestion(raw)
		if err != nil {
			return nil, fmt.Errorf("the server's question %q: %w", key, err)
		}
		q := &mcp.InputRequest{Key: key, Method: method}
		if params != nil {
			q.Params = params
		}
		if s.InputRequests == nil {
			s.InputRequests = make(map[string]*mcp.InputRequest, len(s.questions))
		}
		s.InputRequests[key] = q
	}
	return &s.TaskState, nil
}

// longestPoll bounds the time between two requests for the state of a task.
const longestPoll = 5 * time.Minute

// interval returns how long to wait before the next request for the state.
//
// Spec: ext-tasks/draft tasks#task-polling.
func (s *taskState) interval() time.Duration {
	return related.PollAfter(s.PollIntervalMs, longestPoll)
}

// lifetime returns how long the server keeps the task from its creation on; 0 says
// nothing.
func (s *taskState) lifetime() time.Duration {
	if s.TTLMs == nil || *s.TTLMs <= 0 {
		return 0
	}
	return milliseconds(*s.TTLMs)
}

// milliseconds converts n, which must not be negative, however large it is.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}
