package client_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// fakeTasks is a server with one tool, "work", whose calls are tasks. What it answers
// is up to each test; by default it works for three seconds, and then has a result.
type fakeTasks struct {
	support mcp.TaskSupport // required if empty
	// plain answers a call that is not to be a task, and create one that is.
	plain, create func(x *mcp.Exchange) (any, error)
	// get answers the nth request for the state, beginning with 1; age is how old the
	// task is.
	get func(f *fakeTasks, n int, age time.Duration) (any, error)
	// result answers tasks/result; by default it waits for a final state.
	result func(ctx context.Context, f *fakeTasks, x *mcp.Exchange) (any, error)
	update func(f *fakeTasks, answers map[string]json.RawMessage) error
	cancel func(ctx context.Context) error
	listen bool            // subscriptions are honoured
	lie    string          // the notification to be sent by com.example/lie, many times
	noList bool            // tools are not listed
	list   json.RawMessage // the answer to tasks/list; nil is one task

	mu       sync.Mutex
	born     time.Time
	gets     []time.Duration // when the state was asked for
	methods  []string
	answers  map[string]json.RawMessage
	ended    bool // cancelled
	watching int
}

const taskID = "task-1"

func (f *fakeTasks) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{
		Info: mcp.Implementation{Name: "fake", Version: "1"},
		Capabilities: mcp.ServerCapabilities{
			Tools: &mcp.ListCapability{},
			Tasks: &mcp.TasksCapability{
				List: &mcp.Empty{}, Cancel: &mcp.Empty{},
				Requests: mcp.TaskRequests{Tools: &mcp.ToolTasks{Call: &mcp.Empty{}}},
			},
			Extensions: map[string]json.RawMessage{mcp.ExtensionTasks: json.RawMessage("{}")},
		},
	}
}

func (f *fakeTasks) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	f.mu.Lock()
	f.methods = append(f.methods, x.Method)
	f.mu.Unlock()
	if x.Watch != nil {
		return f.watch(x)
	}
	switch x.Method {
	case "com.example/lie":
		for range 100 {
			_ = x.Back.Notify(ctx, f.lie, completed(`{"sum":0}`))
		}
		return raw("{}"), nil
	case mcp.MethodListTools:
		if f.noList {
			return &mcp.ListToolsResult{Tools: []*mcp.Tool{}}, nil
		}
		return &mcp.ListToolsResult{Tools: []*mcp.Tool{f.tool()}}, nil
	case mcp.MethodCallTool:
		return f.call(x)
	case mcp.MethodListTasks:
		if f.list != nil {
			return f.list, nil
		}
		return &mcp.ListTasksResult{Tasks: []*mcp.Task{{ID: taskID, Status: mcp.TaskWorking}}}, nil
	}
	if mcp.MethodNamed(x.Method).SubjectOf(x.Params) != taskID {
		return nil, mcp.InvalidParams("no such task")
	}
	switch x.Method {
	case mcp.MethodGetTask:
		return f.state(true)
	case mcp.MethodTaskResult:
		return f.serveResult(ctx, x)
	case mcp.MethodUpdateTask:
		return f.updated(x)
	case mcp.MethodCancelTask:
		return f.cancelled(ctx)
	}
	return nil, &mcp.MethodNotFoundError{Method: x.Method}
}

func (f *fakeTasks) tool() *mcp.Tool {
	support := f.support
	if support == "" {
		support = mcp.TaskRequired
	}
	return &mcp.Tool{
		Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`), Execution: &mcp.ToolExecution{TaskSupport: support},
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"sum":{"type":"number"}}}`),
	}
}

// call makes a task wherever the client takes one.
func (f *fakeTasks) call(x *mcp.Exchange) (any, error) {
	var p struct {
		Task json.RawMessage `json:"task"`
	}
	_ = json.Unmarshal(x.Params, &p)
	f.mu.Lock()
	f.born = time.Now()
	f.mu.Unlock()
	_, takes := x.Peer.Capabilities.Extensions[mcp.ExtensionTasks]
	switch {
	case p.Task == nil && !takes && f.plain != nil:
		return f.plain(x)
	case p.Task == nil && !takes:
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the tool can only be called as a task")
	case f.create != nil:
		return f.create(x)
	}
	return &mcp.CreateTaskResult{Task: *working("begun")}, nil
}

func working(message string) *mcp.Task {
	return &mcp.Task{ID: taskID, Status: mcp.TaskWorking, StatusMessage: message, CreatedAt: "2026-07-28T00:00:00Z", LastUpdatedAt: "2026-07-28T00:00:00Z"}
}

// state returns the state now. poll says that it was asked for by tasks/get.
func (f *fakeTasks) state(poll bool) (any, error) {
	f.mu.Lock()
	age := time.Since(f.born)
	if poll {
		f.gets = append(f.gets, age)
	}
	n, ended := len(f.gets), f.ended
	f.mu.Unlock()
	if ended {
		s := stateOf(mcp.TaskCancelled)
		return s, nil
	}
	if f.get != nil {
		return f.get(f, n, age)
	}
	if age < 3*time.Second {
		return stateOf(mcp.TaskWorking), nil
	}
	return completed(`{"sum":3}`), nil
}

func stateOf(status mcp.TaskStatus) *mcp.TaskState {
	s := &mcp.TaskState{Task: *working("")}
	s.Status = status
	return s
}

func completed(structured string) *mcp.TaskState {
	s := stateOf(mcp.TaskCompleted)
	s.Result = resultOf(structured)
	return s
}

func resultOf(structured string) json.RawMessage {
	return raw(`{"content":[{"type":"text","text":"done"}],"structuredContent":%s}`, structured)
}

func asking(questions map[string]string) *mcp.TaskState {
	s := stateOf(mcp.TaskInputRequired)
	s.InputRequests = map[string]*mcp.InputRequest{}
	for key, message := range questions {
		s.InputRequests[key] = &mcp.InputRequest{Key: key, Method: mcp.MethodElicit, Params: nameForm(message)}
	}
	return s
}

func nameForm(message string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}
}

// serveResult waits for a final state, and asks the open questions meanwhile.
func (f *fakeTasks) serveResult(ctx context.Context, x *mcp.Exchange) (any, error) {
	if f.result != nil {
		return f.result(ctx, f, x)
	}
	for {
		got, err := f.state(false)
		if err != nil {
			return nil, err
		}
		s := got.(*mcp.TaskState)
		if s.Status.Final() {
			if s.Error != nil {
				return nil, s.Error
			}
			r := new(mcp.CallToolResult)
			return r, json.Unmarshal(s.Result, r)
		}
		for key, q := range s.InputRequests {
			ask := *q
			ask.Task = taskID
			answers, err := x.Back.Input(ctx, ask)
			if err != nil {
				return nil, err
			}
			f.know(map[string]json.RawMessage{key: answers[0]})
		}
		if !sleep(ctx, 250*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *fakeTasks) know(answers map[string]json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answers == nil {
		f.answers = map[string]json.RawMessage{}
	}
	maps.Copy(f.answers, answers)
}

func (f *fakeTasks) knows(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answers[key] != nil
}

func (f *fakeTasks) updated(x *mcp.Exchange) (any, error) {
	var p mcp.UpdateTaskParams
	if err := json.Unmarshal(x.Params, &p); err != nil {
		return nil, err
	}
	if f.update != nil {
		if err := f.update(f, p.InputResponses); err != nil {
			return nil, err
		}
	}
	f.know(p.InputResponses)
	return &mcp.EmptyResult{}, nil
}

func (f *fakeTasks) cancelled(ctx context.Context) (any, error) {
	if f.cancel != nil {
		if err := f.cancel(ctx); err != nil {
			return nil, err
		}
	}
	f.end(true)
	return stateOf(mcp.TaskCancelled), nil
}

func (f *fakeTasks) end(cancelled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = cancelled
}

func (f *fakeTasks) isEnded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

func (f *fakeTasks) watch(x *mcp.Exchange) (any, error) {
	if !f.listen {
		return &mcp.Watching{Stop: func() {}}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching++
	return &mcp.Watching{Filter: x.Watch.Filter, Stop: func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.watching--
	}}, nil
}

// count returns how often a method was called.
func (f *fakeTasks) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(f.methods), func(m string) bool { return m != method }))
}

// taskModes are those in which tasks exist.
func taskModes() []mcptest.Mode {
	var modes []mcptest.Mode
	for _, transport := range []string{mcptest.Memory, mcptest.Lines, mcptest.HTTP} {
		for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
			modes = append(modes, mcptest.Mode{Revision: r, Transport: transport})
		}
	}
	return modes
}

func sessionMode(m mcptest.Mode) bool { return m.Revision == mcp.Revision20251125 }

// withTasks runs a test in a bubble of its own for each mode that has tasks. The
// client knows the tools.
func withTasks(t *testing.T, fake func() *fakeTasks, o client.Options, body func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode)) {
	t.Helper()
	for _, m := range taskModes() {
		t.Run(m.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fake()
				c := mcptest.Connect(t, f, m, &o)
				if _, err := client.Collect(c.Tools(t.Context())); err != nil {
					t.Fatal(err)
				}
				body(t, c, f, m)
			})
		})
	}
}

// naming answers each form with a name, and notes what was asked.
type naming struct {
	mu    sync.Mutex
	asked []string
	wait  time.Duration
}

func (n *naming) elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	n.mu.Lock()
	n.asked = append(n.asked, p.Message)
	n.mu.Unlock()
	if !sleep(ctx, n.wait) {
		return nil, context.Cause(ctx)
	}
	return accept("Ada"), nil
}
