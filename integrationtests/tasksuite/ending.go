package tasksuite

import (
	"context"
	"errors"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// isCancelled expects that a task stays cancelled.
func (w *world) isCancelled(task *client.Task) {
	w.Helper()
	w.await(task, mcp.TaskCancelled)
	if _, err := task.Wait(w.Context()); !errors.Is(err, client.ErrTaskCancelled) {
		w.Errorf("waiting for a cancelled task: %v", err)
	}
	if err := task.Cancel(w.Context()); err != nil {
		w.Errorf("cancelled twice: %v", err)
	}
	w.pass(10 * time.Second)
	w.await(task, mcp.TaskCancelled)
}

// A handler learns that its task was cancelled.
func (w *world) cancelledWorking() {
	task := w.start(w.client(w.process(taskOptions), "ann", new(user)), "hang")
	w.counted("hang began", 1)
	if err := task.Cancel(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.isCancelled(task)
	w.counted("hang ended", 1)
}

// A task that is cancelled asks nothing any more, and takes no answers.
func (w *world) cancelledWaiting() {
	u := new(user)
	task := w.start(w.client(w.process(taskOptions), "ann", u), "interview")
	w.await(task, mcp.TaskInputRequired)
	if err := task.Cancel(w.Context()); err != nil {
		w.Fatal(err)
	}
	if err := task.Answer(w.Context()); err != nil {
		w.Errorf("answering a cancelled task: %v", err)
	}
	w.isCancelled(task)
	if asked := u.questionsAsked(); len(asked) > 0 {
		w.Errorf("asked %q", asked)
	}
	w.counted("greeting", 0)
}

// When the context of a call ends, its task is cancelled, or left where the caller
// says so.
func (w *world) givenUp() {
	c := w.client(w.process(taskOptions), "ann", new(user))
	for _, leave := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
		opts := []client.CallOption{client.WithTask(0)}
		if leave {
			opts = append(opts, client.WithTaskLeft())
		}
		_, err := c.CallTool(ctx, "hang", nil, opts...)
		cancel()
		given, ok := errors.AsType[*client.TaskError](err)
		if !ok || given.Left != leave || !errors.Is(err, context.DeadlineExceeded) {
			w.Fatalf("left: %t; the error is %v", leave, err)
		}
		task := c.Task(given.Task.ID, "hang")
		if !leave {
			w.isCancelled(task)
			w.counted("hang ended", 1)
			continue
		}
		w.pass(10 * time.Second)
		w.await(task, mcp.TaskWorking)
		w.counted("hang ended", 1)
		if err := task.Cancel(w.Context()); err != nil {
			w.Error(err)
		}
		w.counted("hang ended", 2)
	}
}

// A task is there until its time is over, whatever its status; then nothing of it is.
func (w *world) expiry() {
	o := taskOptions
	o.TTL = 10 * time.Second
	c := w.client(w.process(o), "ann", new(user))
	tasks := map[mcp.TaskStatus]*client.Task{mcp.TaskCompleted: w.start(c, "late")} // which may take until it is a task
	tasks[mcp.TaskWorking] = w.start(c, "hang")
	tasks[mcp.TaskInputRequired] = w.start(c, "interview")
	w.pass(9500 * time.Millisecond)
	for status, task := range tasks {
		w.await(task, status)
	}
	gaveUp := make(chan error, 1)
	go func() { // ends when the task expires
		_, err := tasks[mcp.TaskWorking].Wait(w.Context())
		gaveUp <- err
	}()
	w.pass(510 * time.Millisecond)
	for status, task := range tasks {
		if s, err := task.Status(w.Context()); !errors.Is(err, client.ErrNotFound) {
			w.Errorf("a task that was %s has expired and is %+v, %v", status, s, err)
		}
	}
	w.counted("hang ended", 1)
	if err := <-gaveUp; !errors.Is(err, client.ErrNotFound) {
		w.Errorf("waiting for a task that expires: %v", err)
	}
}

// A client of 2025-11-25 asks how long its task is to be kept, within a bound.
func (w *world) askedTime() {
	if !w.isSession() {
		w.Skip("in 2026-07-28 the server decides alone")
	}
	o := taskOptions
	o.TTL, o.MaxTTL = 10*time.Second, time.Minute
	c := w.client(w.process(o), "ann", new(user))
	for asked, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 3 * time.Second: 3 * time.Second, time.Hour: time.Minute} {
		task := w.start(c, "hang", client.WithTask(asked))
		s, err := task.Status(w.Context())
		if err != nil || s.TTLMs == nil || *s.TTLMs != want.Milliseconds() {
			w.Fatalf("asked for %v, got %+v, %v", asked, s, err)
		}
		w.pass(want - time.Millisecond)
		w.await(task, mcp.TaskWorking)
		w.pass(time.Millisecond)
		if _, err := task.Status(w.Context()); !errors.Is(err, client.ErrNotFound) {
			w.Errorf("after %v: %v", want, err)
		}
	}
}
