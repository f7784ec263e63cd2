package inspect

import (
	"context"
	"errors"
	"net/http"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// tasks remembers the tasks of servers: those that calls have become, those that servers
// list, and those whose IDs somebody has entered.
type tasks struct{ server *Server }

func (p *tasks) routes(api *web.API) {
	api.Handle("GET /connections/{c}/tasks", p.list)
	api.Handle("POST /connections/{c}/tasks", p.add)
	api.Handle("GET /connections/{c}/tasks/{key}", p.get)
	api.Handle("DELETE /connections/{c}/tasks/{key}", p.forget)
	api.Handle("POST /connections/{c}/tasks/{key}/follow", p.follow)
	api.Handle("POST /connections/{c}/tasks/{key}/answer", p.answer)
	api.Handle("POST /connections/{c}/tasks/{key}/cancel", p.cancel)
}

func (p *tasks) prepare(*Connection, *client.Options) {}
func (p *tasks) connected(*Connection)                {}
func (p *tasks) ended(*Connection)                    {}

// shownTasks are tasks as the API shows them.
type shownTasks struct {
	Tasks []knownTask `json:"tasks"`
	// Listed says that the server lists its tasks, and that these are among them.
	Listed bool       `json:"listed"`
	Error  *web.Error `json:"error,omitzero"`
}

// list returns the tasks that are known. With ?fresh, the server is asked for its list.
func (p *tasks) list(r *web.Request) (any, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	var s shownTasks
	if r.URL.Query().Get("fresh") != "" {
		s.Listed, err = c.listTasks(r.Context())
		if err != nil {
			s.Error = c.explain(err)
		}
	}
	s.Tasks = partOf[taskBook](c).all()
	for i := range s.Tasks {
		s.Tasks[i].Call = c.follower(s.Tasks[i].Task.ID)
	}
	return s, nil
}

// listTasks takes over the tasks that the server lists, and reports whether it has a list.
func (c *Connection) listTasks(ctx context.Context) (bool, error) {
	cl, err := c.live()
	if err != nil {
		return false, err
	}
	for t, err := range cl.Tasks(ctx) {
		var undeclared *client.NotDeclaredError
		switch {
		case errors.Is(err, errors.ErrUnsupported), errors.As(err, &undeclared):
			return false, nil
		case err != nil:
			return true, err
		}
		c.sawTask(t, "")
	}
	return true, nil
}

// add remembers a task that was made elsewhere.
func (p *tasks) add(r *web.Request) (any, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	var wanted struct {
		ID   string `json:"taskId"`
		Tool string `json:"tool,omitzero"`
	}
	if err := r.Read(&wanted); err != nil {
		return nil, err
	}
	if wanted.ID == "" {
		e := web.Errorf(http.StatusBadRequest, "task", "a task needs an ID")
		e.Field = "taskId"
		return nil, e
	}
	known, _ := partOf[taskBook](c).see(&mcp.Task{ID: wanted.ID}, wanted.Tool)
	return known, nil
}

// named returns the task that a request names, and what can be done with it.
func (p *tasks) named(r *web.Request) (*Connection, knownTask, *client.Task, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, knownTask{}, nil, err
	}
	known, ok := partOf[taskBook](c).byKey(r.PathValue("key"))
	if !ok {
		e := web.Errorf(http.StatusNotFound, "no_task", "there is no task %q", r.PathValue("key"))
		e.Hint = "the list of tasks has those that are known; the ID of any other can be entered there"
		return nil, known, nil, e
	}
	known.Call = c.follower(known.Task.ID)
	cl, err := c.live()
	if err != nil {
		return c, known, nil, err
	}
	return c, known, cl.Task(known.Task.ID, known.Tool), nil
}

// get asks the server how far a task has come.
func (p *tasks) get(r *web.Request) (any, error) {
	c, known, task, err := p.named(r)
	if err != nil {
		return nil, err
	}
	state, err := task.Status(r.Context())
	if err != nil {
		known.Error = c.explain(err)
		return known, nil
	}
	known = c.sawTask(&state.Task, known.Tool)
	known.Call = c.follower(known.Task.ID)
	known.State, err = wire.Marshal(state)
	return known, err
}

// forget forgets a task here; on the server it goes on.
func (p *tasks) forget(r *web.Request) (any, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	partOf[taskBook](c).drop(r.PathValue("key"))
	c.publish("task", map[string]string{"key": r.PathValue("key"), "state": "removed"})
	return nil, nil //nolint:nilnil // what is done has no answer
}

// follow waits for the end of a task as a call, which has the result in the end: the one
// that does so already, if there is one.
func (p *tasks) follow(r *web.Request) (any, error) {
	c, known, task, err := p.named(r)
	if err != nil {
		return nil, err
	}
	if known.Call != "" {
		return map[string]string{"id": known.Call}, nil
	}
	params, err := wire.Marshal(mcp.TaskParams{ID: known.Task.ID})
	if err != nil {
		return nil, err
	}
	made, err := c.call(wantedCall{Method: mcp.MethodTaskResult, Params: params, Task: true, task: task, tool: known.Tool})
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": made.ID}, nil
}

// answer has the questions of a task asked, and does not wait for the answers.
func (p *tasks) answer(r *web.Request) (any, error) {
	c, known, task, err := p.named(r)
	if err != nil {
		return nil, err
	}
	book := partOf[taskBook](c)
	if known.Call != "" || !book.ask(known.Key) {
		e := web.Errorf(http.StatusConflict, "busy", "the task's questions are being asked already")
		e.Hint = "they wait among the questions of the connection"
		return nil, e
	}
	c.publish("task", map[string]string{"key": known.Key})
	c.spawn(func(ctx context.Context) {
		err := task.Answer(withCall(ctx, "", known.Tool))
		var failure *web.Error
		if err != nil {
			failure = c.explain(err)
		}
		book.asked(known.Key, failure)
		c.publish("task", map[string]string{"key": known.Key})
	})
	return nil, nil //nolint:nilnil // what is done has no answer
}

func (p *tasks) cancel(r *web.Request) (any, error) {
	c, known, task, err := p.named(r)
	if err != nil {
		return nil, err
	}
	if err := task.Cancel(r.Context()); err != nil {
		return nil, c.explain(err)
	}
	c.publish("task", map[string]string{"key": known.Key})
	return nil, nil //nolint:nilnil // what is done has no answer
}
