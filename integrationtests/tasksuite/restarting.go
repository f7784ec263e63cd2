package tasksuite

import (
	"errors"
	"strings"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// A server that is closed leaves its tasks to the next one.
func (w *world) closed() {
	w.goesOn(func(p *process) {
		if err := p.server.Close(w.Context()); err != nil {
			w.Error(err)
		}
	})
}

// A server that dies, so that nobody takes its tasks down, leaves them as well; those
// that ran go on when the time of its lease is over.
func (w *world) died() { w.goesOn((*process).die) }

// goesOn expects that another server goes on with the tasks of one that has ended, as
// far as it may.
func (w *world) goesOn(end func(*process)) {
	first, u := w.process(taskOptions), new(user)
	c := w.client(first, "ann", u)
	waiting, running, fragile := w.start(c, "interview"), w.start(c, "build"), w.start(c, "fragile")
	w.await(waiting, mcp.TaskInputRequired)
	w.counted("build", 2)
	end(first)

	second := w.process(taskOptions)
	c = w.client(second, "ann", u)
	if got := w.text(c.Task(waiting.ID(), "interview")); got != interviewed {
		w.Errorf("the task that waited: %q", got)
	}
	w.asksOnce(u)

	if _, err := c.Task(fragile.ID(), "").Wait(w.Context()); !saysWhy(err, "not declared resumable") {
		w.Errorf("the task that cannot be resumed: %v", err)
	}
	if s := w.await(c.Task(fragile.ID(), ""), mcp.TaskFailed); !strings.Contains(s.StatusMessage, "not declared resumable") {
		w.Errorf("the task that cannot be resumed says %q", s.StatusMessage)
	}

	w.pass(45 * time.Second) // without anybody asking for it
	w.counted("build", 3)
	w.await(c.Task(running.ID(), ""), mcp.TaskWorking)
	close(second.gate)
	if got := w.text(c.Task(running.ID(), "build")); got != "built of steel" {
		w.Errorf("the task that was resumed: %q", got)
	}
	for _, what := range []string{"order", "plan"} {
		w.counted(what, 2) // of two tasks
	}
	w.counted("number", 1)
	w.counted("greeting", 1)
}

func saysWhy(err error, why string) bool {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && rpc.Code == jsonrpc.CodeInternalError && strings.Contains(rpc.Message, why)
}

// What was interrupted within Once is not done again: its task fails, and says so.
func (w *world) interrupted() {
	first := w.process(taskOptions)
	id := w.start(w.client(first, "ann", new(user)), "risky").ID()
	w.counted("pay", 1)
	first.die()
	second := w.process(taskOptions)
	r, err := w.client(second, "ann", new(user)).Task(id, "").Wait(w.Context())
	if !saysWhy(err, `"pay" was interrupted`) {
		w.Errorf("%+v, %v", r, err)
	}
	w.counted("pay", 1)
}

// Servers that share nothing but the store share the tasks: what a client does by one
// of them reaches the handler that runs in the other.
func (w *world) shared() {
	first, second, u := w.process(taskOptions), w.process(taskOptions), new(user)
	c, other := w.client(first, "ann", u), w.client(second, "ann", u)
	hanging, waiting, working := w.start(c, "hang"), w.start(c, "interview"), w.start(c, "work")
	if err := other.Task(hanging.ID(), "").Cancel(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.pass(taskOptions.Lease / 2) // its process looks after a third of it
	w.counted("hang ended", 1)
	w.isCancelled(hanging)
	if got := w.text(other.Task(working.ID(), "")); got != "done" {
		w.Errorf("the task that works: %q", got)
	}
	for _, task := range []*client.Task{other.Task(waiting.ID(), ""), waiting} {
		if got := w.text(task); got != interviewed {
			w.Errorf("the task that waits: %q", got)
		}
	}
	w.asksOnce(u)
	w.counted("number", 1)
}
