package bridge

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// parked has the calls that wait for their clients to come back with an answer. The
// server behind the bridge has them open all the time.
type parked struct {
	mu    sync.Mutex
	calls map[string]waiting
}

type waiting struct {
	p     *passing
	timer *time.Timer
}

// maxParked bounds the calls that wait.
const maxParked = 1000

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
	if len(k.calls) >= maxParked {
		p.cancel(errNotBack)
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%d calls wait for answers already; try again later", maxParked)
	}
	if k.calls == nil {
		k.calls = make(map[string]waiting)
	}
	k.calls[t.Parked] = waiting{p, time.AfterFunc(p.link.b.opts.Park, func() {
		if late := k.take(t.Parked); late != nil {
			late.cancel(errNotBack)
		}
	})}
	return ask
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
	if len(x.State) == 0 || x.State[0] != '{' || wire.Unmarshal(x.State, &t) != nil {
		return nil, nil //nolint:nilnil // it continues none
	}
	p := k.take(t.Parked)
	if p == nil {
		return nil, mcp.InvalidParams("the call does not wait for this answer any more: it took too long, or has been answered already; start again")
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

// close forgets all calls. They end with the bridge.
func (k *parked) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.calls {
		w.timer.Stop()
	}
	k.calls = nil
}
