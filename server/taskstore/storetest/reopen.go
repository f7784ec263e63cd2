package storetest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/parley-mcp/parley/server/taskstore"
)

// Reopen tests that what a Store holds outlives it, and that several of the same
// data work together as they would in several processes. Each call of open opens the
// same data, which is empty at first; what it returns closes that Store.
func Reopen(t *testing.T, open func(t *testing.T) (store taskstore.Store, closing func() error)) {
	t.Helper()
	t.Run("again", func(t *testing.T) { reopened(t, open) })
	t.Run("together", func(t *testing.T) { shared(t, open) })
}

// opened opens the data once more.
func opened(t *testing.T, open func(t *testing.T) (taskstore.Store, func() error)) (*suite, func()) {
	t.Helper()
	store, closing := open(t)
	return &suite{T: t, Store: store}, func() {
		t.Helper()
		if err := closing(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
}

func reopened(t *testing.T, open func(t *testing.T) (taskstore.Store, func() error)) {
	s, closing := opened(t, open)
	r := s.create(taskstore.Record{ID: "again", Owner: "alice", Created: start, Expires: future(), Lease: start, Data: []byte("one")})
	old := r
	gone := s.create(taskstore.Record{ID: "gone", Owner: "alice", Created: start})
	want := map[string][]byte{}
	for i := range 4 { // each time something was changed, the data is opened again
		key := strconv.Itoa(i)
		want[key] = []byte(key)
		if err := s.Append(s.ctx(), r.ID, key, want[key]); err != nil {
			t.Fatal(err)
		}
		r.Data = append(r.Data, 'x')
		r = s.saved(r)
		closing()
		s, closing = opened(t, open)
		s.holds(r)
		s.entries(r.ID, want)
	}
	_, err := s.Save(s.ctx(), old)
	s.fails("Save of a version of before", err, taskstore.ErrConflict)
	s.fails("Append of an entry of before", s.Append(s.ctx(), r.ID, "0", nil), taskstore.ErrExists)
	if ids, err := s.Abandoned(s.ctx(), start.Add(1e9), 10); err != nil || !slices.Equal(ids, []string{r.ID}) {
		t.Errorf("abandoned %q, %v; want %s", ids, err, r.ID)
	}
	_, cursor, err := s.List(s.ctx(), "alice", "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(s.ctx(), gone.ID); err != nil {
		t.Fatal(err)
	}
	closing()
	s, closing = opened(t, open)
	defer closing()
	s.gone(gone)
	if _, _, err := s.List(s.ctx(), "alice", cursor, 1); err != nil {
		t.Errorf("a cursor of before: %v", err)
	}
}

func shared(t *testing.T, open func(t *testing.T) (taskstore.Store, func() error)) {
	var all [rivals]*suite
	for i := range all {
		s, closing := opened(t, open)
		defer closing()
		all[i] = s
	}
	first, last := all[0], all[rivals-1]
	r := first.create(taskstore.Record{ID: "shared", Owner: "bob", Created: start, Data: []byte("0")})
	last.holds(r)
	r.Lease = start
	r = last.saved(r)
	first.holds(r)

	for i, err := range together(func(i int) error { return count(t.Context(), all[i], r.ID, 5) }) {
		if err != nil {
			t.Errorf("rival %d: %v", i, err)
		}
	}
	if got, err := first.Load(t.Context(), r.ID); err != nil || string(got.Data) != strconv.Itoa(5*rivals) {
		t.Errorf("%d rivals counted 5 times each and got %s, %v", rivals, got.Data, err)
	}
	for round := range 3 {
		key := strconv.Itoa(round)
		winner := first.oneWins(together(func(i int) error { return all[i].Append(t.Context(), r.ID, key, []byte(strconv.Itoa(i))) }), taskstore.ErrExists)
		if got, err := last.Journal(t.Context(), r.ID); err != nil || !slices.Equal(got[key], []byte(strconv.Itoa(winner))) {
			t.Errorf("entry %s is %v, %v; want that of %d", key, got[key], err, winner)
		}
		id := fmt.Sprintf("new%d", round)
		first.oneWins(together(func(i int) error {
			_, err := all[i].Create(t.Context(), taskstore.Record{ID: id, Owner: "bob", Created: start}, unbounded)
			return err
		}), taskstore.ErrExists)
	}
	if got := last.all("bob", 3); len(got) != 4 {
		t.Errorf("tasks %q, want four", got)
	}
	if err := last.Delete(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	first.gone(r)
}
