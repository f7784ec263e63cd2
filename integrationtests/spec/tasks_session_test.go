package spec_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// The page basic/utilities/tasks of 2025-11-25, with the server as the receiver, on the
// wire. The client as the receiver is in tasks_asking_test.go.

// Spec: 2025-11-25 basic/utilities/tasks#server-capabilities.
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
// Tasks are declared where a tool has them and the revision knows them; listing them
// only where that shows nobody the tasks of others.
func TestSessionDeclaresTasks(t *testing.T) {
	for _, tt := range []struct {
		revision string
		o        server.TaskOptions
		want     string
	}{
		{"2025-11-25", server.TaskOptions{}, `{"cancel":{},"requests":{"tools":{"call":{}}}}`},
		{"2025-11-25", server.TaskOptions{ListUnowned: true}, `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`},
		{"2025-06-18", server.TaskOptions{ListUnowned: true}, ``},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newTasker(tt.o)
			defer s.stop(t)
			w := rawly(t, s, nil)
			declared := decodeInto[struct {
				Capabilities map[string]json.RawMessage
			}](t, w.session(tt.revision).Result).Capabilities
			if string(declared["tasks"]) != tt.want || declared["extensions"] != nil {
				t.Errorf("in %s the server declares %s", tt.revision, declared)
			}
			if a := w.ask("1", mcp.MethodListTasks, ""); (a.code() == -32601) == strings.Contains(tt.want, "list") {
				t.Errorf("in %s tasks/list is answered by %s", tt.revision, a.raw)
			}
			// What was not declared is ignored.
			// Spec: 2025-11-25 basic/utilities/tasks#task-support-and-handling (1).
			if a := w.ask("2", mcp.MethodCallTool, `"name":"quick","arguments":{},"task":{"ttl":1}`); strings.Contains(a.raw, "taskId") != (tt.want != "") {
				t.Errorf("in %s a call is answered by %s", tt.revision, a.raw)
			}
		})
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
func TestSessionToolsSayWhetherTheyAreTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		w.session("2025-11-25")
		listed := w.ask("0", mcp.MethodListTools, "")
		for _, support := range []string{"optional", "required", "forbidden"} {
			if !strings.Contains(listed.raw, `"execution":{"taskSupport":"`+support+`"}`) {
				t.Errorf("the tools are %s", listed.raw)
			}
		}
		for i, tt := range []struct {
			members string
			code    int64
		}{
			{`"name":"plain","arguments":{}`, 0},
			{`"name":"plain","arguments":{},"task":{}`, -32601},
			{`"name":"must","arguments":{}`, -32601},
			{`"name":"must","arguments":{},"task":{}`, 0},
			{`"name":"quick","arguments":{}`, 0},
			{`"name":"quick","arguments":{},"task":{}`, 0},
		} {
			if a := w.ask(fmt.Sprint(i+1), mcp.MethodCallTool, tt.members); a.code() != tt.code || strings.Contains(a.raw, "taskId") != (tt.code == 0 && strings.Contains(tt.members, "task\"")) {
				t.Errorf("%s is answered by %s", tt.members, a.raw)
			}
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
// Spec: 2025-11-25 basic/utilities/tasks#getting-tasks.
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
// Spec: 2025-11-25 basic/utilities/tasks#task-progress-notifications.
// The life of a task, with everything that is said about it.
func TestSessionTaskLifecycle(t *testing.T) {
	const related = `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{PollInterval: 3 * time.Second})
		defer s.stop(t)
		w := rawly(t, s, nil)
		w.session("2025-11-25")
		a, before := w.exchange("1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{},"task":{"ttl":60000},"_meta":{"progressToken":"p"}}}`)
		made := decodeInto[struct{ Task taskOnWire }](t, a.Result).Task
		if made.Status != "working" || *made.TTL != 60000 || *made.PollInterval != 3000 || len(made.ID) < 22 {
			t.Errorf("the task is %s", a.raw)
		}
		for _, at := range []string{made.CreatedAt, made.LastUpdatedAt} {
			if _, err := time.Parse(time.RFC3339, at); err != nil {
				t.Error(err)
			}
		}
		// Progress and log messages of the task name it, and the token stays valid.
		pass(10 * time.Second)
		synctest.Wait()
		for len(w.frames) > 0 {
			before = append(before, <-w.frames)
		}
		seen := map[string]int{}
		for _, m := range before {
			seen[m.Method]++
			switch m.Method {
			case mcp.NoteTaskStatus:
				if strings.Contains(m.raw, "related-task") || decodeInto[taskOnWire](t, m.Params).ID != made.ID {
					t.Errorf("the status is %s", m.raw)
				}
			case mcp.NoteProgress, mcp.NoteMessage:
				if !strings.Contains(m.raw, related+made.ID) || m.Method == mcp.NoteProgress && !strings.Contains(m.raw, `"progressToken":"p"`) {
					t.Errorf("the server sent %s", m.raw)
				}
			}
		}
		if seen[mcp.NoteProgress] != 1 || seen[mcp.NoteMessage] != 1 || seen[mcp.NoteTaskStatus] != 1 {
			t.Errorf("the server sent %v", seen)
		}
		if got := w.state(made.ID); got.Status != "working" || got.StatusMessage != "half" {
			t.Errorf("the state is %+v", got)
		}

		// The result is waited for; giving that up does not end the task. _meta does not say which task is meant.
		// Spec: 2025-11-25 basic/utilities/tasks#associating-task-related-messages (2).
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"` + made.ID + `","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"other"}}}}`)
		w.send(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"` + made.ID + `"}}`)
		w.quiet()
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		w.quiet()
		if got := w.state(made.ID); got.Status != "working" {
			t.Errorf("after the waiting was given up, the state is %+v", got)
		}
		close(s.release)
		result := w.next()
		for result.Method != "" { // a status
			result = w.next()
		}
		plain := w.ask("4", mcp.MethodCallTool, `"name":"slow","arguments":{}`)
		if string(result.ID) != "2" || textOf(t, result.Result) != textOf(t, plain.Result) || !strings.Contains(result.raw, related+made.ID) {
			t.Errorf("the result is %s, and that of a plain call %s", result.raw, plain.raw)
		}
		if got := w.state(made.ID); got.Status != "completed" || *got.TTL != 60000 {
			t.Errorf("in the end the state is %+v", got)
		}
		// Spec: 2025-11-25 basic/utilities/tasks#ttl-and-resource-management (5).
		pass(time.Minute)
		for i, method := range []string{mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask} {
			for j, id := range []string{made.ID, "unknown"} {
				if a := w.ask(fmt.Sprint(10+2*i+j), method, `"taskId":"`+id+`"`); a.code() != -32602 || a.Error.Message == "" {
					t.Errorf("%s of a task that is not there is answered by %s", method, a.raw)
				}
			}
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-execution-errors.
func TestSessionTasksThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		w.session("2025-11-25")
		fails, breaks := w.begin("1", "fails"), w.begin("2", "breaks")
		if fails.ID == breaks.ID {
			t.Error("two tasks have the same ID")
		}
		pass(time.Second)
		for _, id := range []string{fails.ID, breaks.ID} {
			if got := w.state(id); got.Status != "failed" || got.StatusMessage == "" {
				t.Errorf("the state is %+v", got)
			}
		}
		a := w.ask("3", mcp.MethodTaskResult, `"taskId":"`+fails.ID+`"`)
		if textOf(t, a.Result) != "no paper" || !strings.Contains(a.raw, `"isError":true`) {
			t.Errorf("the result is %s", a.raw)
		}
		plain := w.ask("4", mcp.MethodCallTool, `"name":"breaks","arguments":{}`)
		a = w.ask("5", mcp.MethodTaskResult, `"taskId":"`+breaks.ID+`"`)
		if a.code() != -7 || a.Error.Message != plain.Error.Message {
			t.Errorf("the result is %s, and that of a plain call %s", a.raw, plain.raw)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
func TestSessionTaskIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		w.session("2025-11-25")
		slow, quick := w.begin("1", "slow"), w.begin("2", "quick")
		pass(time.Second)
		a := w.ask("3", mcp.MethodCancelTask, `"taskId":"`+slow.ID+`"`)
		if got := decodeInto[taskOnWire](t, a.Result); got.Status != "cancelled" || got.ID != slow.ID || strings.Contains(a.raw, "related-task") {
			t.Errorf("the cancellation is answered by %s", a.raw)
		}
		close(s.release)
		pass(time.Second)
		if got := w.state(slow.ID); got.Status != "cancelled" {
			t.Errorf("the state is %+v", got)
		}
		for i, id := range []string{slow.ID, quick.ID} {
			if a := w.ask(fmt.Sprint(4+i), mcp.MethodCancelTask, `"taskId":"`+id+`"`); a.code() != -32602 || !strings.Contains(a.Error.Message, "already ended") {
				t.Errorf("the cancellation of a task that has ended is answered by %s", a.raw)
			}
		}
		if a := w.ask("6", mcp.MethodTaskResult, `"taskId":"`+slow.ID+`"`); a.Error == nil {
			t.Errorf("the result of a cancelled task is %s", a.raw)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
// Spec: 2025-11-25 basic/utilities/tasks#task-augmented-tool-call-with-elicitation.
func TestSessionTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		w := rawly(t, s, nil)
		w.session("2025-11-25")
		made := w.begin("1", "asks")
		pass(time.Second)
		if got := w.state(made.ID); got.Status != "input_required" {
			t.Errorf("the state is %+v", got)
		}
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"` + made.ID + `"}}`)
		asked := w.next()
		for asked.Method == mcp.NoteTaskStatus {
			asked = w.next()
		}
		if asked.Method != mcp.MethodElicit || !strings.Contains(asked.raw, `"io.modelcontextprotocol/related-task":{"taskId":"`+made.ID+`"}`) {
			t.Fatalf("the server sent %s", asked.raw)
		}
		a, _ := w.exchange("2", `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":{"action":"accept","content":{"city":"Bern"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+made.ID+`"}}}}`)
		if textOf(t, a.Result) != "Bern" {
			t.Errorf("the result is %s", a.raw)
		}
		if got := w.state(made.ID); got.Status != "completed" {
			t.Errorf("the state is %+v", got)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-listing.
func TestSessionListsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{ListUnowned: true})
		defer s.stop(t)
		w := rawly(t, s, nil)
		w.session("2025-11-25")
		var made []string
		for i := range 120 {
			made = append(made, w.begin(fmt.Sprint(i+1), "quick").ID)
		}
		var listed []string
		for cursor, page := "", 0; page == 0 || cursor != ""; page++ {
			a := w.ask(fmt.Sprint(1000+page), mcp.MethodListTasks, cursor)
			got := decodeInto[struct {
				Tasks []taskOnWire
				Next  *string `json:"nextCursor"`
			}](t, a.Result)
			for _, task := range got.Tasks {
				listed = append(listed, task.ID)
			}
			if cursor = ""; got.Next != nil {
				cursor = fmt.Sprintf(`"cursor":%q`, *got.Next)
			}
			if strings.Contains(a.raw, "related-task") || page > 20 {
				t.Fatalf("page %d is %s", page, a.raw)
			}
		}
		slices.Sort(made)
		slices.Sort(listed)
		if !slices.Equal(made, listed) {
			t.Errorf("listed %d tasks, want %d", len(listed), len(made))
		}
		if a := w.ask("2000", mcp.MethodListTasks, `"cursor":"of nobody"`); a.code() != -32602 {
			t.Errorf("an invalid cursor is answered by %s", a.raw)
		}
	})
}

// httpSession speaks to a session over HTTP without a client.
type httpSession struct {
	t    *testing.T
	site *mcptest.Site
	id   string
	n    int
}

func newHTTPSession(t *testing.T, h mcp.Handler) *httpSession {
	t.Helper()
	handler, err := streamable.New(h, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	s := &httpSession{t: t, site: mcptest.NewSite(handler)}
	t.Cleanup(func() {
		s.site.Close()
		if err := handler.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	resp := s.post(mcp.MethodInitialize, `"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"},"capabilities":{"elicitation":{}}`)
	s.id = resp.Header.Get("Mcp-Session-Id")
	s.drain(resp)
	s.drain(s.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""))
	return s
}

func (s *httpSession) post(method, members string) *http.Response {
	s.t.Helper()
	s.n++
	return s.do(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, s.n, method, members), "")
}

// do sends an HTTP request. after is the ID of the last event that arrived, or "".
func (s *httpSession) do(method, body, after string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.site.URL, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
	}
	for name, value := range map[string]string{"Mcp-Session-Id": s.id, "Mcp-Protocol-Version": "2025-11-25", "Last-Event-Id": after} {
		if value != "" && s.id != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := s.site.Client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

func (s *httpSession) drain(resp *http.Response) string {
	s.t.Helper()
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Error(err)
	}
	return string(all)
}

// event reads the next event with data, and returns its ID and data.
func event(t *testing.T, r *bufio.Reader) (id, data string) {
	t.Helper()
	for data == "" {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("no further event: %v", err)
		}
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			data = strings.TrimSpace(v)
		}
	}
	return id, data
}

// Spec: 2025-11-25 basic/utilities/tasks#retrieving-task-results.
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
// Over HTTP, tasks/get is answered without a stream, tasks/result holds one that a
// client may leave and come back for, and statuses come on the client's own stream.
func TestSessionTasksOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		h := newHTTPSession(t, s)
		standing := h.do(http.MethodGet, "", "")
		statuses := bufio.NewReader(standing.Body)
		made := decodeInto[struct{ Result struct{ Task taskOnWire } }](t, json.RawMessage(dataOf(h.drain(h.post(mcp.MethodCallTool, `"name":"asks","arguments":{},"task":{}`))))).Result.Task
		if _, data := event(t, statuses); !strings.Contains(data, mcp.NoteTaskStatus) || !strings.Contains(data, `"status":"input_required"`) || !strings.Contains(data, made.ID) {
			t.Errorf("on the standing stream came %s", data)
		}
		state := h.post(mcp.MethodGetTask, `"taskId":"`+made.ID+`"`)
		if kind := state.Header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("tasks/get is answered by %s", kind)
		}
		h.drain(state)

		waiting := h.post(mcp.MethodTaskResult, `"taskId":"`+made.ID+`"`)
		at, question := event(t, bufio.NewReader(waiting.Body))
		asked := decodeInto[message](t, json.RawMessage(question))
		_ = waiting.Body.Close() // the client leaves
		if asked.Method != mcp.MethodElicit || at == "" {
			t.Fatalf("on the stream of tasks/result came %q, %s", at, question)
		}
		h.drain(h.do(http.MethodPost, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":{"action":"accept","content":{"city":"Bern"}}}`, ""))
		pass(time.Second)
		again := h.do(http.MethodGet, "", at)
		_, data := event(t, bufio.NewReader(again.Body))
		_ = again.Body.Close()
		result := decodeInto[message](t, json.RawMessage(data))
		if textOf(t, result.Result) != "Bern" || string(result.ID) != fmt.Sprint(h.n) || !strings.Contains(data, "related-task") {
			t.Errorf("after coming back, the result is %s", data)
		}
		_ = standing.Body.Close()
	})
}

// dataOf returns the message in a response, which may be a stream with one event.
func dataOf(body string) string {
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
			return strings.TrimSpace(data)
		}
	}
	return body
}

// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval (4).
// tasks/result returns what the request would have: members that nobody here knows,
// such as those that a gateway passes on, come with it, and digits stay as they are.
func TestSessionTaskResultIsWhole(t *testing.T) {
	const unknown = `"x-rows":12345678901234567890.10`
	synctest.Test(t, func(t *testing.T) {
		s := newTasker(server.TaskOptions{})
		defer s.stop(t)
		s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
			return func(ctx context.Context, x *mcp.Exchange) (any, error) {
				result, err := next(ctx, x)
				if _, done := result.(*mcp.CallToolResult); x.Method == mcp.MethodCallTool && done {
					return json.RawMessage(`{"content":[{"type":"text","text":"Bern"}],` + unknown + `}`), err
				}
				return result, err
			}
		})
		w := rawly(t, s, nil)
		w.session("2025-11-25")
		made := w.begin("1", "asks")
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"` + made.ID + `"}}`)
		asked := w.next()
		for asked.Method == mcp.NoteTaskStatus {
			asked = w.next()
		}
		a, _ := w.exchange("2", `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":{"action":"accept","content":{"city":"Bern"}}}`)
		if !strings.Contains(a.raw, unknown) || !strings.Contains(a.raw, `"io.modelcontextprotocol/related-task":{"taskId":"`+made.ID+`"}`) {
			t.Errorf("the result is %s", a.raw)
		}
	})
}
