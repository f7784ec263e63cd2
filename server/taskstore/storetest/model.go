package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/server/taskstore"
)

// Model does to an empty Store, and to a map, what the bytes of a script say, and
// compares all that both return. Every script is valid, so it can come from a fuzzer.
func Model(t *testing.T, store taskstore.Store, script []byte) {
	t.Helper()
	m := &model{T: t, store: store, script: script, tasks: map[string]*entry{}, later: future()}
	for len(m.script) > 0 && !t.Failed() {
		deeds[m.pick(len(deeds))](m)
	}
	if !t.Failed() {
		for _, id := range m.ids() {
			m.load(id)
			m.journal(id)
		}
	}
	if t.Failed() {
		t.Logf("what was done:\n\t%s", strings.Join(m.done, "\n\t"))
	}
}

// deeds are what can be done; likelier ones appear more than once.
var deeds = []func(*model){
	(*model).create, (*model).create, (*model).create, (*model).save, (*model).save, (*model).save, (*model).save,
	(*model).append, (*model).append, (*model).remove, (*model).list, (*model).list, (*model).abandoned, (*model).sweep,
	func(m *model) { m.load(m.anyID()) },
	func(m *model) { m.journal(m.anyID()) },
}

// model is the map, and what remains of the script.
type model struct {
	*testing.T
	store  taskstore.Store
	script []byte
	done   []string
	later  time.Time

	tasks   map[string]*entry
	created int
	cursor  string // of the page that was read last
	owner   string // whose page that was
	rest    []string
}

type entry struct {
	taskstore.Record
	old     []uint64 // versions of before
	entries map[string][]byte
}

// pick takes a number below n off the script.
func (m *model) pick(n int) int {
	if len(m.script) == 0 {
		return 0
	}
	b := m.script[0]
	m.script = m.script[1:]
	return int(b) % n
}

// did notes a deed, and compares the error with the one that is expected.
func (m *model) did(err, want error, format string, args ...any) {
	m.Helper()
	m.done = append(m.done, fmt.Sprintf(format, args...)+fmt.Sprintf(": %v", err))
	if !errors.Is(err, want) {
		m.Errorf("%s; want the error %v", m.done[len(m.done)-1], want)
	}
}

func (m *model) ids() []string { return slices.Sorted(maps.Keys(m.tasks)) }

// anyID returns the ID of a task or, sometimes, of none.
func (m *model) anyID() string {
	ids := append(m.ids(), "none")
	return ids[m.pick(len(ids))]
}

// live returns a task that can be seen, or nil.
func (m *model) live(id string) *entry {
	if e := m.tasks[id]; e != nil && !e.Expires.Before(m.later) {
		return e
	}
	return nil
}

// expires is one of a few times: past, or far from now.
func (m *model) expires() time.Time {
	return []time.Time{m.later.Add(time.Hour), m.later, m.later, m.later.Add(-2 * time.Hour)}[m.pick(4)]
}

func (m *model) lease() time.Time {
	if ms := m.pick(8); ms > 0 {
		return start.Add(time.Duration(ms) * time.Millisecond)
	}
	return time.Time{}
}

func (m *model) anyOwner() string { return []string{"", "alice", "bob"}[m.pick(3)] }

func (m *model) create() {
	q := taskstore.Quota{PerOwner: m.pick(7), Total: m.pick(12)}
	r := taskstore.Record{
		ID: fmt.Sprintf("t%d", m.created), Owner: m.anyOwner(), Created: start.Add(time.Duration(m.pick(4)) * time.Millisecond),
		Expires: m.expires(), Lease: m.lease(), Data: fmt.Append(nil, m.created),
	}
	var want error
	own, all := 0, 0
	for id := range m.tasks {
		if e := m.live(id); e != nil {
			all++
			if e.Owner == r.Owner {
				own++
			}
		}
	}
	if q.PerOwner > 0 && own >= q.PerOwner || q.Total > 0 && all >= q.Total {
		want = taskstore.ErrQuota
	}
	version, err := m.store.Create(m.Context(), r, q)
	m.did(err, want, "create %s of %q, expires %t, quota %+v", r.ID, r.Owner, r.Expires.Before(m.later), q)
	if err == nil {
		r.Version = version
		m.tasks[r.ID] = &entry{Record: r, entries: map[string][]byte{}}
		m.created++
	}
}

func (m *model) load(id string) {
	e, want := m.live(id), error(nil)
	if e == nil {
		want = taskstore.ErrNotFound
	}
	r, err := m.store.Load(m.Context(), id)
	m.did(err, want, "load %s", id)
	if e != nil && !same(r, e.Record) {
		m.Errorf("loaded\n\t%+v, want\n\t%+v", r, e.Record)
	}
}

func (m *model) save() {
	id := m.anyID()
	r := taskstore.Record{ID: id, Version: 7, Expires: m.expires(), Lease: m.lease(), Data: fmt.Append(nil, m.pick(256))}
	e, want := m.live(id), taskstore.ErrNotFound
	if e != nil {
		r.Version, want = e.Version, nil
		if old := m.pick(4); old < len(e.old) {
			r.Version, want = e.old[old], taskstore.ErrConflict
		}
	}
	version, err := m.store.Save(m.Context(), r)
	m.did(err, want, "save %s, version %d, expires %t, lease %s", id, r.Version, r.Expires.Before(m.later), r.Lease.Sub(start))
	if err == nil && e != nil {
		e.old = append(e.old, e.Version)
		e.Version, e.Expires, e.Lease, e.Data = version, r.Expires, r.Lease, r.Data
	}
}

func (m *model) remove() {
	id := m.anyID()
	m.did(m.store.Delete(m.Context(), id), nil, "delete %s", id)
	delete(m.tasks, id)
}

func (m *model) append() {
	id, key, value := m.anyID(), names[m.pick(3)], fmt.Append(nil, m.pick(256))
	e, want := m.live(id), taskstore.ErrNotFound
	if e != nil {
		want = nil
		if _, ok := e.entries[key]; ok {
			want = taskstore.ErrExists
		}
	}
	m.did(m.store.Append(m.Context(), id, key, value), want, "append to %s under %q", id, key)
	if e != nil && want == nil {
		e.entries[key] = value
	}
}

func (m *model) journal(id string) {
	want := map[string][]byte{}
	if e := m.live(id); e != nil {
		want = e.entries
	}
	got, err := m.store.Journal(m.Context(), id)
	m.did(err, nil, "journal of %s", id)
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		m.Errorf("the journal is %v, want %v", got, want)
	}
}

// list reads a page: the first, or the one after the last that was read.
func (m *model) list() {
	limit := 1 + m.pick(3)
	cursor, owner := "", m.anyOwner()
	if m.pick(2) == 1 && m.cursor != "" {
		cursor, owner = m.cursor, m.owner
	}
	page, next, err := m.store.List(m.Context(), owner, cursor, limit)
	m.did(err, nil, "list %d of %q after %q", limit, owner, cursor)
	var want []taskstore.Record
	for id := range m.tasks {
		// m.rest are those that had to come after the cursor, as far as they are still there.
		if e := m.live(id); e != nil && e.Owner == owner && (cursor == "" || slices.Contains(m.rest, id)) {
			want = append(want, e.Record)
		}
	}
	slices.SortFunc(want, func(a, b taskstore.Record) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(slices.Index(idsOf(page), a.ID), slices.Index(idsOf(page), b.ID)))
	})
	m.paged(page, next, want, limit, cursor == "")
	m.cursor, m.owner, m.rest = next, owner, nil
	for _, r := range want {
		if !slices.Contains(idsOf(page), r.ID) {
			m.rest = append(m.rest, r.ID)
		}
	}
}

// paged checks a page. want are the tasks that were there all the time; those that
// were added after the first page may be on a later one.
func (m *model) paged(page []taskstore.Record, next string, want []taskstore.Record, limit int, first bool) {
	if len(page) > limit || next == "" && len(page) < len(want) || first && len(page) != min(limit, len(want)) {
		m.Errorf("a page of %d, then %q; want %d of %q", len(page), next, limit, idsOf(want))
	}
	if !slices.IsSortedFunc(page, func(a, b taskstore.Record) int { return b.Created.Compare(a.Created) }) {
		m.Errorf("a page not sorted by age: %v", page)
	}
	for _, r := range page {
		if e := m.live(r.ID); e == nil || !same(r, e.Record) {
			m.Errorf("a page with %+v, want %+v", r, e)
		}
	}
	for _, r := range want { // none of them was left out
		if next != "" && len(page) > 0 && !slices.Contains(idsOf(page), r.ID) && r.Created.After(page[len(page)-1].Created) {
			m.Errorf("a page without %s, which is newer than its last", r.ID)
		}
	}
}

func (m *model) abandoned() {
	before, limit := start.Add(time.Duration(m.pick(9))*time.Millisecond), 1+m.pick(5)
	ids, err := m.store.Abandoned(m.Context(), before, limit)
	m.did(err, nil, "abandoned before %s, limit %d", before.Sub(start), limit)
	var want []time.Time
	for id := range m.tasks {
		if e := m.live(id); e != nil && !e.Lease.IsZero() && e.Lease.Before(before) {
			want = append(want, e.Lease)
		}
	}
	slices.SortFunc(want, time.Time.Compare)
	want = want[:min(limit, len(want))]
	var got []time.Time
	for _, id := range ids {
		if e := m.live(id); e != nil {
			got = append(got, e.Lease)
		}
	}
	if !slices.EqualFunc(got, want, time.Time.Equal) || len(ids) != len(want) {
		m.Errorf("abandoned %q with leases %v, want %v", ids, got, want)
	}
}

func (m *model) sweep() { m.did(m.store.Sweep(m.Context(), time.Now()), nil, "sweep") }
