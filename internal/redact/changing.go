package redact

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Changing is a Redactor whose secrets change while it is in use, as those do that are
// looked up anew each time they are needed. A nil Changing, and the zero value, know none
// by value. It may be used by several goroutines.
type Changing struct {
	mu      sync.Mutex
	known   map[string]generations
	current atomic.Pointer[Redactor]
}

// generations are the secrets of somebody: as they are, and as they were. What was told
// the old ones may still repeat them.
type generations struct{ now, before []string }

// Know says which secrets somebody has now, whom a name tells from others.
func (c *Changing) Know(whose string, secrets []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	had := c.known[whose]
	if slices.Equal(had.now, secrets) {
		return
	}
	if c.known == nil {
		c.known = map[string]generations{}
	}
	c.known[whose] = generations{slices.Clone(secrets), had.now}
	var all []string
	for _, g := range c.known {
		all = append(append(all, g.now...), g.before...)
	}
	slices.Sort(all)
	c.current.Store(New(nil, slices.Compact(all)...))
}

// Now is the Redactor that knows the secrets of everybody as they are now.
func (c *Changing) Now() *Redactor {
	if c == nil {
		return nil
	}
	return c.current.Load()
}
