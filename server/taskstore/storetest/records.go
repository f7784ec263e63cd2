package storetest

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/server/taskstore"
)

// longest is an ID with all characters that one may have.
const longest = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func (s *suite) createAndLoad() {
	s.holds(s.create(taskstore.Record{ID: "bare", Created: start}))
	r := taskstore.Record{ID: longest, Owner: "alice", Created: start, Expires: time.Now().Add(time.Hour), Lease: start, Data: []byte("\x00{}\xff")}
	r.Expires, r.Lease = r.Expires.Truncate(time.Millisecond), r.Lease.Add(time.Millisecond)
	r = s.create(r)
	s.holds(r)
	_, err := s.Create(s.ctx(), taskstore.Record{ID: longest, Owner: "bob", Created: start}, unbounded)
	s.fails("Create with an ID in use", err, taskstore.ErrExists)
	s.holds(r)
	// IDs that differ in case only are different.
	s.create(taskstore.Record{ID: strings.ToLower("Bare") + "X", Created: start})
	s.create(taskstore.Record{ID: "BAREX", Created: start})

	finer := s.create(taskstore.Record{ID: "finer", Created: start.Add(999 * time.Microsecond).In(time.FixedZone("far", 5*3600))})
	finer.Created = start
	s.holds(finer)
}

func (s *suite) unknownIDs() {
	s.create(taskstore.Record{ID: "known", Created: start})
	for _, id := range []string{"", "unknown", "know", "KNOWN", "known ", "../known", "known.*", ">", "%", "'", "\x00", "kn\u00f6wn", "\xff", strings.Repeat("x", 1<<16)} {
		_, err := s.Load(s.ctx(), id)
		s.fails("Load of an unknown ID", err, taskstore.ErrNotFound)
		_, err = s.Save(s.ctx(), taskstore.Record{ID: id, Version: 1, Created: start})
		s.fails("Save with an unknown ID", err, taskstore.ErrNotFound)
		s.fails("Append with an unknown ID", s.Append(s.ctx(), id, "key", nil), taskstore.ErrNotFound)
		s.entries(id, nil)
		if err := s.Delete(s.ctx(), id); err != nil {
			s.Errorf("Delete of the unknown ID %.20q: %v", id, err)
		}
	}
	if got := s.all("", 10); len(got) != 1 {
		s.Errorf("tasks %q, want the known one", got)
	}
}

func (s *suite) save() {
	r := s.create(taskstore.Record{ID: "t", Owner: "alice", Created: start, Data: []byte("one")})
	other := s.create(taskstore.Record{ID: "other", Owner: "alice", Created: start})
	r.Data, r.Lease, r.Expires = []byte("two"), start.Add(7*time.Millisecond), time.Now().Add(time.Hour).Truncate(time.Millisecond)
	r = s.saved(r)
	s.holds(r)

	// What does not change, does not.
	changed := r
	changed.Owner, changed.Created, changed.Data = "mallory", start.Add(time.Hour), nil
	r.Version, r.Data = s.saved(changed).Version, nil
	s.holds(r)
	if got := s.all("mallory", 10); len(got) != 0 {
		s.Errorf("tasks of a stranger %q, want none", got)
	}

	r.Lease, r.Expires = time.Time{}, time.Time{}
	s.holds(s.saved(r))
	s.holds(other)
}

func (s *suite) conflicts() {
	first := s.create(taskstore.Record{ID: "t", Created: start, Data: []byte("first")})
	second := first
	second.Data = []byte("second")
	second = s.saved(second)
	late := first
	late.Data, late.Lease = []byte("late"), start
	_, err := s.Save(s.ctx(), late)
	s.fails("Save of an old version", err, taskstore.ErrConflict)
	for _, version := range []uint64{0, second.Version + 1, 1 << 62, 1<<64 - 1} {
		late.Version = version
		_, err := s.Save(s.ctx(), late)
		s.fails("Save of a version that never was", err, taskstore.ErrConflict)
	}
	s.holds(second)
	if ids, err := s.Abandoned(s.ctx(), start.Add(time.Hour), 10); err != nil || len(ids) != 0 {
		s.Errorf("abandoned %q, %v; want none: the lease was never saved", ids, err)
	}

	// Each of many versions is a new one.
	seen := map[uint64]bool{first.Version: true, second.Version: true}
	for r := second; len(seen) < 20; seen[r.Version] = true {
		if r = s.saved(r); seen[r.Version] {
			s.Fatalf("version %d occurs twice", r.Version)
		}
	}
}

func (s *suite) remove() {
	r := s.create(taskstore.Record{ID: "t", Owner: "alice", Created: start, Lease: start})
	kept := s.create(taskstore.Record{ID: "kept", Owner: "alice", Created: start})
	for _, id := range []string{"t", "kept"} {
		if err := s.Append(s.ctx(), id, "key", []byte(id)); err != nil {
			s.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Delete(s.ctx(), "t"); err != nil {
			s.Fatal(err)
		}
	}
	_, err := s.Load(s.ctx(), "t")
	s.fails("Load after Delete", err, taskstore.ErrNotFound)
	_, err = s.Save(s.ctx(), r)
	s.fails("Save after Delete", err, taskstore.ErrNotFound)
	s.fails("Append after Delete", s.Append(s.ctx(), "t", "other", nil), taskstore.ErrNotFound)
	s.entries("t", nil)
	if ids, err := s.Abandoned(s.ctx(), start.Add(time.Hour), 10); err != nil || len(ids) != 0 {
		s.Errorf("abandoned %q, %v; want none", ids, err)
	}
	s.holds(kept)
	s.entries("kept", map[string][]byte{"key": []byte("kept")})
	if got := s.all("alice", 10); len(got) != 1 || got[0] != "kept" {
		s.Errorf("tasks %q, want the one that was kept", got)
	}
}

// names are texts that an owner or a key of the journal may be.
var names = []string{"", "alice", "Alice", "alice ", "a.b", "a.*", ">", "%", "_", "a'b", "a/b", "\x00", "a\x00b", "\u00fc", "u\u0308", "\xff", "{\"iss\":1}", strings.Repeat("n", 4000)}

func (s *suite) owners() {
	for i, owner := range names {
		r := s.create(taskstore.Record{ID: string(rune('A' + i)), Owner: owner, Created: start})
		s.holds(r)
	}
	for i, owner := range names {
		if got := s.all(owner, 10); len(got) != 1 || got[0] != string(rune('A'+i)) {
			s.Errorf("tasks of %.20q are %q, want %c", owner, got, 'A'+i)
		}
	}
	want := map[string][]byte{}
	for i, key := range names {
		want[key] = []byte(strconv.Itoa(i))
		if err := s.Append(s.ctx(), "A", key, want[key]); err != nil {
			s.Errorf("Append with the key %.20q: %v", key, err)
		}
	}
	s.entries("A", want)
}

func (s *suite) sizes() {
	big := bytes.Repeat([]byte{0, 1, 2, 0xff}, taskstore.MinSize/4)
	r := s.create(taskstore.Record{ID: "big", Created: start, Data: big})
	s.holds(r)
	r.Data = append(bytes.Clone(big[1:]), 7)
	s.holds(s.saved(r))
	for _, key := range []string{"first", "second"} {
		if err := s.Append(s.ctx(), "big", key, big); err != nil {
			s.Fatalf("Append of %d bytes: %v", len(big), err)
		}
	}
	s.entries("big", map[string][]byte{"first": big, "second": big})
}

// The bytes that were given belong to the caller again.
func (s *suite) ownership() {
	data, value := []byte("data"), []byte("value")
	r := s.create(taskstore.Record{ID: "t", Created: start, Data: data})
	if err := s.Append(s.ctx(), "t", "key", value); err != nil {
		s.Fatal(err)
	}
	copy(data, "XXXX")
	copy(value, "XXXXX")
	r.Data = []byte("data")
	s.holds(r)
	s.entries("t", map[string][]byte{"key": []byte("value")})

	data = []byte("more")
	r.Data = data
	r = s.saved(r)
	earlier, err := s.Load(s.ctx(), "t")
	if err != nil {
		s.Fatal(err)
	}
	copy(data, "XXXX")
	r.Data = []byte("more")
	s.holds(r)
	r.Data = []byte("other")
	s.saved(r)
	if string(earlier.Data) != "more" {
		s.Errorf("what Load returned became %q when the task was saved", earlier.Data)
	}
}
