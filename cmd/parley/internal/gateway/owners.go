package gateway

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// owners knows whose tasks are that have been made through the gateway. Behind it, all
// principals may be one. Its zero value is ready.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
type owners struct {
	mu     sync.Mutex
	of     map[string]string  // principals by the IDs of tasks that clients see
	tasks  map[string][]owned // those of a principal, the oldest first
	number uint64             // of the latest
}

// owned is a task. Those that are made later have higher numbers.
type owned struct {
	id     string
	number uint64
}

// maxOwners bounds how many tasks are known, and maxOwnedTasks how many of one principal.
// One that is forgotten is anybody's who knows its ID, as all are when the gateway has been
// started again: so nobody's tasks are forgotten for those of somebody who has more.
const (
	maxOwners     = 100_000
	maxOwnedTasks = 10_000
)

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
	if o.of == nil {
		o.of, o.tasks = map[string]string{}, map[string][]owned{}
	}
	if owner, ok := o.of[id]; ok { // a server uses IDs again
		o.keep(owner, slices.DeleteFunc(o.tasks[owner], func(t owned) bool { return t.id == id }))
	}
	o.number++
	o.of[id] = principal
	o.tasks[principal] = append(o.tasks[principal], owned{id, o.number})
	switch {
	case len(o.tasks[principal]) > maxOwnedTasks:
		o.forget(principal)
	case len(o.of) > maxOwners:
		o.forget(o.richest())
	}
}

// richest returns the principal that has the most tasks; of several, the one whose oldest
// is the oldest of all. The caller holds o.mu.
func (o *owners) richest() (richest string) {
	var most []owned
	for principal, tasks := range o.tasks {
		if len(tasks) > len(most) || len(tasks) == len(most) && tasks[0].number < most[0].number {
			richest, most = principal, tasks
		}
	}
	return richest
}

// forget forgets the oldest task of a principal. The caller holds o.mu.
func (o *owners) forget(principal string) {
	tasks := o.tasks[principal]
	delete(o.of, tasks[0].id)
	o.keep(principal, tasks[1:])
}

// keep makes these the tasks of a principal. The caller holds o.mu.
func (o *owners) keep(principal string, tasks []owned) {
	if len(tasks) == 0 {
		delete(o.tasks, principal)
		return
	}
	o.tasks[principal] = tasks
}

// admits reports whether a task is a principal's, as far as is known.
func (o *owners) admits(id, principal string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, ok := o.of[id]
	return !ok || owner == principal
}
