package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// The other direction of tasks: a server of 2025-11-25 asks its client, which answers
// apart. Handlers and the functions in client.Options notice nothing of it.

// taskModes are those of the revision in which clients have tasks.
func taskModes() []mcptest.Mode {
	return slices.DeleteFunc(mcptest.AllModes(), func(m mcptest.Mode) bool { return m.Revision != mcp.Revision20251125 })
}

// asking is a server whose tools ask: t for both kinds of answers, impatient for one
// that it waits for two and a half seconds only.
func asking() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		where, err := server.Elicit[city](ctx, call, "where", "Where?")
		if err != nil {
			return "", err
		}
		said, err := server.Sample(ctx, call, "model", &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("hi")}}}})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(where.City, " ", said.Content[0].(*mcp.TextContent).Text), nil
	})
	server.AddTool(s, mcp.Tool{Name: "impatient"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 2500*time.Millisecond) // between two polls
		defer cancel()
		_, err := server.Elicit[city](ctx, call, "where", "Where?")
		return fmt.Sprint(errors.Is(err, context.DeadlineExceeded)), nil
	})
	return s
}

// askingOver connects a client to asking, and records what travels.
func askingOver(t *testing.T, mode mcptest.Mode, asTasks bool, o client.Options) (c *client.Client, seen *mcptest.Recorder, stop func()) {
	t.Helper()
	seen = new(mcptest.Recorder)
	o.Revisions, o.Logger, o.Tap = []mcp.Revision{mode.Revision}, mcptest.Quiet(), seen.Tap(mode)
	transport := &mcptest.Transport{Handler: asking(), Over: mode.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet(), AskAsTasks: asTasks}}
	c, err := client.Connect(t.Context(), transport, &o)
	if err != nil {
		t.Fatal(err)
	}
	return c, seen, func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		transport.Wait()
	}
}

// methodsOf counts the methods of messages.
func methodsOf(messages []*jsonrpc.Message) map[string]int {
	counts := map[string]int{}
	for _, m := range messages {
		counts[m.Method]++
	}
	return counts
}

// Spec: 2025-11-25 basic/utilities/tasks#task-augmented-sampling-request.
// A question becomes a task if the server wants that and the client offers it; in all
// other combinations and revisions it is a plain request. The handler gets its answer.
func TestQuestionsAsTasks(t *testing.T) {
	for _, mode := range askModes() {
		for _, wanted := range []bool{true, false} {
			for _, offered := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/wanted=%t/offered=%t", mode, wanted, offered), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c, seen, stop := askingOver(t, mode, wanted, client.Options{
							AnswerAsTasks: offered,
							Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
								if client.OriginOf(ctx).Request == nil {
									t.Error("the question belongs to no call")
								}
								pass(10 * time.Second) // longer than any poll
								return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"city":"Bern"}`)}, nil
							},
							Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
								return &mcp.CreateMessageResult{Model: "m", Content: mcp.OneOrMany{mcp.Text("hello")}}, nil
							},
						})
						got, err := client.Call[string](t.Context(), c, "t", nil)
						if err != nil || got != "Bern hello" {
							t.Errorf("got %q, %v", got, err)
						}
						stop()
						asked, told := methodsOf(seen.FromServer()), methodsOf(seen.FromClient())
						tasks := 0
						if wanted && offered && mode.Revision == mcp.Revision20251125 {
							tasks = 2
						}
						if asked[mcp.MethodTaskResult] != tasks || told[mcp.NoteTaskStatus] != tasks || asked[mcp.MethodGetTask] > 0 != (tasks > 0) || asked[mcp.MethodCancelTask] != 0 {
							t.Errorf("the server sent %v, the client %v, want %d tasks", asked, told, tasks)
						}
					})
				})
			}
		}
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#cancelling-tasks.
// An answer that is no longer wanted is withdrawn by cancelling its task.
func TestWithdrawnQuestionCancelsItsTask(t *testing.T) {
	for _, mode := range taskModes() {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				c, seen, stop := askingOver(t, mode, true, client.Options{
					AnswerAsTasks: true,
					Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
						<-ctx.Done()
						ended <- context.Cause(ctx)
						return nil, context.Cause(ctx)
					},
				})
				got, err := client.Call[string](t.Context(), c, "impatient", nil)
				if err != nil || got != "true" {
					t.Errorf("got %q, %v", got, err)
				}
				if cause := soon(t, ended, "end of the question"); !strings.Contains(cause.Error(), "cancelled") {
					t.Errorf("the question ended because %v", cause)
				}
				stop()
				if asked := methodsOf(seen.FromServer()); asked[mcp.MethodCancelTask] != 1 || asked[mcp.NoteCancelled] != 0 {
					t.Errorf("the server sent %v", asked)
				}
			})
		})
	}
}

// A question that is being answered apart ends with the connection.
func TestTasksOfAClientEndWithItsConnection(t *testing.T) {
	for _, mode := range taskModes() {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, ended := make(chan struct{}), make(chan struct{})
				c, _, stop := askingOver(t, mode, true, client.Options{
					AnswerAsTasks: true,
					Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
						close(began)
						<-ctx.Done()
						close(ended)
						return nil, context.Cause(ctx)
					},
				})
				done := make(chan error, 1)
				go func() { // ends when the client is closed
					_, err := client.Call[string](t.Context(), c, "t", nil)
					done <- err
				}()
				soon(t, began, "question")
				stop()
				soon(t, ended, "end of the question")
				if err := soon(t, done, "end of the call"); err == nil {
					t.Error("the call has a result")
				}
			})
		})
	}
}

// sessionScript is a server of 2025-11-25 that only opens the session and keeps what
// the client says.
func sessionScript() (*scripted, func(t *testing.T, id string) message, func() []message) {
	var mu sync.Mutex
	answers, notes := map[string]message{}, []message(nil)
	s := &scripted{discovers: true, script: func(s *scripted, m *jsonrpc.Message) {
		if m.Method == mcp.MethodInitialize {
			s.result(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
		}
	}}
	s.wrote = func(frame string) {
		m := message{raw: frame}
		if json.Unmarshal([]byte(frame), &m) != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if m.Method == "" {
			answers[string(m.ID)] = m
		} else if m.ID == nil {
			notes = append(notes, m)
		}
	}
	answered := func(t *testing.T, id string) message {
		t.Helper()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		m, ok := answers[id]
		if !ok {
			t.Fatalf("request %s was not answered", id)
		}
		return m
	}
	noted := func() []message {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(notes)
	}
	return s, answered, noted
}

type taskOnWire struct {
	ID            string `json:"taskId"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage"`
	CreatedAt     string `json:"createdAt"`
	LastUpdatedAt string `json:"lastUpdatedAt"`
	TTL           *int64 `json:"ttl"`
	PollInterval  *int64 `json:"pollInterval"`
}

func decodeInto[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// Spec: 2025-11-25 basic/utilities/tasks#task-status-lifecycle.
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
// Spec: 2025-11-25 basic/utilities/tasks#ttl-and-resource-management.
// Spec: 2025-11-25 basic/utilities/tasks#protocol-errors.
// What a client says of its tasks, frame by frame.
func TestClientAsReceiverOfTasks(t *testing.T) {
	const elicit = `{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"message":%q,"requestedSchema":{"type":"object","properties":{}}%s}}`
	synctest.Test(t, func(t *testing.T) {
		s, answered, noted := sessionScript()
		began, release := make(chan string, 10), make(chan error)
		c, stop := connectTo(t, s, &client.Options{
			Revisions: []mcp.Revision{mcp.Revision20251125}, AnswerAsTasks: true,
			Elicit: func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				began <- p.Message
				select {
				case err := <-release:
					return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{}`)}, err
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			},
		})
		defer stop()
		_ = c
		about := func(id, method, task string) message {
			s.send(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":{"taskId":%q,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"other"}}}}`, id, method, task)
			return answered(t, `"`+id+`"`)
		}
		begin := func(id, task string) taskOnWire {
			s.send(elicit, id, "question "+id, task)
			made := decodeInto[struct{ Task taskOnWire }](t, answered(t, `"`+id+`"`).Result).Task
			if got := soon(t, began, "question"); got != "question "+id {
				t.Errorf("asked %q", got)
			}
			return made
		}

		// A task begins as working, with an ID that cannot be guessed.
		one := begin("1", `,"task":{"ttl":60000}`)
		if one.Status != "working" || len(one.ID) < 22 || one.CreatedAt == "" || one.LastUpdatedAt == "" || one.TTL == nil || *one.TTL != 60000 || one.PollInterval == nil {
			t.Errorf("the task is %+v", one)
		}
		if _, err := time.Parse(time.RFC3339, one.CreatedAt); err != nil {
			t.Error(err)
		}
		two := begin("2", `,"task":{"ttl":999999999999}`)
		if two.ID == one.ID || *two.TTL != (24*time.Hour).Milliseconds() {
			t.Errorf("the second task is %+v", two)
		}
		three := begin("3", `,"task":{}`)

		// Its result is waited for, and is what the request would have returned.
		s.send(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":{"taskId":%q}}`, one.ID)
		if got := about("get", mcp.MethodGetTask, one.ID); decodeInto[taskOnWire](t, got.Result).Status != "working" || strings.Contains(got.raw, "related-task") {
			t.Errorf("the state is %s", got.raw)
		}
		pass(time.Second)
		release <- nil
		result := answered(t, `"result"`)
		if want := `"io.modelcontextprotocol/related-task":{"taskId":"` + one.ID + `"}`; !strings.Contains(result.raw, `"action":"accept"`) || !strings.Contains(result.raw, want) {
			t.Errorf("the result is %s", result.raw)
		}
		done := decodeInto[taskOnWire](t, about("get again", mcp.MethodGetTask, one.ID).Result)
		if done.Status != "completed" || done.LastUpdatedAt == done.CreatedAt {
			t.Errorf("the state is %+v", done)
		}
		notes := noted()
		if last := notes[len(notes)-1]; last.Method != mcp.NoteTaskStatus || !reflect.DeepEqual(decodeInto[taskOnWire](t, last.Params), done) || strings.Contains(last.raw, "related-task") {
			t.Errorf("the client said %s", last.raw)
		}

		// A failure is that of the request.
		release <- errors.New("nobody is here")
		if got := about("failed", mcp.MethodTaskResult, two.ID); got.Error == nil || got.Error.Code != -32603 || !strings.Contains(got.Error.Message, "nobody is here") {
			t.Errorf("the result is %s", got.raw)
		}
		if got := decodeInto[taskOnWire](t, about("why", mcp.MethodGetTask, two.ID).Result); got.Status != "failed" || !strings.Contains(got.StatusMessage, "nobody is here") {
			t.Errorf("the state is %+v", got)
		}

		// A cancelled task has stopped, and stays cancelled. An ended one cannot be cancelled.
		if got := decodeInto[taskOnWire](t, about("cancel", mcp.MethodCancelTask, three.ID).Result); got.Status != "cancelled" {
			t.Errorf("the state is %+v", got)
		}
		if got := about("cancelled", mcp.MethodTaskResult, three.ID); got.Error == nil {
			t.Errorf("the result is %s", got.raw)
		}
		for i, id := range []string{one.ID, two.ID, three.ID, "unknown"} {
			if got := about(fmt.Sprint("cancel ", i), mcp.MethodCancelTask, id); got.Error == nil || got.Error.Code != -32602 {
				t.Errorf("the cancellation of %s is answered by %s", id, got.raw)
			}
		}
		for _, method := range []string{mcp.MethodGetTask, mcp.MethodTaskResult} {
			if got := about("unknown "+method, method, "unknown"); got.Error == nil || got.Error.Code != -32602 {
				t.Errorf("%s is answered by %s", method, got.raw)
			}
		}

		// After its time a task is gone.
		pass(time.Minute)
		if got := about("late", mcp.MethodGetTask, one.ID); got.Error == nil || got.Error.Code != -32602 {
			t.Errorf("a task that has expired is answered by %s", got.raw)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-listing.
// Spec: 2025-11-25 basic/utilities/tasks#resource-management.
// Tasks are listed by pages, and bounded in number.
func TestClientListsItsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, answered, _ := sessionScript()
		_, stop := connectTo(t, s, &client.Options{
			Revisions: []mcp.Revision{mcp.Revision20251125}, AnswerAsTasks: true,
			Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Model: "m", Content: mcp.OneOrMany{mcp.Text("x")}}, nil
			},
		})
		defer stop()
		sample := func(i int) message {
			s.send(`{"jsonrpc":"2.0","id":"s%d","method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"task":{}}}`, i)
			return answered(t, fmt.Sprintf(`"s%d"`, i))
		}
		var ids []string
		for i := range 256 {
			ids = append(ids, decodeInto[struct{ Task taskOnWire }](t, sample(i).Result).Task.ID)
		}
		if got := sample(256); got.Error == nil || !strings.Contains(got.Error.Message, "too many tasks") {
			t.Errorf("one task too many is answered by %s", got.raw)
		}
		var listed []string
		cursor := ""
		for page := 0; page == 0 || cursor != ""; page++ {
			s.send(`{"jsonrpc":"2.0","id":"p%d","method":"tasks/list","params":{%s}}`, page, cursor)
			got := decodeInto[struct {
				Tasks []taskOnWire `json:"tasks"`
				Next  *string      `json:"nextCursor"`
			}](t, answered(t, fmt.Sprintf(`"p%d"`, page)).Result)
			for _, task := range got.Tasks {
				listed = append(listed, task.ID)
			}
			if cursor = ""; got.Next != nil {
				cursor = fmt.Sprintf(`"cursor":%q`, *got.Next)
			}
			if len(got.Tasks) > 100 || page > 5 {
				t.Fatalf("page %d has %d tasks", page, len(got.Tasks))
			}
		}
		if !slices.Equal(ids, listed) {
			t.Errorf("listed %d tasks, want %d, in order", len(listed), len(ids))
		}
		for i, bad := range []string{"x", "", "0", "99999"} {
			s.send(`{"jsonrpc":"2.0","id":"b%d","method":"tasks/list","params":{"cursor":%q}}`, i, bad)
			if got := answered(t, fmt.Sprintf(`"b%d"`, i)); got.Error == nil || got.Error.Code != -32602 {
				t.Errorf("the cursor %q is answered by %s", bad, got.raw)
			}
		}
		// One whose result was fetched makes room for another.
		s.send(`{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":{"taskId":%q}}`, ids[7])
		answered(t, `"r"`)
		if got := sample(257); got.Error != nil {
			t.Errorf("after one was fetched, a task is answered by %s", got.raw)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-support-and-handling (1).
// Spec: 2025-11-25 basic/utilities/tasks#capabilities.
// A client that has not declared tasks ignores that one is wanted. Neither roots nor
// what the client cannot answer is a task.
func TestClientWithoutTasks(t *testing.T) {
	for _, offered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, answered, _ := sessionScript()
			declared := make(chan string, 1)
			script := s.script
			s.script = func(s *scripted, m *jsonrpc.Message) {
				if m.Method == mcp.MethodInitialize {
					declared <- string(m.Params)
				}
				script(s, m)
			}
			_, stop := connectTo(t, s, &client.Options{
				Revisions: []mcp.Revision{mcp.Revision20251125}, AnswerAsTasks: offered, Roots: []*mcp.Root{{URI: "file:///x"}},
				Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
				},
			})
			defer stop()
			said := soon(t, declared, "initialize")
			if want := `"tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}}}}`; strings.Contains(said, want) != offered || !offered && strings.Contains(said, `"tasks"`) {
				t.Errorf("the client declares %s", said)
			}
			s.send(`{"jsonrpc":"2.0","id":"roots","method":"roots/list","params":{"task":{}}}`)
			if got := answered(t, `"roots"`); !strings.Contains(got.raw, "file:///x") {
				t.Errorf("roots are answered by %s", got.raw)
			}
			s.send(`{"jsonrpc":"2.0","id":"sample","method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"task":{}}}`)
			if got := answered(t, `"sample"`); strings.Contains(got.raw, "taskId") {
				t.Errorf("sampling is answered by %s", got.raw)
			}
			s.send(`{"jsonrpc":"2.0","id":"elicit","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},"task":{}}}`)
			if got := answered(t, `"elicit"`); strings.Contains(got.raw, "decline") == offered {
				t.Errorf("elicitation is answered by %s", got.raw)
			}
			s.send(`{"jsonrpc":"2.0","id":"bad","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},"task":7}}`)
			if got := answered(t, `"bad"`); (got.Error != nil && got.Error.Code == -32602) != offered {
				t.Errorf("a task that is a number is answered by %s", got.raw)
			}
			s.send(`{"jsonrpc":"2.0","id":"list","method":"tasks/list"}`)
			if got := answered(t, `"list"`); (got.Error != nil && got.Error.Code == -32601) == offered {
				t.Errorf("tasks/list is answered by %s", got.raw)
			}
		})
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#getting-tasks.
// Spec: 2025-11-25 basic/utilities/tasks#task-notifications (2).
// What a server does with the tasks of a client, frame by frame: it polls at the
// client's interval, sooner when it is told of a change, and asks for the result.
func TestServerAsRequestorOfTasks(t *testing.T) {
	const state = `{"jsonrpc":"2.0","id":%s,"result":{"taskId":"q1","status":%q,"createdAt":"c","lastUpdatedAt":"l","ttl":null,"pollInterval":5000}}`
	for _, tt := range []struct {
		name  string
		reply func(w *wire, asked message) // answers the question
		want  string
	}{
		{"polled", func(w *wire, asked message) {
			w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"task":{"taskId":"q1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null,"pollInterval":5000}}}`)
			begun := time.Now()
			for _, status := range []string{"working", "completed"} {
				get := w.next()
				if waited := time.Since(begun); get.Method != mcp.MethodGetTask || waited != 5*time.Second || string(get.Params) != `{"taskId":"q1"}` {
					w.t.Errorf("after %s the server sent %s", waited, get.raw)
				}
				begun = time.Now()
				w.send(fmt.Sprintf(state, get.ID, status))
			}
			result := w.next()
			if result.Method != mcp.MethodTaskResult || string(result.Params) != `{"taskId":"q1"}` {
				w.t.Errorf("the server sent %s", result.raw)
			}
			w.send(`{"jsonrpc":"2.0","id":` + string(result.ID) + `,"result":{"action":"accept","content":{"city":"Bern"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"q1"}}}}`)
		}, "Bern"},
		{"told", func(w *wire, asked message) {
			w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"task":{"taskId":"q1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null,"pollInterval":5000}}}`)
			begun := time.Now()
			pass(time.Second)
			w.send(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"another","status":"completed","createdAt":"c","lastUpdatedAt":"l","ttl":null}}`)
			w.send(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"q1","status":"completed","createdAt":"c","lastUpdatedAt":"l","ttl":null}}`)
			get := w.next()
			if waited := time.Since(begun); get.Method != mcp.MethodGetTask || waited != time.Second {
				w.t.Errorf("after %s the server sent %s", waited, get.raw)
			}
			w.send(fmt.Sprintf(state, get.ID, "failed"))
			w.send(`{"jsonrpc":"2.0","id":` + string(w.next().ID) + `,"error":{"code":-1,"message":"the user is away"}}`)
		}, "the user is away"},
		{"waits for input", func(w *wire, asked message) {
			w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"task":{"taskId":"q1","status":"input_required","createdAt":"c","lastUpdatedAt":"l","ttl":null}}}`)
			result := w.next()
			if result.Method != mcp.MethodTaskResult {
				w.t.Errorf("the server sent %s", result.raw)
			}
			w.send(`{"jsonrpc":"2.0","id":` + string(result.ID) + `,"result":{"action":"accept","content":{"city":"Genf"}}}`)
		}, "Genf"},
		{"answered at once", func(w *wire, asked message) {
			w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"action":"accept","content":{"city":"Basel"}}}`)
		}, "Basel"},
		{"malformed task", func(w *wire, asked message) {
			w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"task":{"taskId":7}}}`)
		}, "malformed task"},
		{"malformed state", func(w *wire, asked message) {
			w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"task":{"taskId":"q1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null}}}`)
			w.send(`{"jsonrpc":"2.0","id":` + string(w.next().ID) + `,"result":{"taskId":"q2","status":"completed"}}`)
		}, "malformed state"},
		{"expired", func(w *wire, asked message) {
			w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"task":{"taskId":"q1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null}}}`)
			w.send(`{"jsonrpc":"2.0","id":` + string(w.next().ID) + `,"error":{"code":-32602,"message":"task not found"}}`)
		}, "task not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
				server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
					where, err := server.Elicit[city](ctx, call, "where", "Where?")
					if err != nil {
						return err.Error(), nil
					}
					return where.City, nil
				})
				w := rawly(t, s, &mcp.ServeOptions{AskAsTasks: true, AnswerTimeout: time.Hour})
				if a, _ := w.exchange("0", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"},"capabilities":{"elicitation":{},"tasks":{"requests":{"elicitation":{"create":{}}}}}}}`); a.Error != nil {
					t.Fatal(a.raw)
				}
				w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{}}}`)
				asked := w.next()
				if asked.Method != mcp.MethodElicit || !strings.Contains(asked.raw, `"task":{"ttl":3600000}`) {
					t.Fatalf("the server sent %s", asked.raw)
				}
				tt.reply(w, asked)
				if a := w.next(); string(a.ID) != "1" || !strings.Contains(a.raw, tt.want) {
					t.Errorf("the result is %s, want one with %q", a.raw, tt.want)
				}
			})
		})
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#associating-task-related-messages (1).
// The answer to a question that a task of the server depends on names that task, with
// what the application says in its own _meta, and so does the acknowledgement of a
// question that is answered apart. Where the question names no task, neither does.
func TestAnswersNameTheTaskOfTheirQuestion(t *testing.T) {
	const (
		elicit = `{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}%s}}`
		of     = `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}`
	)
	synctest.Test(t, func(t *testing.T) {
		s, answered, _ := sessionScript()
		_, stop := connectTo(t, s, &client.Options{
			Revisions: []mcp.Revision{mcp.Revision20251125}, AnswerAsTasks: true,
			Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ActionAccept, Meta: mcp.Meta{"own": json.RawMessage("1")}}, nil
			},
		})
		defer stop()
		for id, question := range map[string]struct {
			rest  string
			names bool
		}{
			"plain":     {``, false},
			"of a task": {of, true},
			"apart":     {of + `,"task":{}`, true},
			"malformed": {`,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":7}}`, false},
		} {
			s.send(elicit, id, question.rest)
			got := answered(t, `"`+id+`"`)
			if strings.Contains(got.raw, `"io.modelcontextprotocol/related-task":{"taskId":"t1"}`) != question.names || got.Error != nil {
				t.Errorf("the question %q is answered by %s", id, got.raw)
			}
			if id != "apart" && !strings.Contains(got.raw, `"own":1`) {
				t.Errorf("the answer to %q has lost its own _meta: %s", id, got.raw)
			}
		}
	})
}
