package tasksuite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// user answers the questions of interview. The zero value accepts.
type user struct {
	declines bool
	noTasks  bool

	mu    sync.Mutex
	asked []string
	said  []string // in log messages
}

var replies = map[string]string{"Your name?": "Ada", "Which colour?": "red", "A motto for Ada": "Onwards!"}

func (u *user) options() *client.Options {
	return &client.Options{
		Logger: mcptest.Quiet(), Elicit: u.elicit, Sample: u.sample, NoTasks: u.noTasks, LogLevel: mcp.LevelWarning,
		Log: func(_ context.Context, m *mcp.LogParams) {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.said = append(u.said, fmt.Sprint(m.Data))
		},
	}
}

func (u *user) elicit(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	u.note(p.Message)
	if u.declines {
		return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
	}
	return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: filled(replies[p.Message])}, nil
}

func (u *user) sample(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	prompt := (&mcp.CreateMessageResult{Content: p.Messages[0].Content}).Text()
	u.note(prompt)
	return generated(replies[prompt]), nil
}

func (u *user) note(question string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, question)
}

func generated(text string) *mcp.CreateMessageResult {
	return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "suite", Content: mcp.OneOrMany{mcp.Text(text)}}
}

func filled(v string) json.RawMessage { return json.RawMessage(`{"value":"` + v + `"}`) }

// questionsAsked returns what the user was asked so far, sorted.
func (u *user) questionsAsked() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(slices.Values(u.asked))
}

const interviewed = "Dear Ada, a red hat: Onwards!"

// asksOnce expects that the user was asked each question once.
func (w *world) asksOnce(u *user) {
	w.Helper()
	if got, want := u.questionsAsked(), slices.Sorted(maps.Keys(replies)); !slices.Equal(got, want) {
		w.Errorf("asked %q, want %q", got, want)
	}
}

// A call that is a task asks its user one question after the other, and several at
// once. What must not happen twice happens once, however often the handler runs.
func (w *world) questions() {
	u := new(user)
	c := w.client(w.process(taskOptions), "ann", u)
	var states []mcp.TaskStatus
	got, err := client.Call[string](w.Context(), c, "interview", nil, client.WithTask(0),
		client.WithTaskStatus(func(t *mcp.Task) { states = append(states, t.Status) }))
	if err != nil || got != interviewed {
		w.Errorf("%q, %v", got, err)
	}
	w.asksOnce(u)
	w.counted("number", 1)
	w.counted("greeting", 1)
	// In a session the result may come before anybody has asked for the last state.
	if !slices.Contains(states, mcp.TaskInputRequired) || states[len(states)-1] != mcp.TaskCompleted && !w.isSession() {
		w.Errorf("the states were %v", states)
	}
}

// Answers may come one by one; the others stay open. What is answered twice keeps its
// first answer.
func (w *world) parts() {
	if w.isSession() {
		w.Skip("2025-11-25 answers questions by responses, not by updates")
	}
	c := w.client(w.process(taskOptions), "ann", new(user))
	task := w.start(c, "interview")
	answer := func(key string, answer any) {
		w.Helper()
		raw, err := json.Marshal(answer)
		if err != nil {
			w.Fatal(err)
		}
		params := mcp.UpdateTaskParams{ID: task.ID(), InputResponses: map[string]json.RawMessage{key: raw}}
		if _, err := c.Do(w.Context(), mcp.MethodUpdateTask, params); err != nil {
			w.Fatal(err)
		}
	}
	open := func(want ...string) {
		w.Helper()
		w.pass(time.Millisecond)
		if got := slices.Sorted(maps.Keys(w.await(task, mcp.TaskInputRequired).InputRequests)); !slices.Equal(got, want) {
			w.Fatalf("open are %q, want %q", got, want)
		}
	}
	form := func(v string) any { return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: filled(v)} }
	open("name")
	answer("name", form("Ada"))
	open("colour", "motto")
	answer("nothing of the kind", form("?"))
	answer("colour", form("red"))
	open("motto")
	answer("colour", form("blue"))
	open("motto")
	answer("motto", generated("Onwards!"))
	if got := w.text(task); got != interviewed {
		w.Errorf("got %q", got)
	}
	w.counted("number", 1)
}

// Whoever knows the ID, and may, answers the questions of a task, and gets its result.
func (w *world) elsewhere() {
	p, u := w.process(taskOptions), new(user)
	id := w.start(w.client(p, "ann", new(user)), "interview").ID()
	other := w.client(p, "ann", u)
	w.await(other.Task(id, ""), mcp.TaskInputRequired)
	if err := other.Task(id, "").Answer(w.Context()); err != nil {
		w.Fatal(err)
	}
	if got := w.text(other.Task(id, "interview")); got != interviewed {
		w.Errorf("got %q", got)
	}
	w.asksOnce(u)
}

// A user who declines is heard by the handler, as in a plain call.
func (w *world) declined() {
	u := &user{declines: true}
	c := w.client(w.process(taskOptions), "ann", u)
	_, err := client.Call[string](w.Context(), c, "interview", nil, client.WithTask(0))
	failed, ok := errors.AsType[*client.ToolError](err)
	if !ok || !strings.Contains(textOf(failed.Result), `the user declined: "name"`) {
		w.Errorf("got %v", err)
	}
	if got := u.questionsAsked(); len(got) != 1 {
		w.Errorf("asked %q", got)
	}
}
