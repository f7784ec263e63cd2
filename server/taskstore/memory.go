package taskstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/taskcursor"
)

// NewMemory returns a Store that keeps tasks in memory, for one process. They are
// gone when it ends.
func NewMemory() Store {
	return &memory{tasks: map[string]*task{}, owners: map[string]map[string]*task{}, leased: map[string]*task{}}
}

// memory is the Store of NewMemory.
type memory struct {
	mu     sync.Mutex
	tasks  map[string]*task            // by ID
	owners map[string]map[string]*task // the same by owner and ID
	leased map[string]*task            // those with a Lease, by ID
}

// task is a Record with its journal. The journal's map is nil until there is an
// entry.
type task struct {
	Record
	journal map[string][]byte
}

// Create implements Store.
func (m *memory) Create(ctx context.Context, r Record, q Quota) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tasks[r.ID] != nil {
		return 0, fmt.Errorf("task %s: %w", r.ID, ErrExists)
	}
	if m.full(r.Owner, q) {
		m.sweep(time.Now())
		if m.full(r.Owner, q) {
			return 0, ErrQuota
		}
	}
	r.Version = 1
	r.Created = exact(r.Created)
	t := &task{Record: r}
	m.set(t, r)
	m.tasks[r.ID] = t
	if m.owners[r.Owner] == nil {
		m.owners[r.Owner] = map[string]*task{}
	}
	m.owners[r.Owner][r.ID] = t
	return r.Version, nil
}

func (m *memory) full(owner string, q Quota) bool {
	return q.Total > 0 && len(m.tasks) >= q.Total || q.PerOwner > 0 && len(m.owners[owner]) >= q.PerOwner
}

// set takes over what Save may change.
func (m *memory) set(t *task, r Record) {
	t.Expires, t.Lease, t.Data = exact(r.Expires), exact(r.Lease), bytes.Clone(r.Data)
	if t.Lease.IsZero() {
		delete(m.leased, t.ID)
	} else {
		m.leased[t.ID] = t
	}
}

// Load implements Store.
func (m *memory) Load(ctx context.Context, id string) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.live(id)
	if t == nil {
		return Record{}, ErrNotFound
	}
	return t.Record, nil
}

// live returns a task that has not expired, or nil.
func (m *memory) live(id string) *task {
	if t := m.tasks[id]; t != nil && !t.Expired(time.Now()) {
		return t
	}
	return nil
}

// Save implements Store.
func (m *memory) Save(ctx context.Context, r Record) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.live(r.ID)
	switch {
	case t == nil:
		return 0, ErrNotFound
	case t.Version != r.Version:
		return 0, ErrConflict
	}
	t.Version++
	m.set(t, r)
	return t.Version, nil
}

// Delete implements Store.
func (m *memory) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(id)
	return nil
}

func (m *memory) remove(id string) {
	t := m.tasks[id]
	if t == nil {
		return
	}
	delete(m.tasks, id)
	delete(m.leased, id)
	delete(m.owners[t.Owner], id)
	if len(m.owners[t.Owner]) == 0 {
		delete(m.owners, t.Owner)
	}
}

// List implements Store.
func (m *memory) List(ctx context.Context, owner, cursor string, limit int) ([]Record, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	limit = max(limit, 1)
	after, err := parse(cursor)
	if err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	var page []Record
	for _, t := range m.owners[owner] {
		if m.live(t.ID) != nil && (after == nil || order(after, &t.Record) < 0) {
			page = append(page, t.Record)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(page, func(a, b Record) int { return order(&a, &b) })
	if len(page) <= limit {
		return page, "", nil
	}
	page = slices.Clip(page[:limit])
	return page, taskcursor.After(page[limit-1].Created, page[limit-1].ID), nil
}

// order sorts newer tasks before older ones, and by ID those of one millisecond.
func order(a, b *Record) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
}

// parse returns what is known of the last task of the page before; nil without a
// cursor.
func parse(cursor string) (*Record, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // there is no page before the first
	}
	created, id, err := taskcursor.Parse(cursor)
	return &Record{ID: id, Created: created}, err
}

// Append implements Store.
func (m *memory) Append(ctx context.Context, id, key string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.live(id)
	if t == nil {
		return ErrNotFound
	}
	if _, ok := t.journal[key]; ok {
		return fmt.Errorf("entry %q of the journal: %w", key, ErrExists)
	}
	if t.journal == nil {
		t.journal = map[string][]byte{}
	}
	t.journal[key] = bytes.Clone(value)
	return nil
}

// Journal implements Store.
func (m *memory) Journal(ctx context.Context, id string) (map[string][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.live(id); t != nil {
		entries := make(map[string][]byte, len(t.journal))
		maps.Copy(entries, t.journal)
		return entries, nil
	}
	return map[string][]byte{}, nil
}

// Abandoned implements Store.
func (m *memory) Abandoned(ctx context.Context, before time.Time, limit int) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	var found []Record
	for _, t := range m.leased {
		if t.Lease.Before(before) && m.live(t.ID) != nil {
			found = append(found, t.Record)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(found, func(a, b Record) int { return cmp.Or(a.Lease.Compare(b.Lease), cmp.Compare(a.ID, b.ID)) })
	ids := make([]string, 0, min(limit, len(found)))
	for _, r := range found[:cap(ids)] {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// Sweep implements Store.
func (m *memory) Sweep(ctx context.Context, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(now)
	return nil
}

func (m *memory) sweep(now time.Time) {
	for id, t := range m.tasks {
		if t.Expired(now) {
			m.remove(id)
		}
	}
}

// exact is a time as a Record has it.
func exact(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
