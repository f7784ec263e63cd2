package bridge

import (
	"errors"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Room is made at the cost of whoever has the most, so that nobody loses a task because
// somebody else makes many.

// roomLocked reports whether there may be another task. For that, one that has ended is
// forgotten, if there are too many, or too many of its owner.
func (k *tasks) roomLocked(of owner) bool {
	has := map[owner]int{}
	for _, t := range k.held {
		has[t.owner.account()]++
	}
	mine := of.account()
	anyones := has[mine] < maxOwnTasks
	if anyones && len(k.held) < maxTasks {
		return true
	}
	over := k.overLocked(func(t *task) bool { return anyones || t.owner.account() == mine })
	id := ofMost(over, k.accountLocked, has)
	if id == "" || has[k.accountLocked(id)] < has[mine] {
		return false
	}
	k.forgetLocked(id)
	return true
}

// overLocked returns the tasks that have ended, the oldest first, of those that count.
func (k *tasks) overLocked(counts func(*task) bool) (ids []string) {
	for _, id := range k.order {
		if t := k.held[id]; t != nil && t.p.over() && counts(t) {
			ids = append(ids, id)
		}
	}
	return ids
}

// accountLocked is whom a task counts for.
func (k *tasks) accountLocked(id string) owner {
	if t := k.held[id]; t != nil {
		return t.owner.account()
	}
	return k.theirs[id].owner.account()
}

// ofMost returns the first of some tasks that is of whoever has the most of something; ""
// if there are none.
func ofMost(ids []string, of func(string) owner, has map[owner]int) (most string) {
	for _, id := range ids {
		if most == "" || has[of(id)] > has[of(most)] {
			most = id
		}
	}
	return most
}

// weigh makes room for the result of a task that has ended.
func (k *tasks) weigh(t *task) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held[t.id] != t {
		return
	}
	k.size -= t.weighs // if it has been here already
	t.weighs = len(t.p.result)
	if rpc, ok := errors.AsType[*jsonrpc.Error](t.p.err); ok {
		t.weighs += len(rpc.Message) + len(rpc.Data)
	}
	k.size += t.weighs
	for k.held[t.id] == t && k.size > max(maxTaskBytes, t.weighs) {
		k.forgetLocked(k.heaviestLocked(t))
	}
}

// heaviestLocked returns the oldest task that has ended of whoever has the largest results.
// It is t, which has just ended, only if its owner has no other.
func (k *tasks) heaviestLocked(t *task) string {
	has := map[owner]int{}
	for _, other := range k.held {
		has[other.owner.account()] += other.weighs
	}
	over := k.overLocked(func(other *task) bool { return other != t && other.weighs > 0 })
	return ofMost(append(over, t.id), k.accountLocked, has)
}

// roomForTheirsLocked forgets the tasks of the other server that have expired, and then, if
// there are too many, the oldest of whoever has the most.
func (k *tasks) roomForTheirsLocked(now time.Time) {
	has := map[owner]int{}
	var ids []string
	for _, id := range k.order {
		at, ok := k.theirs[id]
		switch {
		case !ok:
		case now.After(at.expires):
			delete(k.theirs, id)
		default:
			ids = append(ids, id)
			has[at.owner.account()]++
		}
	}
	if len(ids) >= maxTasks {
		delete(k.theirs, ofMost(ids, k.accountLocked, has))
	}
}

// forgetLocked removes a task.
func (k *tasks) forgetLocked(id string) {
	t := k.held[id]
	if t == nil {
		return
	}
	t.timer.Stop()
	delete(k.held, id)
	k.size -= t.weighs
	k.pruneLocked()
}

// pruneLocked removes what is gone from the order, once it is the larger part.
func (k *tasks) pruneLocked() {
	if len(k.order) < 2*(len(k.held)+len(k.theirs))+100 {
		return
	}
	kept := k.order[:0]
	for _, id := range k.order {
		if _, has := k.theirs[id]; has || k.held[id] != nil {
			kept = append(kept, id)
		}
	}
	k.order = kept
}
