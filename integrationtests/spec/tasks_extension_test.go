package spec_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// The tasks extension of 2026-07-28, page by page, on the wire.

// takesTasks is the _meta of a client that can take tasks.
const takesTasks = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// taskNow is the state of a task in the stateless era.
type taskNow struct {
	ResultType    string                     `json:"resultType"`
	ID            string                     `json:"taskId"`
	Status        string                     `json:"status"`
	StatusMessage string                     `json:"statusMessage"`
	TTLMs         *int64                     `json:"ttlMs"`
	Poll          *int64                     `json:"pollIntervalMs"`
	Requests      map[string]json.RawMessage `json:"inputRequests"`
	Result        json.RawMessage            `json:"result"`
	Error         json.RawMessage            `json:"error"`
	Meta          map[string]json.RawMessage `json:"_meta"`
}

// can sends a request of a client that can take tasks, and returns its answer.
func (w *wire) can(id, method, members string) message {
	w.t.Helper()
	a, before := w.exchange(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s,%s}}`, id, method, members, takesTasks))
	if len(before) > 0 {
		w.t.Errorf("before the answer came %s", before[0].raw)
	}
	return a
}

// hand calls a tool that becomes a task.
func (w *wire) hand(id, name string) taskNow {
	w.t.Helper()
	a := w.can(id, mcp.MethodCallTool, fmt.Sprintf(`"name":%q,"arguments":{}`, name))
	made := decodeInto[taskNow](w.t, a.Result)
	if made.ResultType != "task" || made.ID == "" || strings.Contains(a.raw, `"content"`) {
		w.t.Fatalf("the call of %s was answered by %s", name, a.raw)
	}
	return made
}

func (w *wire) now(id string) taskNow {
	w.t.Helper()
	a := w.can(`"now"`, mcp.MethodGetTask, `"taskId":"`+id+`"`)
	got := decodeInto[taskNow](w.t, a.Result)
	if got.ResultType != "complete" || strings.Contains(a.raw, "related-task") {
		w.t.Errorf("the state is %s", a.raw)
	}
	return got
}

// Spec: ext-tasks/draft tasks#capability-negotiation.
// Spec: ext-tasks/draft tasks#polymorphic-results.
// The server decides, but only for clients that say with the request that they can
// take a task. Where it can only be a task, they are told what they lack.
func TestExtensionTasksAreNegotiated(t *testing.T) {
	const lacks = `"data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		if a, _ := w.call("0", mcp.MethodDiscover, ""); !strings.Contains(a.raw, `"extensions":{"io.modelcontextprotocol/tasks":{}}`) || strings.Contains(a.raw, `"tasks":{"`) {
			t.Errorf("the server declares %s", a.raw)
		}
		made := w.hand("1", "quick")
		if made.Status != "working" || made.TTLMs == nil || made.Poll == nil {
			t.Errorf("the task is %+v", made)
		}
		// Whether the older way of asking for a task is there makes no difference.
		if a := w.can("2", mcp.MethodCallTool, `"name":"plain","arguments":{},"task":{}`); textOf(t, a.Result) != "done" || !strings.Contains(a.raw, `"resultType":"complete"`) {
			t.Errorf("a tool that is no task is answered by %s", a.raw)
		}
		if a, _ := w.call("3", mcp.MethodCallTool, `"name":"quick","arguments":{},"task":{"ttl":1}`); textOf(t, a.Result) != "done" {
			t.Errorf("a client that cannot take tasks is answered by %s", a.raw)
		}
		if a := w.can("4", mcp.MethodListTools, `"x":1`); strings.Contains(a.raw, "taskSupport") {
			t.Errorf("the tools are %s", a.raw)
		}
		for i, tt := range []struct{ method, members string }{
			{mcp.MethodCallTool, `"name":"must","arguments":{}`},
			{mcp.MethodGetTask, `"taskId":"` + made.ID + `"`},
			{mcp.MethodGetTask, `"taskId":"unknown"`},
			{mcp.MethodUpdateTask, `"taskId":"` + made.ID + `","inputResponses":{}`},
			{mcp.MethodCancelTask, `"taskId":"` + made.ID + `"`},
			{mcp.MethodListen, `"notifications":{"taskIds":["` + made.ID + `"]}`},
		} {
			if a, _ := w.call(fmt.Sprint(10+i), tt.method, tt.members); a.code() != -32021 || !strings.Contains(a.raw, lacks) {
				t.Errorf("%s with %s is answered by %s", tt.method, tt.members, a.raw)
			}
		}
		// Sessions have two methods that this era has not.
		for i, method := range []string{mcp.MethodTaskResult, mcp.MethodListTasks} {
			if a := w.can(fmt.Sprint(20+i), method, `"taskId":"`+made.ID+`"`); a.code() != -32601 {
				t.Errorf("%s is answered by %s", method, a.raw)
			}
		}
	})
}

// Spec: ext-tasks/draft tasks#task-polling.
// Spec: ext-tasks/draft tasks#task-execution-errors.
// Each status comes with what belongs to it.
func TestExtensionStatesOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		slow, quick, fails, breaks, asks := w.hand("1", "slow"), w.hand("2", "quick"), w.hand("3", "fails"), w.hand("4", "breaks"), w.hand("5", "asks")
		pass(10 * time.Second)
		w.quiet() // neither progress nor log messages, nor statuses that nobody asked for
		for _, tt := range []struct {
			id, status             string
			result, failed, inputs bool
		}{
			{slow.ID, "working", false, false, false},
			{quick.ID, "completed", true, false, false},
			{fails.ID, "completed", true, false, false},
			{breaks.ID, "failed", false, true, false},
			{asks.ID, "input_required", false, false, true},
		} {
			got := w.now(tt.id)
			if got.Status != tt.status || (got.Result != nil) != tt.result || (got.Error != nil) != tt.failed || (len(got.Requests) > 0) != tt.inputs {
				t.Errorf("the state is %+v, want %+v", got, tt)
			}
		}
		if got := w.now(slow.ID); got.StatusMessage != "half" {
			t.Errorf("the state is %+v", got)
		}
		if got := w.now(fails.ID).Result; !strings.Contains(string(got), `"isError":true`) || !strings.Contains(string(got), `"resultType":"complete"`) {
			t.Errorf("the result is %s", got)
		}
		if got := w.now(breaks.ID); !strings.Contains(string(got.Error), `"code":-7`) || got.StatusMessage == "" {
			t.Errorf("the state is %+v", got)
		}
		for i, tt := range []struct{ method, more string }{{mcp.MethodGetTask, ""}, {mcp.MethodUpdateTask, `,"inputResponses":{}`}, {mcp.MethodCancelTask, ""}} {
			if a := w.can(fmt.Sprint(10+i), tt.method, `"taskId":"unknown"`+tt.more); a.code() != -32602 || a.Error.Message == "" {
				t.Errorf("%s of an unknown task is answered by %s", tt.method, a.raw)
			}
		}
	})
}

// Spec: ext-tasks/draft tasks#task-update-requests.
// Answers to questions that are not open are ignored, and every update is acknowledged.
func TestExtensionTaskIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		made := w.hand("1", "asks")
		pass(time.Second)
		state := w.now(made.ID)
		question := string(state.Requests["where"])
		if !strings.Contains(question, `"method":"elicitation/create"`) || !strings.Contains(question, `"mode":"form"`) || strings.Contains(question, "related-task") {
			t.Errorf("the questions are %s", state.Requests)
		}
		for i, answers := range []string{`"other":{"action":"accept"}`, ``, `"where":{"action":"accept","content":{"city":"Bern"}}`, `"where":{"action":"decline"}`} {
			if a := w.can(fmt.Sprint(2+i), mcp.MethodUpdateTask, `"taskId":"`+made.ID+`","inputResponses":{`+answers+`}`); !strings.HasPrefix(string(a.Result), `{"_meta":`) || !strings.HasSuffix(string(a.Result), `,"resultType":"complete"}`) {
				t.Errorf("the update %s is answered by %s", answers, a.raw)
			}
			pass(time.Second)
			want := "input_required"
			if i >= 2 {
				want = "completed"
			}
			if got := w.now(made.ID); got.Status != want {
				t.Errorf("after %s the state is %+v", answers, got)
			}
		}
		if got := w.now(made.ID); textOf(t, got.Result) != "Bern" {
			t.Errorf("the result is %s", got.Result)
		}
	})
}

// Spec: ext-tasks/draft tasks#task-cancellation.
// Every cancellation of a task that is known is acknowledged, even one that comes too
// late. The task ends only by it.
func TestExtensionTaskIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		slow, quick := w.hand("1", "slow"), w.hand("2", "quick")
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + takesTasks + `}}`)
		pass(time.Second)
		if got := w.now(slow.ID); got.Status != "working" {
			t.Errorf("a notification has made the state %+v", got)
		}
		for i, id := range []string{slow.ID, quick.ID, slow.ID} {
			if a := w.can(fmt.Sprint(3+i), mcp.MethodCancelTask, `"taskId":"`+id+`"`); !strings.HasSuffix(string(a.Result), `,"resultType":"complete"}`) || strings.Contains(a.raw, "taskId") {
				t.Errorf("the cancellation is answered by %s", a.raw)
			}
		}
		pass(time.Second)
		if a, b := w.now(slow.ID).Status, w.now(quick.ID).Status; a != "cancelled" || b != "completed" {
			t.Errorf("the tasks are %s and %s", a, b)
		}
	})
}

// Spec: ext-tasks/draft tasks#task-status-notifications.
// Who listens to tasks gets what tasks/get would return, and nothing else; the
// acknowledgement names the tasks that there are.
func TestExtensionListensToTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		slow, asks := w.hand("1", "slow"), w.hand("2", "asks")
		pass(time.Second)
		w.send(`{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"notifications":{"taskIds":["` + slow.ID + `","unknown","` + asks.ID + `"]},` + takesTasks + `}}`)
		ack := w.next()
		honoured := decodeInto[struct{ Notifications mcp.SubscriptionFilter }](t, ack.Params).Notifications.TaskIDs
		if ack.Method != mcp.NoteAcknowledged || len(honoured) != 2 || strings.Contains(ack.raw, "unknown") {
			t.Errorf("the acknowledgement is %s", ack.raw)
		}
		close(s.release)
		pass(time.Second)
		synctest.Wait()
		ended := false
		for len(w.frames) > 0 {
			note := w.next()
			got := decodeInto[taskNow](t, note.Params)
			if note.Method != mcp.NoteTask || got.ID != slow.ID || string(got.Meta["io.modelcontextprotocol/subscriptionId"]) != "3" || got.ResultType != "" {
				t.Errorf("the server sent %s", note.raw)
			}
			if got.Status == "completed" {
				ended = textOf(t, got.Result) == "done"
			}
		}
		if !ended {
			t.Error("there was no notification about the end of the task")
		}
	})
}

// Spec: ext-tasks/draft tasks#streamable-http-routing-headers.
// Over HTTP the header Mcp-Name has the ID, and must not contradict it; without it, the
// ID counts. What a client lacks is a bad request.
func TestExtensionTasksOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		handler, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
		if err != nil {
			t.Fatal(err)
		}
		site := mcptest.NewSite(handler)
		defer func() {
			site.Close()
			_ = handler.Close(context.Background())
		}()
		post := func(method, name, members, meta string) (status int, answer message) {
			t.Helper()
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, members, meta)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
			} {
				if value != "" {
					req.Header.Set(key, value)
				}
			}
			resp, err := site.Client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text := make([]byte, 1<<16)
			n, _ := bufio.NewReader(resp.Body).Read(text)
			return resp.StatusCode, decodeInto[message](t, json.RawMessage(dataOf(string(text[:n]))))
		}
		_, answer := post(mcp.MethodCallTool, "asks", `"name":"asks","arguments":{}`, takesTasks)
		id := decodeInto[taskNow](t, answer.Result).ID
		plain := strings.ReplaceAll(takesTasks, `"io.modelcontextprotocol/tasks":{}`, "")
		for _, method := range []string{mcp.MethodGetTask, mcp.MethodUpdateTask, mcp.MethodCancelTask} {
			members := `"taskId":"` + id + `","inputResponses":{}`
			for _, tt := range []struct {
				name, meta string
				status     int
				code       int64
			}{
				{"other", takesTasks, http.StatusBadRequest, -32020},
				{id, plain, http.StatusBadRequest, -32021},
				{id, takesTasks, http.StatusOK, 0},
				{"", takesTasks, http.StatusOK, 0},
			} {
				status, answer := post(method, tt.name, members, tt.meta)
				if status != tt.status || answer.code() != tt.code {
					t.Errorf("%s with the name %q is answered by %d, %+v", method, tt.name, status, answer.Error)
				}
			}
		}
	})
}
