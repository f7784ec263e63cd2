package scan

import (
	"encoding/json"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
)

// tasks knows which tools the tasks are of that calls have become: what comes of them later
// is looked at as what comes of the call. The zero value is ready.
type tasks struct {
	mu sync.Mutex
	// of has tools by the IDs of tasks that clients see, and before those that were in of
	// until it was full.
	of, before map[string]string
}

// maxTasks bounds how many tasks are known twice.
const maxTasks = 10_000

// made remembers the task that a call may have become.
func (t *tasks) made(op *guard.Operation, result any) {
	raw, ok := result.(json.RawMessage)
	if !ok || !op.Method.AsTask {
		return
	}
	for _, in := range [][]byte{raw, wire.Find(raw, "task")} {
		if id, ok := wire.Text(wire.Find(in, "taskId")); ok && id != "" {
			t.add(id, op.Subject)
		}
	}
}

func (t *tasks) add(id, tool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxTasks {
		t.of, t.before = map[string]string{}, t.of
	}
	t.of[id] = tool
}

// toolOf returns the tool that a task is of, or otherwise if that is not known.
func (t *tasks) toolOf(id, otherwise string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range []map[string]string{t.of, t.before} {
		if tool, ok := known[id]; ok {
			return tool
		}
	}
	return otherwise
}
