package server

import (
	"maps"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/wire"
)

// plan is what a registry holds: a description for clients, with everything
// that serving it needs, made once at registration.
type plan[D any] interface {
	key() string
	desc() *D
}

// registry holds the features of one kind by key, in order of registration.
// Readers use an immutable snapshot and take no lock. A change discards the
// snapshot. A new one is made when somebody lists, or after enough lookups to
// be worth the time: so neither adding many features one by one nor changing
// one of many takes time proportional to the number of all. The zero value is
// empty.
//
// Spec: 2026-07-28 server/tools#capabilities.
type registry[D any, P plan[D]] struct {
	mu    sync.Mutex
	index map[string]int // into slots
	slots []slot[P]
	found int                            // lookups since the last change, without a snapshot
	snap  atomic.Pointer[snapshot[D, P]] // nil after a change
	ever  atomic.Bool
}

type slot[P any] struct {
	plan  P
	entry *wire.Entry
	live  bool
}

// snapshot is the content of a registry at one time.
type snapshot[D any, P plan[D]] struct {
	plans   []P
	descs   []*D          // of the plans
	entries []*wire.Entry // of descs
	index   map[string]int
}

func (s *snapshot[D, P]) get(key string) (P, bool) {
	i, ok := s.index[key]
	if !ok {
		var none P
		return none, false
	}
	return s.plans[i], true
}

// used reports whether anything was ever added.
func (r *registry[D, P]) used() bool { return r.ever.Load() }

func (r *registry[D, P]) get(key string) (P, bool) {
	if s := r.snap.Load(); s != nil {
		return s.get(key)
	}
	return r.find(key)
}

// entriesPerLookup is how many entries go into a snapshot in about the time
// that one lookup may wait for the lock.
const entriesPerLookup = 64

// find is get for when there is no snapshot.
func (r *registry[D, P]) find(key string) (P, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found++; r.found*entriesPerLookup >= len(r.slots) {
		return r.freeze().get(key)
	}
	if i, ok := r.index[key]; ok {
		return r.slots[i].plan, true
	}
	var none P
	return none, false
}

// put adds p, or replaces the plan with its key, which keeps its place. It
// reports whether clients see a difference.
func (r *registry[D, P]) put(p P) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.thaw()
	r.ever.Store(true)
	now := slot[P]{p, wire.NewEntry(p.desc()), true}
	if i, ok := r.index[p.key()]; ok {
		old := r.slots[i].plan
		r.slots[i] = now
		return !reflect.DeepEqual(old.desc(), p.desc())
	}
	if r.index == nil {
		r.index = map[string]int{}
	}
	r.index[p.key()] = len(r.slots)
	r.slots = append(r.slots, now)
	return true
}

// remove removes keys and reports whether any of them existed.
func (r *registry[D, P]) remove(keys ...string) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		if i, ok := r.index[key]; ok {
			r.slots[i] = slot[P]{}
			delete(r.index, key)
			changed = true
		}
	}
	if changed {
		r.thaw()
	}
	return changed
}

// thaw discards the snapshot. r.mu is held.
func (r *registry[D, P]) thaw() {
	r.found = 0
	r.snap.Store(nil)
}

func (r *registry[D, P]) load() *snapshot[D, P] {
	if s := r.snap.Load(); s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.freeze()
}

// freeze makes a snapshot if there is none. r.mu is held.
func (r *registry[D, P]) freeze() *snapshot[D, P] {
	if s := r.snap.Load(); s != nil {
		return s
	}
	r.compact()
	s := &snapshot[D, P]{
		plans:   make([]P, len(r.slots)),
		descs:   make([]*D, len(r.slots)),
		entries: make([]*wire.Entry, len(r.slots)),
		index:   maps.Clone(r.index),
	}
	for i, slot := range r.slots {
		s.plans[i], s.descs[i], s.entries[i] = slot.plan, slot.plan.desc(), slot.entry
	}
	r.snap.Store(s)
	return s
}

// compact closes the gaps that remove left.
func (r *registry[D, P]) compact() {
	if len(r.index) == len(r.slots) {
		return
	}
	kept := make([]slot[P], 0, len(r.index))
	for _, slot := range r.slots {
		if slot.live {
			r.index[slot.plan.key()] = len(kept)
			kept = append(kept, slot)
		}
	}
	r.slots = kept
}
