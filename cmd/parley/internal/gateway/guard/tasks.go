package guard

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Tasks knows which tools the tasks are of that calls have become: what guards do about a
// call, they do about what comes of it later. The zero value is ready.
type Tasks struct {
	mu sync.Mutex
	// of has tools by digests of the IDs of tasks that clients see, and before those that
	// were in of until it was full.
	of, before map[[sha256.Size]byte]string
}

// maxTasks bounds how many tasks are known twice.
const maxTasks = 10_000

// Made remembers the task that an operation has become, and returns its ID as clients see
// it; "" if it has become none.
func (t *Tasks) Made(op *Operation, result any) (id string) {
	raw, ok := result.(json.RawMessage)
	if !ok || !op.Method.AsTask || !related.IsTask(raw) {
		return ""
	}
	if id, _ = wire.Text(wire.Find(raw, "taskId")); id != "" {
		t.add(id, op.Subject)
	}
	return id
}

func (t *Tasks) add(id, tool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxTasks {
		t.of, t.before = map[[sha256.Size]byte]string{}, t.of
	}
	t.of[sha256.Sum256([]byte(id))] = tool
}

// ToolOf returns the tool that the task is of which an operation is about, and reports
// whether there is one, and it is known.
func (t *Tasks) ToolOf(op *Operation) (tool string, ok bool) {
	if op.Method.Feature != mcp.TaskFeature {
		return "", false
	}
	id := sha256.Sum256([]byte(op.Shown))
	t.mu.Lock()
	defer t.mu.Unlock()
	if tool, ok = t.of[id]; !ok {
		tool, ok = t.before[id]
	}
	return tool, ok
}
