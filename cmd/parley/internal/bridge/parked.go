package bridge

import (
	"cmp"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Parking bounds the calls that wait for their clients to come back. A client that does
// not come back says nothing, so what one has left behind must not keep the others from
// being asked.
type Parking struct {
	// Calls is how many calls can wait at a time. 0 means 1000.
	Calls int
	// Each is how many of these can be one client's. 0 means 100.
	Each int
	// Time is how long a call waits. 0 means 15 minutes, after which the state is void
	// that a client brings back.
	Time time.Duration
	// Setting is what the configuration calls these bounds, for errors; "" if they cannot
	// be set.
	Setting string
}

func (p *Parking) setDefaults() {
	p.Calls = cmp.Or(p.Calls, 1000)
	p.Each = cmp.Or(p.Each, 100)
	p.Time = cmp.Or(p.Time, 15*time.Minute)
}

// by names a key of the setting, for errors.
func (p *Parking) by(key string) string {
	if p.Setting == "" {
		return ""
	}
	return " (" + p.Setting + "." + key + ")"
}

// full is the error for a call that finds no room.
func (p *Parking) full() error {
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%d calls wait for answers already, and there can be no more%s; try again later", p.Calls, p.by("calls"))
}

// gone is the error for an answer to a call that does not wait.
func (p *Parking) gone() error {
	return mcp.InvalidParams("the call does not wait for this answer any more: it took longer than %s%s, has been answered already, or has made room for later ones, of which %d of a client can wait%s; start again",
		p.Time, p.by("time"), p.Each, p.by("each"))
}

// parked has the calls that wait for their clients to come back with an answer. The
// server behind the bridge has them open all the time.
type parked struct {
	bounds Parking
	mu     sync.Mutex
	calls  map[string]waiting
	number uint64 // of the latest
}

type waiting struct {
	p      *passing
	owner  string
	number uint64
	since  time.Time
	timer  *time.Timer
}

// grace is how long a call can count on, however many wait.
const grace = time.Minute

// ticket is the state of a parked call. That of the other server is a string, so the
// two cannot be confused.
type ticket struct {
	Parked string `json:"parked"`
}

var errNotBack = errors.New("the client did not come back with an answer")

// park keeps a call until its client comes back, and returns the questions for it as
// an *mcp.InputRequired.
func (k *parked) park(p *passing, ask *mcp.InputRequired) error {
	t := ticket{rand.Text()}
	state, err := wire.Marshal(t)
	if err != nil {
		return err
	}
	ask.State = state
	k.mu.Lock()
	defer k.mu.Unlock()
	owner := ownerOf(&p.x.Load().Peer)
	if !k.makeRoom(owner) {
		p.cancel(errNotBack)
		return k.bounds.full()
	}
	if k.calls == nil {
		k.calls = make(map[string]waiting)
	}
	k.number++
	k.calls[t.Parked] = waiting{p, owner, k.number, time.Now(), time.AfterFunc(k.bounds.Time, func() { k.giveUp(t.Parked) })}
	return ask
}

// ownerOf says whom a call counts for.
func ownerOf(peer *mcp.Peer) string {
	if peer.Principal != "" {
		return "principal " + peer.Principal
	}
	return "source " + peer.Source
}

// makeRoom gives up the call of an owner that has waited the longest, if it has too many,
// or that of anybody. It reports false if all are young. The caller holds k.mu.
func (k *parked) makeRoom(owner string) bool {
	var mine, any string
	owned := 0
	for name, w := range k.calls {
		if any == "" || w.before(k.calls[any]) {
			any = name
		}
		if w.owner != owner {
			continue
		}
		if owned++; mine == "" || w.before(k.calls[mine]) {
			mine = name
		}
	}
	switch {
	case owned >= k.bounds.Each:
		k.drop(mine)
	case len(k.calls) < k.bounds.Calls:
	case time.Since(k.calls[any].since) < grace && !k.calls[any].p.over():
		return false
	default:
		k.drop(any)
	}
	return true
}

// before reports whether a call is to be given up before another one: if it has ended
// already, and otherwise if it has waited longer.
func (w *waiting) before(other waiting) bool {
	if over := w.p.over(); over != other.p.over() {
		return over
	}
	return w.number < other.number
}

// yield gives up the call of a principal that has waited the longest, if that is long.
func (k *parked) yield(principal string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var oldest string
	for name, w := range k.calls {
		if w.p.link.principal == principal && (oldest == "" || w.before(k.calls[oldest])) {
			oldest = name
		}
	}
	if w, ok := k.calls[oldest]; ok && time.Since(w.since) >= grace {
		k.drop(oldest)
	}
}

// giveUp ends a call whose client did not come back.
func (k *parked) giveUp(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(name)
}

// drop is giveUp for a caller that holds k.mu.
func (k *parked) drop(name string) {
	if w, ok := k.calls[name]; ok {
		delete(k.calls, name)
		w.timer.Stop()
		w.p.cancel(errNotBack)
	}
}

// take returns a call that waits, or nil.
func (k *parked) take(name string) *passing {
	k.mu.Lock()
	defer k.mu.Unlock()
	w, ok := k.calls[name]
	if !ok {
		return nil
	}
	delete(k.calls, name)
	w.timer.Stop()
	return w.p
}

// resume returns the parked call that an exchange continues, or nil if it continues
// none. The state was sealed, so it comes from the client that got it.
func (k *parked) resume(x *mcp.Exchange) (*passing, error) {
	var t ticket
	if len(x.State) == 0 || x.State[0] != '{' || wire.Unmarshal(x.State, &t) != nil || t.Parked == "" {
		return nil, nil //nolint:nilnil // it continues none
	}
	p := k.take(t.Parked)
	if p == nil {
		return nil, k.bounds.gone()
	}
	p.resume(x)
	return p, nil
}

// size returns how many calls wait.
func (k *parked) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.calls)
}

// oldest returns when the call began to wait that has waited the longest; zero if none
// does.
func (k *parked) oldest() (since time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.calls {
		if since.IsZero() || w.since.Before(since) {
			since = w.since
		}
	}
	return since
}

// close forgets all calls. They end with the bridge.
func (k *parked) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.calls {
		w.timer.Stop()
	}
	k.calls = nil
}
