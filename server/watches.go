package server

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// resourceWatches keeps Options.WatchResource running for the URIs that have watchers.
type resourceWatches struct {
	// start begins to watch, or logs why that is not possible.
	start func(uri string) (stop func(), ok bool)

	mu   sync.Mutex
	uris map[string]*resourceWatch
}

// resourceWatch is the state of one URI.
type resourceWatch struct {
	users   int
	busy    bool // a goroutine is in step, outside the lock
	running bool
	failed  bool   // the running watch could not be started
	stop    func() // nil, or ends the running watch
}

// add changes the number of watchers of a URI. The caller that finds the watch
// not busy brings it into line, and repeats that if the number changes in the
// meantime; all others leave it to that caller. So starts and stops of one URI
// never overlap, and none is lost. add reports whether the URI is watched, as far
// as is known without waiting for another caller.
func (t *resourceWatches) add(uri string, n int) (ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.uris[uri]
	if w == nil {
		w = &resourceWatch{}
		t.uris[uri] = w
	}
	w.users += n
	if w.busy {
		return true
	}
	w.busy = true
	for w.running != (w.users > 0) {
		t.step(uri, w)
	}
	w.busy = false
	if w.users == 0 {
		delete(t.uris, uri)
	}
	return !w.failed
}

// step starts or stops the watch, with the lock released while user code runs.
// Only the goroutine that is busy touches stop and running.
func (t *resourceWatches) step(uri string, w *resourceWatch) {
	t.mu.Unlock()
	defer t.mu.Lock()
	if stop := w.stop; w.running {
		w.stop, w.running, w.failed = nil, false, false
		if stop != nil {
			stop()
		}
		return
	}
	w.running = true
	stop, ok := t.start(uri)
	w.stop, w.failed = stop, !ok
}

// startWatch runs user code, whose panics follow the server's policy.
func (s *Server) startWatch(uri string) (stop func(), ok bool) {
	if r, ok := s.skills.file(&s.resources, uri); ok && r.ofSkill && s.skills.index().around(uri) == nil {
		return nil, true // SkillSet.Refresh tells of its changes
	}
	var end func()
	err := errPanicked
	s.shield("WatchResource", uri, func() { end, err = s.opts.WatchResource(uri) })
	if err != nil {
		s.log.Warn("a resource cannot be watched", "uri", uri, "error", err)
		return nil, false
	}
	if end == nil {
		return nil, true
	}
	return func() { s.shield("the stop function of WatchResource", uri, end) }, true
}

var errPanicked = errors.New("WatchResource panicked")

func (s *Server) shield(what, uri string, f func()) {
	if s.opts.Panic == RecoverPanics {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic in "+what, "uri", uri, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
		}()
	}
	f()
}
