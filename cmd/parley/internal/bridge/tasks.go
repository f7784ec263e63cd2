package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// tasks are the calls that have become tasks of the bridge, and what is known of those
// that the other server has made for its clients. They end with the bridge.
type tasks struct {
	mu     sync.Mutex
	held   map[string]*task
	theirs map[string]theirs
	order  []string // of held and theirs, the oldest first
	size   int      // bytes of results
}

// theirs is a task of the other server.
type theirs struct {
	owner   owner
	link    *link // where it was made
	expires time.Time
}

// owner is who made a task. Over a stream, the session is the connection.
type owner struct{ principal, session string }

func ownedBy(peer *mcp.Peer) owner {
	return owner{peer.Principal, cmp.Or(peer.SessionID, peer.Source)}
}

// account is whose tasks are counted together: a principal's are, wherever they were made.
func (o owner) account() owner {
	if o.principal != "" {
		o.session = ""
	}
	return o
}

const (
	// maxTasks bounds the tasks that are held, maxOwnTasks those of one client, and
	// maxTaskBytes the results that wait to be fetched.
	maxTasks     = 1000
	maxOwnTasks  = 100
	maxTaskBytes = 64 << 20
	// A task is kept for taskTTL unless its client wants it otherwise, and for at most
	// longestTTL.
	taskTTL    = time.Hour
	longestTTL = 24 * time.Hour
	// taskAfter is how long a call may take before it becomes a task, for a client that
	// leaves that to the server.
	taskAfter = 20 * time.Second
)

var (
	errTooManyTasks = jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many tasks: try again when some of them have expired")
	errExpired      = jsonrpc.Errorf(jsonrpc.CodeInternalError, "the time of the task is over")
)

// hold makes a call a task. wants is how long its client wants it to be kept, in
// milliseconds, or nil.
//
// Spec: 2025-11-25 basic/utilities/tasks#resource-management.
func (k *tasks) hold(p *passing, wants *int64) (*task, error) {
	now := time.Now()
	t := &task{
		tasks: k, p: p, id: rand.Text(), owner: ownedBy(&p.x.Load().Peer), created: now, updated: now, ttl: taskTTL,
		change: make(chan struct{}), watchers: map[*func(mcp.Change)]bool{},
	}
	if wants != nil {
		t.ttl = max(min(time.Duration(min(*wants, longestTTL.Milliseconds()))*time.Millisecond, longestTTL), time.Second)
	}
	k.mu.Lock()
	if !k.roomLocked(t.owner) {
		k.mu.Unlock()
		return nil, errTooManyTasks
	}
	if k.held == nil {
		k.held = map[string]*task{}
	}
	k.held[t.id] = t
	k.order = append(k.order, t.id)
	t.timer = time.AfterFunc(t.ttl, func() { k.expire(t.id) })
	k.mu.Unlock()
	p.mu.Lock()
	p.task = t
	p.mu.Unlock()
	if p.done != nil && p.over() { // before it was a task
		t.ended()
	}
	return t, nil
}

// expire ends a task whose time is over.
func (k *tasks) expire(id string) {
	k.mu.Lock()
	t := k.held[id]
	k.forgetLocked(id)
	k.mu.Unlock()
	if t != nil {
		t.p.cancel(errExpired)
		t.changed()
	}
}

// of returns a task of a client, or nil: it must not make a difference whether there is
// none, or one of somebody else.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
func (k *tasks) of(id string, peer *mcp.Peer) *task {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.held[id]; t != nil && t.owner.principal == peer.Principal {
		return t
	}
	return nil
}

// find returns the task that a request is about, if it is the bridge's.
func (k *tasks) find(x *mcp.Exchange) *task {
	m := mcp.MethodNamed(x.Method)
	if m == nil || m.Feature != mcp.TaskFeature {
		return nil
	}
	return k.of(m.SubjectOf(x.Params), &x.Peer)
}

// close forgets all tasks. Their calls end with the bridge.
func (k *tasks) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.held {
		t.timer.Stop()
	}
	k.held, k.theirs, k.order = nil, nil, nil
}

// unknownTask is the error for a task that there is not, not any more, or not for this
// client.
func unknownTask(id string) error {
	return mcp.InvalidParams("unknown task %.100q: it does not exist, or has expired", id)
}

// watch tells a client of changes of tasks, and returns what ends that.
func (k *tasks) watch(all []*task, deliver func(mcp.Change)) (stop func()) {
	each := make([]*func(mcp.Change), len(all))
	for i, t := range all {
		each[i] = new(deliver)
		t.mu.Lock()
		t.watchers[each[i]] = true
		t.mu.Unlock()
	}
	return func() {
		for i, t := range all {
			t.mu.Lock()
			delete(t.watchers, each[i])
			t.mu.Unlock()
		}
	}
}

// watchTasks subscribes to the tasks among those of a filter that are the bridge's, and
// leaves the others to the other server.
func (b *Bridge) watchTasks(ctx context.Context, x *mcp.Exchange) (any, error) {
	var own []*task
	var ids, others []string
	for _, id := range x.Watch.Filter.TaskIDs {
		if t := b.tasks.of(id, &x.Peer); t != nil {
			own, ids = append(own, t), append(ids, id)
		} else {
			others = append(others, id)
		}
	}
	if own == nil {
		return b.watch(ctx, x)
	}
	rest := *x
	rest.Watch = new(*x.Watch)
	rest.Watch.Filter.TaskIDs = others
	stop := b.tasks.watch(own, x.Watch.Deliver)
	if f := &rest.Watch.Filter; others == nil && len(f.ResourceSubscriptions) == 0 && !slices.ContainsFunc(lists, func(k mcp.ChangeKind) bool { return f.Matches(mcp.Change{Kind: k}) }) {
		return &mcp.Watching{Filter: mcp.SubscriptionFilter{TaskIDs: ids}, Stop: stop}, nil
	}
	passed, err := b.watch(ctx, &rest)
	watching, ok := passed.(*mcp.Watching)
	if err != nil || !ok {
		stop()
		return nil, err
	}
	filter := watching.Filter
	filter.TaskIDs = append(ids, filter.TaskIDs...)
	return &mcp.Watching{Filter: filter, Stop: func() { stop(); watching.Stop() }}, nil
}
