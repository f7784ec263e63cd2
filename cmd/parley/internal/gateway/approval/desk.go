package approval

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds say what a Desk may have and give.
type Bounds struct {
	// MaxTime is for how long something can be approved; 0 is for one call only.
	MaxTime time.Duration
	// ToolWide lets a tool be approved for a time with any arguments.
	ToolWide bool
	// MaxWaiting is how many operations may wait. 0 means 100. No principal has more
	// than a quarter of them.
	MaxWaiting int
}

// maxBytes bounds what the arguments take of all operations that wait.
const maxBytes = 64 << 20

// Desk has what waits for a human, and what humans have approved for a time. It outlives
// the guards of a configuration. Its methods may be called concurrently.
type Desk struct {
	log *slog.Logger

	mu      sync.Mutex
	bounds  Bounds
	waiting map[string]*pending // by the IDs of their requests
	given   map[string]*Grant   // by their IDs
	tickets map[string]*ticket
	bytes   int
	watched map[*func(Event)]struct{}
}

// pending is an operation that waits.
type pending struct {
	Request

	decided chan struct{} // closed when there is a verdict
	verdict verdict       // set before
	end     *time.Timer
}

// verdict is what was decided. Nobody has decided if by is "".
type verdict struct {
	allowed bool
	by      string
	reason  string
	until   time.Time
}

// Terms are those of an approval.
type Terms struct {
	// For is how long it is for; 0 is for one call.
	For time.Duration
	// Tool makes it one of the tool with any arguments, and not only with the same.
	Tool bool
}

// NewDesk returns a desk with nothing on it. nil means slog.Default().
func NewDesk(logger *slog.Logger) *Desk {
	if logger == nil {
		logger = slog.Default()
	}
	return &Desk{
		log: logger, waiting: map[string]*pending{}, given: map[string]*Grant{}, tickets: map[string]*ticket{},
		watched: map[*func(Event)]struct{}{},
	}
}

// Configure sets the bounds. What was given beyond them before is cut down to them.
func (d *Desk) Configure(b Bounds) {
	d.mu.Lock()
	d.bounds = b
	var cut []string
	for id, g := range d.given {
		if limit := g.Given.Add(b.MaxTime); g.Tool && !b.ToolWide || limit.Before(g.Until) && !g.once {
			cut = append(cut, id)
		}
	}
	d.mu.Unlock()
	for _, id := range cut {
		_ = d.Revoke(id, "the configuration") // it may have ended meanwhile
	}
}

// Waiting returns what waits, the oldest first.
func (d *Desk) Waiting() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]Request, 0, len(d.waiting))
	for _, p := range d.waiting {
		if !p.isDecided() {
			list = append(list, p.Request)
		}
	}
	slices.SortFunc(list, func(a, b Request) int { return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.ID, b.ID)) })
	return list
}

// Request returns what waits under an ID.
func (d *Desk) Request(id string) (*Request, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.waiting[id]
	if p == nil || p.isDecided() {
		return nil, ErrUnknown
	}
	r := p.Request
	return &r, nil
}

func (p *pending) isDecided() bool {
	select {
	case <-p.decided:
		return true
	default:
		return false
	}
}

// file puts a request on the desk, for as long as somebody may take to answer.
func (d *Desk) file(r *Request, within time.Duration) (*pending, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.room(r); err != nil {
		return nil, err
	}
	p := &pending{Request: *r, decided: make(chan struct{})}
	p.ID, p.Asked = d.newID(), time.Now()
	p.Until = p.Asked.Add(within)
	p.end = time.AfterFunc(within, func() { d.expire(p, within) })
	d.waiting[p.ID] = p
	d.bytes += p.size()
	d.tell(about(Asked, &p.Request))
	return p, nil
}

func (r *Request) size() int { return len(r.Arguments) + len(r.Extra) }

// room refuses a request that there is no room for. The caller holds d.mu.
func (d *Desk) room(r *Request) error {
	most, own := cmp.Or(d.bounds.MaxWaiting, 100), 0
	for _, p := range d.waiting {
		if p.Principal == r.Principal {
			own++
		}
	}
	if len(d.waiting) >= most || own >= max(1, most/4) || d.bytes+r.size() > maxBytes {
		return errFull
	}
	return nil
}

// newID returns an ID that people can type, and nothing else on the desk has. The caller
// holds d.mu.
func (d *Desk) newID() string {
	for {
		id := strings.ToLower(rand.Text()[:6])
		if d.waiting[id] == nil && d.given[id] == nil {
			return id
		}
	}
}

// leave takes a request off the desk. Nobody has to decide about it any more.
func (d *Desk) leave(p *pending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(p)
	if !p.isDecided() {
		p.decide(verdict{reason: "the client does not want it any more"})
		d.tell(about(Withdrawn, &p.Request))
	}
}

// remove takes a request off the desk. The caller holds d.mu.
func (d *Desk) remove(p *pending) {
	if d.waiting[p.ID] == p {
		delete(d.waiting, p.ID)
		d.bytes -= p.size()
		p.end.Stop()
	}
}

// decide is called once. The caller holds d.mu.
func (p *pending) decide(v verdict) {
	p.verdict = v
	close(p.decided)
}

// expire denies a request that nobody has answered, and forgets one whose client has not
// come back for the answer.
func (d *Desk) expire(p *pending, within time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting[p.ID] != p {
		return
	}
	d.remove(p)
	for name, t := range d.tickets {
		if t.asked == p {
			d.drop(name)
		}
	}
	if !p.isDecided() {
		p.decide(verdict{reason: fmt.Sprintf("nobody answered within %s", within)})
	}
	d.tell(about(Expired, &p.Request))
}
