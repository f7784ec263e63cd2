package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mcp/parley/server/taskstore"
)

// past and future are times of expiry that the test does not reach or leave.
func past() time.Time   { return time.Now().Add(-time.Second) }
func future() time.Time { return time.Now().Add(time.Hour).Truncate(time.Millisecond) }

func (s *suite) expiry() {
	stays := s.create(taskstore.Record{ID: "stays", Owner: "alice", Created: start, Expires: future(), Lease: start.Add(time.Second)})
	r := s.create(taskstore.Record{ID: "t", Owner: "alice", Created: start, Expires: future(), Lease: start})
	if err := s.Append(s.ctx(), "t", "key", nil); err != nil {
		s.Fatal(err)
	}
	s.holds(r)
	r.Expires = past()
	r = s.saved(r)
	s.gone(r)
	s.create(taskstore.Record{ID: "late", Owner: "alice", Created: start, Expires: past(), Lease: start})
	if err := s.Append(s.ctx(), "late", "key", nil); err == nil {
		s.Error("an entry was added to the journal of a task that had expired")
	}
	if got := s.all("alice", 1); !slices.Equal(got, []string{"stays"}) {
		s.Errorf("tasks %q, want the one that stays", got)
	}
	if ids, err := s.Abandoned(s.ctx(), start.Add(time.Hour), 1); err != nil || !slices.Equal(ids, []string{"stays"}) {
		s.Errorf("abandoned %q, %v; want the one that stays", ids, err)
	}
	s.holds(stays)
	if err := s.Delete(s.ctx(), "t"); err != nil {
		s.Errorf("Delete of an expired task: %v", err)
	}
}

// gone checks that all methods treat a task as if it did not exist.
func (s *suite) gone(r taskstore.Record) {
	s.Helper()
	_, err := s.Load(s.ctx(), r.ID)
	s.fails("Load of a task that has expired", err, taskstore.ErrNotFound)
	_, err = s.Save(s.ctx(), r)
	s.fails("Save of a task that has expired", err, taskstore.ErrNotFound)
	s.fails("Append to a task that has expired", s.Append(s.ctx(), r.ID, "more", nil), taskstore.ErrNotFound)
	s.entries(r.ID, nil)
}

func (s *suite) sweep() {
	stays := s.create(taskstore.Record{ID: "stays", Owner: "alice", Created: start, Expires: future()})
	always := s.create(taskstore.Record{ID: "always", Owner: "alice", Created: start})
	expired := s.create(taskstore.Record{ID: "expired", Owner: "alice", Created: start, Expires: past()})
	if err := s.Append(s.ctx(), "stays", "key", []byte("value")); err != nil {
		s.Fatal(err)
	}
	for range 2 {
		if err := s.Sweep(s.ctx(), time.Now()); err != nil {
			s.Fatal(err)
		}
	}
	s.gone(expired)
	s.holds(stays)
	s.holds(always)
	s.entries("stays", map[string][]byte{"key": []byte("value")})
}

func (s *suite) quotas() {
	q := taskstore.Quota{PerOwner: 2, Total: 3}
	add := func(id, owner string, expires time.Time) error {
		_, err := s.Create(s.ctx(), taskstore.Record{ID: id, Owner: owner, Created: start, Expires: expires}, q)
		return err
	}
	for _, id := range []string{"a1", "a2"} {
		if err := add(id, "alice", future()); err != nil {
			s.Fatal(err)
		}
	}
	s.fails("a third task of one owner", add("a3", "alice", future()), taskstore.ErrQuota)
	if err := add("b1", "bob", future()); err != nil {
		s.Fatal(err)
	}
	s.fails("a fourth task in all", add("c1", "carol", future()), taskstore.ErrQuota)
	_, err := s.Load(s.ctx(), "c1")
	s.fails("Load of a task that was refused", err, taskstore.ErrNotFound)

	// What has been deleted or has expired does not count.
	if err := s.Delete(s.ctx(), "a1"); err != nil {
		s.Fatal(err)
	}
	if err := add("a4", "alice", past()); err != nil {
		s.Errorf("after one was deleted: %v", err)
	}
	if err := add("a5", "alice", future()); err != nil {
		s.Errorf("after one has expired: %v", err)
	}
	s.fails("a third task of one owner", add("a6", "alice", future()), taskstore.ErrQuota)
	s.create(taskstore.Record{ID: "a7", Owner: "alice", Created: start}) // quotas are the caller's
}

func (s *suite) lists() {
	var want []string // newest first
	for i := range 7 {
		id := fmt.Sprintf("t%d", i)
		s.create(taskstore.Record{ID: id, Owner: "alice", Created: start.Add(time.Duration(i) * time.Millisecond), Data: []byte(id)})
		s.create(taskstore.Record{ID: "b" + id, Owner: "bob", Created: start.Add(time.Duration(i) * time.Millisecond)})
		want = append([]string{id}, want...)
	}
	for limit := 1; limit <= 8; limit++ {
		if got := s.all("alice", limit); !slices.Equal(got, want) {
			s.Errorf("by %d: %q, want %q", limit, got, want)
		}
	}
	page, next, err := s.List(s.ctx(), "alice", "", 7)
	if err != nil || next != "" {
		s.Errorf("a page that holds all: cursor %q, error %v; want neither", next, err)
	}
	for _, r := range page {
		s.holds(r)
	}
	if page, next, err := s.List(s.ctx(), "carol", "", 7); err != nil || len(page) != 0 || next != "" {
		s.Errorf("tasks of an owner without any: %v, %q, %v", page, next, err)
	}
	// Many of one moment are told apart.
	for i := range 10 {
		s.create(taskstore.Record{ID: fmt.Sprintf("s%d", i), Owner: "sam", Created: start})
	}
	got := s.all("sam", 3)
	if slices.Sort(got); len(got) != 10 || len(slices.Compact(got)) != 10 {
		s.Errorf("of ten tasks of one millisecond the pages held %q", got)
	}
}

func (s *suite) cursorsUnderChange() {
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for i := range 10 {
		s.create(taskstore.Record{ID: fmt.Sprintf("t%d", i), Owner: "alice", Created: at(i)})
	}
	page, cursor, err := s.List(s.ctx(), "alice", "", 4)
	if got := idsOf(page); err != nil || !slices.Equal(got, []string{"t9", "t8", "t7", "t6"}) {
		s.Fatalf("first page %q, %v", got, err)
	}
	// The last of the page is deleted, and so is the first of the next one; others
	// are added before, between and behind, and saved.
	for _, id := range []string{"t6", "t5", "t9"} {
		if err := s.Delete(s.ctx(), id); err != nil {
			s.Fatal(err)
		}
	}
	s.create(taskstore.Record{ID: "newer", Owner: "alice", Created: at(20)})
	s.create(taskstore.Record{ID: "older", Owner: "alice", Created: at(-1)})
	t3, err := s.Load(s.ctx(), "t3")
	if err != nil {
		s.Fatal(err)
	}
	t3.Data = []byte("saved")
	s.saved(t3)
	for range 2 { // a cursor can be used again
		page, next, err := s.List(s.ctx(), "alice", cursor, 10)
		if got := idsOf(page); err != nil || next != "" || !slices.Equal(got, []string{"t4", "t3", "t2", "t1", "t0", "older"}) {
			s.Errorf("the rest is %q, cursor %q, %v", got, next, err)
		}
	}
}

func (s *suite) invalidCursors() {
	for i := range 3 {
		s.create(taskstore.Record{ID: fmt.Sprintf("t%d", i), Owner: "alice", Created: start})
	}
	_, cursor, err := s.List(s.ctx(), "alice", "", 1)
	if err != nil || cursor == "" {
		s.Fatalf("cursor %q, %v", cursor, err)
	}
	for _, invalid := range []string{"x", "-", "0", "%", "\x00", "\xff", cursor + "!", "!" + cursor, "null", "' OR 1=1 --"} {
		_, _, err := s.List(s.ctx(), "alice", invalid, 1)
		s.fails(fmt.Sprintf("List after %q", invalid), err, taskstore.ErrCursor)
	}
}

func (s *suite) journal() {
	r := s.create(taskstore.Record{ID: "t", Created: start})
	s.create(taskstore.Record{ID: "t2", Created: start})
	s.entries("t", nil)
	want := map[string][]byte{"a": []byte("1"), "b": []byte("\x00\xff"), "c": []byte("{}")}
	for key, value := range want {
		if err := s.Append(s.ctx(), "t", key, value); err != nil {
			s.Fatal(err)
		}
	}
	s.fails("a second entry with a key", s.Append(s.ctx(), "t", "a", []byte("2")), taskstore.ErrExists)
	s.entries("t", want)
	s.entries("t2", nil)
	if err := s.Append(s.ctx(), "t2", "a", []byte("other")); err != nil {
		s.Errorf("the key of another task's journal: %v", err)
	}
	s.entries("t", want)
	s.saved(r) // the version is still the same
	s.entries("t", want)

	if err := s.Append(s.ctx(), "t2", "empty", nil); err != nil {
		s.Fatal(err)
	}
	got, err := s.Journal(s.ctx(), "t2")
	if value, ok := got["empty"]; err != nil || !ok || len(value) != 0 {
		s.Errorf("journal %q, %v; want an entry without a value", got, err)
	}
	s.fails("a second entry after an empty one", s.Append(s.ctx(), "t2", "empty", []byte("x")), taskstore.ErrExists)
}

func (s *suite) abandoned() {
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for i, id := range []string{"c", "a", "b"} { // leased until 0, 10 and 20 ms after start
		s.create(taskstore.Record{ID: id, Owner: id, Created: start, Lease: at(10 * i)})
	}
	idle := s.create(taskstore.Record{ID: "idle", Created: start})
	want := func(before time.Time, limit int, want ...string) {
		s.Helper()
		if ids, err := s.Abandoned(s.ctx(), before, limit); err != nil || !slices.Equal(ids, want) {
			s.Errorf("abandoned %s after start, limit %d: %q, %v; want %q", before.Sub(start), limit, ids, err, want)
		}
	}
	want(at(-1), 10)
	want(at(0), 10)
	want(at(1), 10, "c")
	want(at(10), 10, "c")
	want(at(11), 10, "c", "a")
	want(at(1000), 10, "c", "a", "b")
	want(at(1000), 2, "c", "a")

	// Leases are renewed, dropped and taken.
	c, err := s.Load(s.ctx(), "c")
	if err != nil {
		s.Fatal(err)
	}
	c.Lease = at(500)
	c = s.saved(c)
	want(at(500), 10, "a", "b")
	want(at(501), 10, "a", "b", "c")
	c.Lease = time.Time{}
	s.saved(c)
	idle.Lease = at(5)
	s.saved(idle)
	want(at(1000), 10, "idle", "a", "b")
}
