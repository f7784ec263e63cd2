package taskstore

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A task lives until the very moment at which it expires, and is then removed from
// all indexes.
func TestMemoryForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := NewMemory().(*memory)
		for id, ttl := range map[string]time.Duration{"short": time.Second, "long": time.Minute} {
			r := Record{ID: id, Owner: id, Created: time.Now(), Expires: time.Now().Add(ttl), Lease: time.Now()}
			if _, err := m.Create(t.Context(), r, Quota{}); err != nil {
				t.Fatal(err)
			}
		}
		<-time.NewTimer(time.Second - time.Millisecond).C
		if _, err := m.Load(t.Context(), "short"); err != nil {
			t.Errorf("a millisecond before it expires: %v", err)
		}
		<-time.NewTimer(time.Millisecond).C
		if _, err := m.Load(t.Context(), "short"); !errors.Is(err, ErrNotFound) {
			t.Errorf("when it expires: error %v, want ErrNotFound", err)
		}
		if err := m.Sweep(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if len(m.tasks) != 1 || len(m.owners) != 1 || len(m.leased) != 1 {
			t.Errorf("left are %d tasks, %d owners and %d leases; want one of each", len(m.tasks), len(m.owners), len(m.leased))
		}
	})
}
