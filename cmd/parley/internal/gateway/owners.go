package gateway

import (
	"encoding/json"
	"sync"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// owners knows whose tasks are that have been made through the gateway. Behind it, all
// principals may be one. Its zero value is ready.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
type owners struct {
	mu sync.Mutex
	// of has principals by the IDs of tasks that clients see, and before those that were
	// in of until it was full.
	of, before map[string]string
}

// maxOwners bounds how many tasks are known twice: what is older is anybody's who knows
// its ID, as it is when the gateway has been started again.
const maxOwners = 50_000

// made remembers whose the task is that a result may have made.
func (o *owners) made(x *mcp.Exchange, result json.RawMessage) {
	if x.Task == nil || x.Peer.Principal == "" {
		return
	}
	for _, of := range [][]byte{result, wire.Find(result, "task")} {
		if id, ok := wire.Text(wire.Find(of, "taskId")); ok {
			o.add(id, x.Peer.Principal)
		}
	}
}

func (o *owners) add(id, principal string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.of) >= maxOwners || o.of == nil {
		o.of, o.before = map[string]string{}, o.of
	}
	o.of[id] = principal
}

// admits reports whether a task is a principal's, as far as is known.
func (o *owners) admits(id, principal string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, ok := o.of[id]
	if !ok {
		owner, ok = o.before[id]
	}
	return !ok || owner == principal
}
