package inspect

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// maxTasks bounds the tasks that are remembered for a connection.
const maxTasks = 500

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
	// Call is the call that follows it, and asks what it wants to know. Asking says that its
	// questions are asked without one.
	Call   string `json:"call,omitzero"`
	Asking bool   `json:"asking,omitzero"`
	// AskError is why its questions could not be asked without a call.
	AskError *web.Error `json:"askError,omitzero"`
	// State is the state as the server sent it.
	State json.RawMessage `json:"state,omitzero"`
}

// sawTask remembers the state of a task, and tells if it is news.
func (c *Connection) sawTask(t *mcp.Task, tool string) knownTask {
	known, news := partOf[taskBook](c).see(t, tool)
	if news {
		c.publish("task", known)
	}
	return known
}

// follower returns the ID of the call that follows a task, or "".
func (c *Connection) follower(id string) string {
	for _, k := range partOf[callBook](c).all() {
		if k.follows(id) {
			return k.ID
		}
	}
	return ""
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

// see takes the state of a task that may be new, and reports whether that is news.
// Without a status, only its ID is known.
func (b *taskBook) see(t *mcp.Task, tool string) (seen knownTask, news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.tasks, func(known *knownTask) bool { return known.Task.ID == t.ID })
	if news = i < 0; news {
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
		news = news || !reflect.DeepEqual(known.Task, *t)
		known.Task, known.Seen = *t, time.Now()
	}
	return *known, news
}

// ask notes that the questions of a task are asked, unless they are being asked already.
func (b *taskBook) ask(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		if t.Key == key && !t.Asking {
			t.Asking, t.AskError = true, nil
			return true
		}
	}
	return false
}

// asked notes what became of asking the questions of a task.
func (b *taskBook) asked(key string, why *web.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		if t.Key == key {
			t.Asking, t.AskError = false, why
		}
	}
}

func (b *taskBook) drop(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tasks = slices.DeleteFunc(b.tasks, func(t *knownTask) bool { return t.Key == key })
}
