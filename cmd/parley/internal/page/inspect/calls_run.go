package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// cancelling is how long the server may take to be told that a task is to end.
const cancelling = 5 * time.Second

// run makes the call, and keeps what becomes of it.
func (k *call) run(ctx context.Context, cl *client.Client) {
	result, err := k.ask(ctx, cl)
	k.endTask(ctx, cl, err)
	k.settleTask(ctx, cl, err)
	var check *outputCheck
	if tool := k.tool(); err == nil && tool != "" {
		check = k.connection.checkOutput(ctx, tool, result)
	}
	k.find()
	k.mu.Lock()
	k.Ended, k.result, k.check = time.Now(), result, check
	k.State, k.err = k.outcome(err)
	close(k.done)
	task := k.taskKey
	k.mu.Unlock()
	k.changed()
	if task != "" {
		k.connection.publish("task", map[string]string{"key": task}) // nobody follows it any more
	}
}

// ask returns the raw result: of a task, if the call becomes one.
func (k *call) ask(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
	opts := k.options()
	if k.wanted.task != nil {
		return k.wanted.task.WaitRaw(ctx, opts...)
	}
	name, args, meta, simple := toolCall(k.Method, k.Params)
	if k.Task && simple {
		for key, value := range meta {
			opts = append(opts, client.WithMeta(key, value))
		}
		opts = append(opts, client.WithTask(time.Duration(k.wanted.TTL)*time.Millisecond))
		task, err := k.start(ctx, cl, name, args, opts)
		if err != nil {
			return nil, err
		}
		return task.WaitRaw(ctx, client.WithTaskLeft())
	}
	raw, err := k.send(ctx, cl, opts)
	if err != nil || !related.IsTask(raw) {
		return raw, err
	}
	id, _ := wire.Text(wire.Find(raw, "taskId"))
	k.becameTask(&mcp.Task{ID: id, Status: mcp.TaskWorking})
	return cl.Task(id, name).WaitRaw(ctx, opts...)
}

// send makes a call whose request is known when it is seen on the wire.
func (k *call) send(ctx context.Context, cl *client.Client, opts []client.CallOption) (json.RawMessage, error) {
	done := k.book.sends.next(k)
	defer done()
	return cl.Do(ctx, k.Method, k.Params, opts...)
}

func (k *call) start(ctx context.Context, cl *client.Client, name string, args json.RawMessage, opts []client.CallOption) (*client.Task, error) {
	done := k.book.sends.next(k)
	defer done()
	task, err := cl.StartTask(ctx, name, args, opts...)
	if err == nil && task.ID() != "" {
		k.becameTask(&mcp.Task{ID: task.ID(), Status: mcp.TaskWorking})
	}
	return task, err
}

func (k *call) options() []client.CallOption {
	opts := []client.CallOption{
		client.WithProgress(nil),
		client.WithNotifications(k.heard),
		client.WithTaskStatus(k.becameTask),
		client.WithTaskLeft(), // endTask decides
	}
	if k.wanted.Timeout > 0 {
		opts = append(opts, client.WithTimeout(time.Duration(k.wanted.Timeout)*time.Millisecond))
	}
	if k.wanted.LogLevel != "" {
		opts = append(opts, client.WithLogLevel(k.wanted.LogLevel))
	}
	return opts
}

// heard takes a notification of the call.
func (k *call) heard(_ context.Context, method string, params json.RawMessage) {
	n := note{Time: time.Now(), Method: method, Params: append(json.RawMessage{}, params...)}
	if method == mcp.NoteMessage {
		partOf[logBook](k.connection).hear(k.connection, n.Params, k.ID)
	}
	k.mu.Lock()
	switch method {
	case mcp.NoteProgress:
		k.progress.add(n, maxProgress)
	case mcp.NoteMessage:
		k.logs.add(n, maxHeard)
	default:
		k.notes.add(n, maxHeard)
	}
	k.mu.Unlock()
	k.changed()
}

// becameTask takes the state of the call's task.
func (k *call) becameTask(t *mcp.Task) {
	now := *t
	known := k.connection.sawTask(&now, k.tool())
	k.mu.Lock()
	k.task, k.taskKey = &now, known.Key
	k.mu.Unlock()
	k.changed()
}

// follows reports whether the call waits for the end of a task.
func (k *call) follows(id string) bool {
	if k.wanted.task != nil {
		return k.running() && k.wanted.task.ID() == id
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running() && k.task != nil && k.task.ID == id
}

// endTask asks the server to end the task of a call that was cancelled.
func (k *call) endTask(ctx context.Context, cl *client.Client, err error) {
	k.mu.Lock()
	task, leave := k.task, k.leave
	k.mu.Unlock()
	if task == nil || leave || !wasStopped(ctx, err) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelling)
	defer cancel()
	// Whoever wanted the call to end is told of that in any case.
	_ = cl.Task(task.ID, "").Cancel(ctx)
}

// settleTask learns how the task of a call has ended, if that is not known: in a session,
// the result comes without the state.
func (k *call) settleTask(ctx context.Context, cl *client.Client, err error) {
	k.mu.Lock()
	task, leave := k.task, k.leave
	k.mu.Unlock()
	if task == nil || task.Status.Final() || leave || err != nil && !wasStopped(ctx, err) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelling)
	defer cancel()
	if state, err := cl.Task(task.ID, "").Status(ctx); err == nil {
		k.becameTask(&state.Task)
	}
}

// wasStopped reports whether somebody has cancelled the call with this context and error.
func wasStopped(ctx context.Context, err error) bool {
	var user *stopped
	return err != nil && errors.As(context.Cause(ctx), &user)
}

// callError is why a call has no result.
type callError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
	// RPC is the error of the protocol, if the server has sent one.
	RPC *jsonrpc.Error `json:"rpc,omitzero"`
}

// outcome says what an error means for the call. Who calls it holds k.mu.
func (k *call) outcome(err error) (callState, *callError) {
	var user *stopped
	switch {
	case err == nil:
		return callDone, nil
	case errors.As(err, &user) && k.leave && k.task != nil:
		return callLeft, nil
	case errors.As(err, &user):
		return callCancelled, &callError{Code: "cancelled", Message: user.Error()}
	}
	why := k.connection.explain(err)
	failure := &callError{Code: why.Code, Message: why.Message, Hint: why.Hint}
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		failure.RPC = rpc
	}
	return callFailed, failure
}

// tool returns the name of the tool that is called, or "".
func (k *call) tool() string {
	if k.Method == mcp.MethodCallTool {
		return subject(k.Params)
	}
	return k.wanted.tool
}

// toolCall returns what the params of tools/call say. simple says that there is nothing
// else in them.
func toolCall(method string, params json.RawMessage) (name string, args json.RawMessage, meta map[string]json.RawMessage, simple bool) {
	if method != mcp.MethodCallTool {
		return "", nil, nil, false
	}
	simple = true
	for key, value := range wire.Each(params) {
		switch string(key) {
		case "name":
			name, _ = wire.Text(value)
		case "arguments":
			args = value
		case "_meta":
			simple = wire.Unmarshal(value, &meta) == nil && simple
		default:
			simple = false
		}
	}
	return name, args, meta, simple
}

// subject returns what a call is about: the name of a tool or a prompt, or a URI.
func subject(params json.RawMessage) string {
	for _, member := range []string{"name", "uri", "taskId"} {
		if text, ok := wire.Text(wire.Find(params, member)); ok {
			return text
		}
	}
	return ""
}
