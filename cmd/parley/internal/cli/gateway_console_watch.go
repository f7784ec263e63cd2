package cli

import "sync"

// consoleWatchers are told what changes in a running gateway. The zero value is ready.
type consoleWatchers struct {
	mu  sync.Mutex
	all map[*func(string)]struct{}
}

// add has f called with topics until stop is called.
func (w *consoleWatchers) add(f func(topic string)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[*func(string)]struct{}{}
	}
	w.all[&f] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, &f)
	}
}

// tell tells of a topic.
func (w *consoleWatchers) tell(topic string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.all {
		(*f)(topic)
	}
}
