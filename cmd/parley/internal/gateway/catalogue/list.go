package catalogue

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/parley-mcp/parley/mcp"
)

// list is one list of one backend, as different clients see it.
type list struct {
	catalogue *Catalogue
	source    *source
	method    *mcp.Method

	mu       sync.Mutex
	shares   map[shareKey]*share
	flights  map[*flight]bool // all that are under way
	contents map[digest]weak.Pointer[content]
}

const (
	// maxShares bounds for how many keys a list is kept. Those who see the same share
	// what takes room.
	maxShares = 10_000
	// sample is how many of them are looked at to find one to forget.
	sample = 100
)

// shareKey says who sees the same.
type shareKey struct {
	public bool
	who    who // if not public
}

// who are some of those who use a backend: those with one key and one access token, of
// which it has a digest.
type who struct{ key, token string }

// share is what those see who see the same.
type share struct {
	content *content // nil until there was an answer
	scope   mcp.CacheScope
	// received is when the content came, and expires until when it can be used; zero is
	// until it changes. changed says that it has.
	received, expires time.Time
	changed           bool
	// slow says that the last answer took longer than lists wait.
	slow bool
	// flight is the latest request, and running the number of those without an answer.
	flight  *flight
	running int
	// asked is when the list was last fetched because it lacked a name.
	asked time.Time
	used  time.Time
}

// flight is a request for a list that is under way.
type flight struct {
	begun    time.Time
	outdated bool // the list has changed since
	left     bool // a list went without the answer
	cancel   context.CancelFunc
	// forgotten says that nobody sees any more what those do who have asked.
	forgotten bool
	done      chan struct{}
	// Set when it is done.
	private bool // the answer is for nobody but who
	who     who
	content *content
	err     error
}

// maxRunning bounds the requests for one share that are under way at a time: a list that
// changes all the time is not fetched for every change.
const maxRunning = 2

func (s *share) fresh() bool {
	return s.content != nil && !s.changed && (s.expires.IsZero() || time.Now().Before(s.expires))
}

// share returns what a peer sees. The caller holds l.mu.
func (l *list) share(whose who) (shareKey, *share) {
	k := shareKey{public: true}
	s := l.shares[k]
	if s == nil {
		k = shareKey{who: whose}
		s = l.shares[k]
	}
	if s == nil {
		l.makeRoom()
		s = new(share)
		l.shares[k] = s
	}
	s.used = time.Now()
	return k, s
}

// makeRoom forgets what has hardly been looked at lately. The caller holds l.mu.
func (l *list) makeRoom() {
	if len(l.shares) < maxShares {
		return
	}
	var (
		oldest shareKey
		found  *share
		n      int
	)
	for k, s := range l.shares { // in no order
		if s.running == 0 && (found == nil || s.used.Before(found.used)) {
			oldest, found = k, s
		}
		if n++; n == sample && found != nil {
			break
		}
	}
	if found != nil {
		delete(l.shares, oldest)
	}
}

// changed makes everybody who sees what peer does look again; nil is everybody.
func (l *list) changed(peer *mcp.Peer) {
	key := ""
	if peer != nil {
		key = l.source.key(peer)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, s := range l.shares {
		if peer != nil && !k.public && k.who.key != key {
			continue
		}
		s.changed = true
		if s.flight != nil {
			s.flight.outdated = true
		}
	}
}

// request returns the request that is under way for a share, or makes one. The caller
// holds l.mu.
func (l *list) request(ctx context.Context, k shareKey, s *share, peer *mcp.Peer) *flight {
	if f := s.flight; f != nil && !f.forgotten && (!f.outdated || s.running >= maxRunning) {
		return f
	}
	f := &flight{begun: time.Now(), done: make(chan struct{}), who: l.source.who(peer)}
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx)) // others may wait for it as well
	asker := *peer
	if !l.catalogue.start(func() { l.fetch(ctx, f, k, s, &asker) }) {
		f.err = errClosed
		f.cancel()
		close(f.done)
		return f
	}
	if l.flights == nil {
		l.flights = map[*flight]bool{}
	}
	l.flights[f] = true
	s.flight = f
	s.running++
	return f
}

// forget forgets what is only for those who have a key, and ends the requests that they
// have made: on their way to the backend, these would open again what was theirs there.
func (l *list) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.shares, func(k shareKey, _ *share) bool { return !k.public && k.who.key == key })
	for f := range l.flights {
		if f.who.key == key {
			f.forgotten = true
			f.cancel()
		}
	}
}

// inherit takes over what another list knows of the same.
func (l *list) inherit(old *list) {
	old.mu.Lock()
	defer old.mu.Unlock()
	l.contents = map[digest]weak.Pointer[content]{}
	same := slices.Equal(l.catalogue.editors, old.catalogue.editors)
	for k, s := range old.shares {
		if s.content == nil {
			continue
		}
		kept := *s
		switch had := l.contents[s.content.digest].Value(); {
		case had != nil:
			kept.content = had
		case !same:
			kept.content = s.content.again(l)
		}
		kept.flight, kept.running = nil, 0
		l.shares[k] = &kept
		l.contents[kept.content.digest] = weak.Make(kept.content)
	}
}
