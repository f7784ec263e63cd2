package inspect

import (
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// sender finds out which request on the wire is that of which call: calls wait with
// sending until the one before has been seen.
type sender struct {
	turn sync.Mutex // held from before a call is made until its request was seen

	mu      sync.Mutex
	waiting *call
	free    func()
}

// next makes a call the one whose request is seen next. done must be called when the
// call is over, for it may never be sent.
func (s *sender) next(k *call) (done func()) {
	s.turn.Lock()
	free := sync.OnceFunc(s.turn.Unlock)
	s.mu.Lock()
	s.waiting, s.free = k, free
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		if s.waiting == k {
			s.waiting = nil
		}
		s.mu.Unlock()
		free()
	}
}

// tap sees what is sent.
func (s *sender) tap(e mcp.TapEvent) {
	if e.Direction != mcp.Sent || e.Dropped != 0 || e.Frame == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil || !wire.Is(wire.Find(e.Frame, "method"), s.waiting.Method) {
		return
	}
	s.waiting.seen(e.Time)
	s.waiting = nil
	s.free()
}

func (k *call) seen(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sent = at
}

// lookback is how many exchanges are looked through for that of a call.
const lookback = 2000

// find finds the exchange of a call among those that were recorded. It begins when its
// request was seen.
func (k *call) find() {
	k.mu.Lock()
	sent, found := k.sent, k.exchange
	k.mu.Unlock()
	if sent.IsZero() || found != 0 {
		return
	}
	for _, x := range k.connection.Frames.Exchanges(0, lookback) {
		if x.Started.Equal(sent) && x.Method == k.Method {
			k.mu.Lock()
			k.exchange = x.Number
			k.mu.Unlock()
			return
		}
	}
}
