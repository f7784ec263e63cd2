package scan

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/texts"
)

// source is where something was found: a backend, what of it, and which part of that.
type source struct {
	place            texts.Place
	backend, subject string
	part             string
}

// event is what was found in one document.
type event struct {
	source

	kind   Kind
	rule   string
	action Action
	n      int
	shows  string
}

// Count is how often something was found.
type Count struct {
	// In is "definitions" or "results".
	In     string `json:"in"`
	Kind   Kind   `json:"kind"`
	Action Action `json:"action"`
	// Count is the number of definitions, results, errors, questions and messages.
	Count int64 `json:"count"`
}

type countKey struct {
	place  texts.Place
	kind   Kind
	action Action
}

// tally counts what is found, and logs it: of what is found again and again in the same
// source, one line in a while.
type tally struct {
	logger *slog.Logger

	mu     sync.Mutex
	counts map[countKey]int64
	told   map[told]*repeated
}

// told is what was logged.
type told struct {
	source

	rule string
}

// repeated is when it was logged, and how often it was found since.
type repeated struct {
	at    time.Time
	since int
}

const (
	// quiet is how long something is not logged again.
	quiet = time.Minute
	// maxTold bounds what is remembered for that.
	maxTold = 1000
)

// found counts what was found. What a definition has is told again only when it comes
// anew.
func (t *tally) found(e event) {
	since, tell := t.add(&e)
	if !tell {
		return
	}
	log := t.logger.With("in", placeName(e.place), "backend", e.backend, "subject", e.subject, "kind", string(e.kind), "rule", e.rule, "action", string(e.action), "shows", e.shows, "places", e.n)
	if e.part != "" {
		log = log.With("part", e.part)
	}
	if since > 0 {
		log = log.With("before", since)
	}
	log.Warn("a backend sends what models should not read")
}

func (t *tally) add(e *event) (since int, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts, t.told = map[countKey]int64{}, map[told]*repeated{}
	}
	key := told{e.source, e.rule}
	had := t.told[key]
	t.counts[countKey{e.place, e.kind, e.action}]++
	if had != nil && time.Since(had.at) < quiet {
		had.since++
		return 0, false
	}
	if had == nil && len(t.told) >= maxTold {
		clear(t.told)
	}
	if had != nil {
		since = had.since
	}
	t.told[key] = &repeated{at: time.Now()}
	return since, true
}

func placeName(p texts.Place) string {
	if p == texts.Result {
		return "results"
	}
	return "definitions"
}

// Counts returns how often something was found so far, in a fixed order.
func (s *Scan) Counts() []Count {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	list := make([]Count, 0, len(s.tally.counts))
	for k, n := range s.tally.counts {
		list = append(list, Count{placeName(k.place), k.kind, k.action, n})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Action, b.Action))
	})
	return list
}
