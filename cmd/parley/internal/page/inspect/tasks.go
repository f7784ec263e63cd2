package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// maxTasks bounds the tasks that are remembered for a connection.
const maxTasks = 500

// tasks remembers the tasks of servers: those that calls have become, those that servers
// list, and those whose IDs somebody has entered.
type tasks struct{ server *Server }

// taskBook has the tasks of one connection, oldest first.
type taskBook struct {
	mu    sync.Mutex
	last  int
	tasks []*knownTask
}

// knownTask is a task as it was seen last. Key names it in the API, as IDs are whatever
// servers make of them.
type knownTask struct {
	Key   string     `json:"key"`
	Tool  string     `json:"tool,omitzero"`
	Task  mcp.Task   `json:"task"`
	Seen  time.Time  `json:"seen,omitzero"`
	Error *web.Error `json:"error,omitzero"`
	// State is the state as the server sent it.
	State json.RawMessage `json:"state,omitzero"`
}

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
	return partOf[taskBook](c).see(&mcp.Task{ID: wanted.ID}, wanted.Tool), nil
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
	known = partOf[taskBook](c).see(&state.Task, known.Tool)
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

// follow waits for the end of a task as a call, which has the result in the end.
func (p *tasks) follow(r *web.Request) (any, error) {
	c, known, task, err := p.named(r)
	if err != nil {
		return nil, err
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
	c.spawn(func(ctx context.Context) {
		err := task.Answer(ctx)
		var failure *web.Error
		if err != nil {
			failure = c.explain(err)
		}
		partOf[taskBook](c).fail(known.Key, failure)
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

// sawTask remembers the state of a task.
func (c *Connection) sawTask(t *mcp.Task, tool string) {
	c.publish("task", partOf[taskBook](c).see(t, tool))
}

func (b *taskBook) all() []knownTask {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]knownTask, 0, len(b.tasks))
	for _, t := range slices.Backward(b.tasks) {
		all = append(all, *t)
	}
	return all
}

func (b *taskBook) byKey(key string) (knownTask, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		if t.Key == key {
			return *t, true
		}
	}
	return knownTask{}, false
}

// see takes the state of a task that may be new. Without a status, only its ID is known.
func (b *taskBook) see(t *mcp.Task, tool string) knownTask {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.tasks, func(known *knownTask) bool { return known.Task.ID == t.ID })
	if i < 0 {
		b.last++
		b.tasks = append(b.tasks, &knownTask{Key: "t" + strconv.Itoa(b.last), Task: mcp.Task{ID: t.ID}})
		b.tasks = b.tasks[max(0, len(b.tasks)-maxTasks):]
		i = len(b.tasks) - 1
	}
	known := b.tasks[i]
	if tool != "" {
		known.Tool = tool
	}
	if t.Status != "" {
		known.Task, known.Seen, known.Error = *t, time.Now(), nil
	}
	return *known
}

func (b *taskBook) fail(key string, why *web.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		if t.Key == key {
			t.Error = why
		}
	}
}

func (b *taskBook) drop(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tasks = slices.DeleteFunc(b.tasks, func(t *knownTask) bool { return t.Key == key })
}
