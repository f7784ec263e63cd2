package era

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// desk is a handler with one task, "t1", that the test moves along.
type desk struct {
	mu      sync.Mutex
	caps    mcp.ServerCapabilities
	state   *mcp.TaskState // nil: unknown
	deliver func(mcp.Change)
	stopped int
	gets    []*mcp.Exchange
	call    func(ctx context.Context, x *mcp.Exchange) (any, error)
}

func newDesk() *desk {
	return &desk{
		caps: mcp.ServerCapabilities{
			Tools: &mcp.ListCapability{}, Tasks: &mcp.TasksCapability{Cancel: &mcp.Empty{}, Requests: mcp.TaskRequests{Tools: &mcp.ToolTasks{Call: &mcp.Empty{}}}},
			Extensions: map[string]json.RawMessage{mcp.ExtensionTasks: json.RawMessage("{}")},
		},
		state: &mcp.TaskState{Task: mcp.Task{ID: "t1", Status: mcp.TaskWorking, CreatedAt: "c", LastUpdatedAt: "l"}},
	}
}

func (d *desk) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{Info: mcp.Implementation{Name: "s", Version: "1"}, Capabilities: d.caps}
}

func (d *desk) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case x.Watch != nil:
		d.deliver = x.Watch.Deliver
		filter := x.Watch.Filter
		filter.TaskIDs = slices.DeleteFunc(slices.Clone(filter.TaskIDs), func(id string) bool { return id != "t1" })
		return &mcp.Watching{Filter: filter, Stop: func() { d.mu.Lock(); defer d.mu.Unlock(); d.stopped++ }}, nil
	case x.Method == mcp.MethodGetTask:
		d.gets = append(d.gets, x)
		if d.state == nil {
			return nil, mcp.InvalidParams("unknown task")
		}
		state := *d.state
		return &state, nil
	case d.call != nil:
		return d.call(ctx, x)
	}
	return &mcp.CreateTaskResult{Task: d.state.Task}, nil
}

// becomes changes the task, and says so.
func (d *desk) becomes(status mcp.TaskStatus, message string) {
	d.mu.Lock()
	if status == "" {
		d.state = nil
	} else {
		d.state.Status, d.state.StatusMessage = status, message
	}
	deliver := d.deliver
	d.mu.Unlock()
	deliver(mcp.Change{Kind: mcp.TaskChanged, URI: "t1"})
}

func (d *desk) stops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stopped
}

// transcript is an Out that keeps what it is given.
type transcript struct {
	mu     sync.Mutex
	frames []string
}

func (o *transcript) add(frame []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.frames = append(o.frames, string(frame))
}

func (o *transcript) Message(_ context.Context, frame []byte) error { o.add(frame); return nil }

func (o *transcript) Answer(_ context.Context, frame []byte, _ *Failure) error {
	o.add(frame)
	return nil
}

// take returns the frames so far, and forgets them.
func (o *transcript) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	frames := o.frames
	o.frames = nil
	return frames
}

func (o *transcript) expect(t *testing.T, what string, parts ...string) {
	t.Helper()
	frames := o.take()
	if len(frames) != len(parts) {
		t.Fatalf("%s: got %d frames, want %d: %s", what, len(frames), len(parts), strings.Join(frames, "\n"))
	}
	for i, part := range parts {
		if !strings.Contains(frames[i], part) {
			t.Errorf("%s: frame %d is %s, want one with %s", what, i, frames[i], part)
		}
	}
}

// settle waits, in a bubble, until everything that was queued has been sent.
func settle() {
	<-time.NewTimer(time.Second).C
	synctest.Wait()
}

// taskTalk is a conversation with one of the two fronts.
type taskTalk struct {
	t        *testing.T
	session  *Session
	plain    *Stateless
	standing *transcript
	n        int
}

func talkInSession(t *testing.T, h mcp.Handler, revision string) *taskTalk {
	s := &taskTalk{t: t, standing: new(transcript)}
	s.session = NewSession(h, mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)}, s.standing, nil)
	s.send(t.Context(), mcp.MethodInitialize, `"protocolVersion":"`+revision+`","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}`)
	s.session.Receive(t.Context(), decode(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`), new(transcript), Sender{})
	return s
}

func talkStateless(t *testing.T, h mcp.Handler) *taskTalk {
	front, err := NewStateless(h, mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return &taskTalk{t: t, plain: front}
}

// send sends a request and returns what came on its stream.
func (s *taskTalk) send(ctx context.Context, method, params string) *transcript {
	s.t.Helper()
	out := new(transcript)
	s.sendTo(ctx, out, method, params, `"`+mcp.ExtensionTasks+`":{}`)
	return out
}

func (s *taskTalk) sendTo(ctx context.Context, out Out, method, params, extensions string) {
	s.t.Helper()
	s.n++
	if s.session != nil {
		s.session.Receive(ctx, decode(s.t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, s.n, method, params)), out, Sender{Principal: "me"})
		return
	}
	if params != "" {
		params += ","
	}
	s.plain.Receive(ctx, decode(s.t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{%s}}}}}`, s.n, method, params, extensions)), out, Sender{Principal: "me"})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-support-and-handling.
// Spec: 2025-11-25 basic/utilities/tasks#task-parameters.
// Spec: ext-tasks/draft tasks#capability-negotiation.
// Who offers to take a task is the client's word in the form of its revision.
func TestWhoOffersToTakeATask(t *testing.T) {
	none := "<nil>"
	for _, tt := range []struct {
		name, revision, method, params, extensions string
		undeclared                                 bool
		want                                       string
	}{
		{"asked for", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":{}`, "", false, "demanded <nil>"},
		{"with a time", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":{"ttl":60000}`, "", false, "demanded 60000"},
		{"with a fraction", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":{"ttl":1.5e3}`, "", false, "demanded 1500"},
		{"for ever", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":{"ttl":1e999}`, "", false, "demanded 9007199254740992"},
		{"without limit", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":{"ttl":null}`, "", false, "demanded <nil>"},
		{"not asked for", "2025-11-25", mcp.MethodCallTool, `"name":"x"`, "", false, none},
		{"null", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":null`, "", false, none},
		{"no object", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":true`, "", false, "-32602"},
		{"no number", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":{"ttl":"1"}`, "", false, "-32602"},
		{"negative", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":{"ttl":-1}`, "", false, "-32602"},
		{"not declared", "2025-11-25", mcp.MethodCallTool, `"name":"x","task":7`, "", true, none},
		{"another method", "2025-11-25", mcp.MethodGetPrompt, `"name":"x","task":{}`, "", false, none},
		{"older", "2025-06-18", mcp.MethodCallTool, `"name":"x","task":{}`, "", false, none},
		{"declared", "2026-07-28", mcp.MethodCallTool, `"name":"x"`, `"io.modelcontextprotocol/tasks":{}`, false, "may <nil>"},
		{"declared, and asked for", "2026-07-28", mcp.MethodCallTool, `"name":"x","task":{"ttl":5}`, `"io.modelcontextprotocol/tasks":{}`, false, "may <nil>"},
		{"not declared by the client", "2026-07-28", mcp.MethodCallTool, `"name":"x","task":{}`, `"com.example/x":{}`, false, none},
		{"another method, declared", "2026-07-28", mcp.MethodGetPrompt, `"name":"x"`, `"io.modelcontextprotocol/tasks":{}`, false, none},
	} {
		t.Run(tt.revision+" "+tt.name, func(t *testing.T) {
			d, got := newDesk(), ""
			if tt.undeclared {
				d.caps.Tasks = nil
			}
			d.call = func(_ context.Context, x *mcp.Exchange) (any, error) {
				if got = none; x.Task != nil {
					got = map[bool]string{true: "demanded ", false: "may "}[x.Task.Demanded]
					if x.Task.TTLMs == nil {
						got += none
					} else {
						got += fmt.Sprint(*x.Task.TTLMs)
					}
				}
				return &mcp.EmptyResult{}, nil
			}
			talk, out := talkStateless(t, d), new(transcript)
			if tt.revision != "2026-07-28" {
				talk = talkInSession(t, d, tt.revision)
				defer talk.session.Close(jsonrpc.ErrClosed)
			}
			talk.sendTo(t.Context(), out, tt.method, tt.params, tt.extensions)
			if got == "" {
				got = string(wire.Find(wire.Find([]byte(out.take()[0]), "error"), "code"))
			}
			if got != tt.want {
				t.Errorf("the offer is %q, want %q", got, tt.want)
			}
		})
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#task-notifications.
// The client of a session is told about its task on the standing stream, after it was
// given the task, once for each change, and until the task has ended.
func TestStatusNotificationsInASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		talk := talkInSession(t, d, "2025-11-25")
		defer talk.session.Close(jsonrpc.ErrClosed)
		stops := d.stops()
		out := talk.send(t.Context(), mcp.MethodCallTool, `"name":"x","task":{}`)
		out.expect(t, "the answer", `"result":{"task":{"taskId":"t1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null}}`)
		settle()
		talk.standing.expect(t, "nothing has changed")
		d.becomes(mcp.TaskWorking, "half")
		d.becomes(mcp.TaskWorking, "half")
		settle()
		talk.standing.expect(t, "progress", `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"working","statusMessage":"half","createdAt":"c","lastUpdatedAt":"l","ttl":null}}`)
		d.becomes(mcp.TaskInputRequired, "")
		settle()
		talk.standing.expect(t, "a question", `"status":"input_required"`)
		d.mu.Lock()
		d.state.ToolFailed = true
		d.mu.Unlock()
		d.becomes(mcp.TaskCompleted, "")
		settle()
		talk.standing.expect(t, "the end", `"status":"failed"`)
		if d.stops() != stops+1 {
			t.Error("the server still watches a task that has ended")
		}
		for _, x := range d.gets {
			if x.Peer.Principal != "me" || x.ID.IsZero() || x.Watch != nil {
				t.Errorf("the state was asked for by %+v", x)
			}
		}
	})
}

// A task that ends before it is watched is told about all the same, and one that is
// gone is no longer watched.
func TestStatusOfATaskThatIsQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.call = func(context.Context, *mcp.Exchange) (any, error) {
			made := d.state.Task
			d.state.Status = mcp.TaskCompleted
			return &mcp.CreateTaskResult{Task: made}, nil
		}
		talk := talkInSession(t, d, "2025-11-25")
		defer talk.session.Close(jsonrpc.ErrClosed)
		stops := d.stops()
		talk.send(t.Context(), mcp.MethodCallTool, `"name":"x","task":{}`)
		settle()
		talk.standing.expect(t, "the end", `"status":"completed"`)

		d.call, d.state.Status = nil, mcp.TaskWorking
		talk.send(t.Context(), mcp.MethodCallTool, `"name":"x","task":{}`)
		d.becomes("", "")
		settle()
		talk.standing.expect(t, "nothing is known")
		if d.stops() != stops+2 {
			t.Error("the server still watches a task that is gone")
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#associating-task-related-messages.
// Spec: 2025-11-25 basic/utilities/tasks#task-progress-notifications.
// What a task sends names the task: on the stream of the exchange while it lasts, and
// on the standing stream after it.
func TestNotificationsOfATask(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}`
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.caps.Logging = &mcp.Empty{}
		var back mcp.Backchannel
		say := func(ctx context.Context) {
			for _, params := range []any{
				&mcp.ProgressParams{ProgressToken: jsonrpc.IntID(7), Progress: 1},
				json.RawMessage(`{"progressToken":99,"progress":1,"_meta":{"a/b":1}}`),
			} {
				if err := back.Notify(related.To(ctx, "t1"), mcp.NoteProgress, params); err != nil {
					t.Error(err)
				}
			}
			if err := back.Notify(related.To(ctx, "t1"), mcp.NoteMessage, &mcp.LogParams{Level: mcp.LevelError, Data: json.RawMessage("1")}); err != nil {
				t.Error(err)
			}
		}
		d.call = func(ctx context.Context, x *mcp.Exchange) (any, error) {
			back = x.Back
			say(ctx)
			return &mcp.CreateTaskResult{Task: d.state.Task}, nil
		}
		talk := talkInSession(t, d, "2025-11-25")
		want := []string{meta, `"progressToken":7`, meta}
		out := talk.send(t.Context(), mcp.MethodCallTool, `"name":"x","task":{},"_meta":{"progressToken":7}`)
		out.expect(t, "before the answer", append(want, `"result"`)...)
		say(context.Background())
		talk.standing.expect(t, "after it", want...)
		talk.session.Close(jsonrpc.ErrClosed)

		// The stateless era has none of this.
		d.caps.Logging = nil
		out = talkStateless(t, d).send(t.Context(), mcp.MethodCallTool, `"name":"x"`)
		say(context.Background())
		out.expect(t, "stateless", `"resultType":"task"`)
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#input-required-status (2).
// Spec: 2025-11-25 basic/utilities/tasks#related-task-metadata.
// The questions and the result of a task name it.
func TestResultOfATaskNamesIt(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}`
	for name, question := range map[string]mcp.InputRequest{
		"typed": {Key: "q", Method: mcp.MethodElicit, Task: "t1", Params: &mcp.ElicitParams{Message: "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}},
		"raw":   {Key: "q", Method: mcp.MethodElicit, Task: "t1", Params: json.RawMessage(`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)},
		"roots": {Key: "q", Method: mcp.MethodRoots, Task: "t1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				d.call = func(ctx context.Context, x *mcp.Exchange) (any, error) {
					_, err := x.Back.Input(ctx, question)
					if name == "raw" {
						return json.RawMessage(`{"content":[],"x":1.0}`), err
					}
					return &mcp.CallToolResult{Content: mcp.Contents{}, ResultFields: mcp.ResultFields{Meta: mcp.Meta{"a/b": json.RawMessage("1")}}}, err
				}
				talk := talkInSession(t, d, "2025-11-25")
				defer talk.session.Close(jsonrpc.ErrClosed)
				out := new(transcript)
				go talk.sendTo(t.Context(), out, mcp.MethodTaskResult, `"taskId":"t1","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"other"}}`, "") // ends with the answer
				synctest.Wait()
				asked := out.take()
				if len(asked) != 1 || !strings.Contains(asked[0], meta) {
					t.Fatalf("asked %s", asked)
				}
				talk.session.Receive(t.Context(), decode(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","roots":[]}}`), nil, Sender{})
				synctest.Wait()
				out.expect(t, "the result", `"io.modelcontextprotocol/related-task":{"taskId":"t1"}`)
			})
		})
	}
}

// Spec: ext-tasks/draft tasks#protocol-errors.
// Spec: ext-tasks/draft tasks#capability-negotiation.
// A client that does not declare the extension in a request cannot ask about tasks,
// whether they exist or not; where the server has none, the methods do not exist.
func TestClientsMustDeclareTasks(t *testing.T) {
	const required = `{"code":-32021,"message":`
	const data = `"data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	refused := func(t *testing.T, frames []string, want ...string) {
		t.Helper()
		for _, part := range want {
			if len(frames) != 1 || !strings.Contains(frames[0], part) {
				t.Errorf("got %s, want one answer with %s", frames, part)
			}
		}
	}
	d := newDesk()
	for _, method := range []string{mcp.MethodGetTask, mcp.MethodCancelTask, mcp.MethodUpdateTask} {
		for _, extensions := range []string{"", `"com.example/x":{}`, `"io.modelcontextprotocol/tasks":null`} {
			out := new(transcript)
			talkStateless(t, d).sendTo(t.Context(), out, method, `"taskId":"unknown","inputResponses":{}`, extensions)
			refused(t, out.take(), required, data)
		}
	}
	out := new(transcript)
	talkStateless(t, d).sendTo(t.Context(), out, mcp.MethodListen, `"notifications":{"taskIds":["t1"]}`, "")
	refused(t, out.take(), required, data)

	d.call = func(context.Context, *mcp.Exchange) (any, error) { return nil, &mcp.TaskRequiredError{Tool: "x"} }
	out = new(transcript)
	talkStateless(t, d).sendTo(t.Context(), out, mcp.MethodCallTool, `"name":"x"`, "")
	refused(t, out.take(), required, data, `tool \"x\" can only be called as a task`)
	for _, method := range []string{mcp.MethodTaskResult, mcp.MethodListTasks} {
		out := talkStateless(t, d).send(t.Context(), method, `"taskId":"t1"`)
		refused(t, out.take(), `"code":-32601`)
	}
	without := newDesk()
	without.caps.Tasks, without.caps.Extensions = nil, nil
	without.call = func(_ context.Context, x *mcp.Exchange) (any, error) {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	out = new(transcript)
	talkStateless(t, without).sendTo(t.Context(), out, mcp.MethodCancelTask, `"taskId":"t1"`, "")
	refused(t, out.take(), `"code":-32601`)
}

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation (1).
// Spec: ext-tasks/draft tasks#task-cancellation.
func TestErrorsOfTasks(t *testing.T) {
	for _, tt := range []struct {
		method             string
		err                error
		session, stateless string
	}{
		{mcp.MethodCallTool, &mcp.TaskRequiredError{Tool: "x"}, `"code":-32601`, `"code":-32021`},
		{mcp.MethodCallTool, &mcp.TaskForbiddenError{Tool: "x"}, `"code":-32601,"message":"tool \"x\" cannot be called as a task"`, `"code":-32601`},
		{mcp.MethodCancelTask, &mcp.TaskEndedError{ID: "t1", Status: mcp.TaskCompleted}, `"code":-32602,"message":"cannot cancel task: it has already ended as \"completed\""`, `"resultType":"complete"`},
	} {
		d := newDesk()
		d.call = func(context.Context, *mcp.Exchange) (any, error) { return nil, fmt.Errorf("wrapped: %w", tt.err) }
		session := talkInSession(t, d, "2025-11-25")
		session.send(t.Context(), tt.method, `"name":"x","taskId":"t1","task":{}`).expect(t, "session", tt.session)
		session.session.Close(jsonrpc.ErrClosed)
		talkStateless(t, d).send(t.Context(), tt.method, `"name":"x","taskId":"t1"`).expect(t, "stateless", tt.stateless)
	}
}

// Spec: ext-tasks/draft tasks#task-status-notifications.
// A notification has the state that tasks/get would return, and names its subscription.
func TestListenToTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		talk, out := talkStateless(t, d), new(transcript)
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan struct{})
		go func() { // ends with ctx
			defer close(ended)
			talk.sendTo(ctx, out, mcp.MethodListen, `"notifications":{"taskIds":["t1","foreign"]}`, `"io.modelcontextprotocol/tasks":{}`)
		}()
		settle()
		out.expect(t, "the acknowledgement", `"notifications":{"taskIds":["t1"]}`)
		d.mu.Lock()
		d.state.InputRequests = map[string]*mcp.InputRequest{"q": {Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"?"}`)}}
		d.mu.Unlock()
		d.becomes(mcp.TaskInputRequired, "")
		settle()
		out.expect(t, "a question", `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"taskId":"t1","status":"input_required","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,`+
			`"inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?","mode":"form"}}}}}`)
		d.mu.Lock()
		d.state.InputRequests, d.state.Result = nil, json.RawMessage(`{"content":[],"isError":true}`)
		d.mu.Unlock()
		d.becomes(mcp.TaskCompleted, "")
		settle()
		out.expect(t, "the end", `"status":"completed","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"result":{"content":[],"isError":true,`)
		d.becomes("", "")
		settle()
		out.expect(t, "a task that is gone")
		cancel(ErrCancelled)
		<-ended
		if d.stops() != 1 {
			t.Error("the server still watches")
		}
		for _, x := range d.gets {
			if x.Peer.Principal != "me" || x.ID.IsZero() || x.Watch != nil || x.Peer.Revision != mcp.Revision20260728 {
				t.Errorf("the state was asked for by %+v", x)
			}
		}
	})
}
