package record

import (
	"slices"
	"sort"

	"github.com/parley-mcp/parley/mcp"
)

// links finds what belongs together. It is used under the lock of its Recorder.
type links struct {
	last      uint64      // the number of the newest exchange
	exchanges []*Exchange // by number
	open      map[askKey]*Exchange
	tokens    map[askKey]*Exchange
	states    map[uint64]*Exchange // by what they want back
	tasks     map[string]*Exchange
	refused   map[uint64]*Exchange // by what a repetition looks like
	opened    map[uint64]*Exchange // initialize, by connection
	calls     map[uint64]*httpCall
	events    map[eventKey]event
	lines     []*Line // the newest last
}

// askKey identifies a request, or what it gave as a token: the two sides number their
// requests independently.
type askKey struct {
	connection uint64
	asker      mcp.Side
	id         string
}

// httpCall is an HTTP request with its response.
type httpCall struct {
	heads    []uint64 // the frames that begin the request and the response
	last     uint64   // its last frame
	exchange *Exchange
	resumes  bool // the rest of a stream
}

// eventKey identifies an event: its ID is the only one of its kind in a session.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery (1).
type eventKey struct{ session, id string }

// event is where an event came first.
type event struct {
	frame uint64
	call  *httpCall
}

func newLinks() links {
	return links{
		open: map[askKey]*Exchange{}, tokens: map[askKey]*Exchange{}, states: map[uint64]*Exchange{}, tasks: map[string]*Exchange{},
		refused: map[uint64]*Exchange{}, opened: map[uint64]*Exchange{}, calls: map[uint64]*httpCall{}, events: map[eventKey]event{},
	}
}

// sender returns who has sent a frame that a client has seen.
func sender(d mcp.Direction) mcp.Side {
	if d == mcp.Sent {
		return mcp.ClientSide
	}
	return mcp.ServerSide
}

func other(s mcp.Side) mcp.Side {
	if s == mcp.ClientSide {
		return mcp.ServerSide
	}
	return mcp.ClientSide
}

// see takes in a frame, and fills in its head what others tell of it.
func (l *links) see(r *Recorder, h *Head, notes []note) {
	l.reached(h)
	call := l.calls[h.HTTP]
	if h.Kind == HTTP {
		l.seeHTTP(r, h, call)
		return
	}
	if h.Aside {
		notes = nil // what they say was said to somebody else
	}
	var x *Exchange
	for i := range notes {
		found := l.seeMessage(h, &notes[i], call)
		if found != nil {
			l.belongs(found, h)
		}
		if x == nil {
			x = found
		}
	}
	if len(notes) == 0 && h.Dropped == mcp.DropGivenUp {
		x = l.givenUp(h)
	}
	if x == nil && call != nil && call.exchange != nil {
		x = call.exchange
		l.belongs(x, h)
	}
	if x != nil {
		h.Exchange = x.Number
	}
	if call != nil {
		l.carried(r, h, call, x)
	}
}

// belongs counts a frame to an exchange.
func (l *links) belongs(x *Exchange, h *Head) {
	if x.Last != h.Number {
		x.Frames++
	}
	x.Last = h.Number
	if x.First == 0 {
		x.First = h.Number
	}
}

func (l *links) begin(h *Head, method string) *Exchange {
	l.last++
	x := &Exchange{Number: l.last, Method: method, Asker: sender(h.Direction), Connection: h.Connection, Started: h.Time, State: Open, session: h.Session}
	l.exchanges = append(l.exchanges, x)
	return x
}

// get returns an exchange by its number, or nil.
func (l *links) get(number uint64) *Exchange {
	i := sort.Search(len(l.exchanges), func(i int) bool { return l.exchanges[i].Number >= number })
	if i < len(l.exchanges) && l.exchanges[i].Number == number {
		return l.exchanges[i]
	}
	return nil
}

// root returns the exchange that one belongs to in the end.
func (l *links) root(x *Exchange) *Exchange {
	for x.Parent != 0 {
		parent := l.get(x.Parent)
		if parent == nil {
			return x
		}
		x = parent
	}
	return x
}

// adopt makes an exchange part of another one, which is older.
func (l *links) adopt(x, parent *Exchange, why Why) {
	if parent != nil && parent != x && parent.Number < x.Number && x.Parent == 0 {
		x.Parent, x.Why = parent.Number, why
	}
}

// prune forgets what has no frame left.
func (l *links) prune(first uint64) {
	gone := func(x *Exchange) bool { return x == nil || x.Last < first }
	l.exchanges = slices.DeleteFunc(l.exchanges, gone)
	forget(l.open, gone)
	forget(l.tokens, gone)
	forget(l.states, gone)
	forget(l.tasks, gone)
	forget(l.refused, gone)
	forget(l.opened, gone)
	old := func(c *httpCall) bool { return c.last < first }
	forget(l.calls, old)
	forget(l.events, func(e event) bool { return e.frame < first })
	l.pruneLines(first)
	for _, x := range l.exchanges {
		x.First = max(x.First, first)
	}
}

func forget[K comparable, V any](m map[K]V, gone func(V) bool) {
	for k, v := range m {
		if gone(v) {
			delete(m, k)
		}
	}
}
