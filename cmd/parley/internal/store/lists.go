package store

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/internal/taskcursor"
	"github.com/parley-mcp/parley/server/taskstore"
)

// List implements taskstore.Store.
func (s *Store) List(ctx context.Context, owner, cursor string, limit int) (page []taskstore.Record, next string, err error) {
	limit = max(limit, 1)
	condition, args := "", []any{[]byte(owner), now()}
	if cursor != "" {
		created, id, err := taskcursor.Parse(cursor)
		if err != nil {
			return nil, "", err
		}
		condition = " AND (created < ? OR created = ? AND id > ?)"
		args = append(args, created.UnixMilli(), created.UnixMilli(), id)
	}
	page, err = collect(ctx, s, scan, "SELECT "+columns+" FROM tasks WHERE owner = ? AND "+live+condition+" ORDER BY created DESC, id LIMIT ?", append(args, limit+1)...)
	if err != nil {
		return nil, "", err
	}
	if len(page) > limit { // one more than asked for: there is another page
		page = page[:limit:limit]
		next = taskcursor.After(page[limit-1].Created, page[limit-1].ID)
	}
	return page, next, nil
}

// Abandoned implements taskstore.Store.
func (s *Store) Abandoned(ctx context.Context, before time.Time, limit int) ([]string, error) {
	return collect(ctx, s, func(columns row) (id string, err error) {
		err = columns(&id)
		return id, err
	},
		"SELECT id FROM tasks WHERE lease < ? AND "+live+" ORDER BY lease, id LIMIT ?", before.UnixMilli(), now(), limit)
}

// Append implements taskstore.Store.
func (s *Store) Append(ctx context.Context, id, key string, value []byte) error {
	if err := s.fits(value); err != nil {
		return err
	}
	n, err := s.exec(ctx, "INSERT INTO journal (task, key, value) SELECT number, ?, ? FROM tasks WHERE id = ? AND "+live,
		[]byte(key), bytesOf(value), id, now())
	switch {
	case taken(err):
		return taskstore.ErrExists
	case err == nil && n == 0:
		return taskstore.ErrNotFound
	}
	return err
}

// Journal implements taskstore.Store.
func (s *Store) Journal(ctx context.Context, id string) (map[string][]byte, error) {
	type entry struct{ key, value []byte }
	found, err := collect(ctx, s, func(columns row) (e entry, err error) {
		err = columns(&e.key, &e.value)
		return e, err
	},
		"SELECT key, value FROM journal WHERE task = (SELECT number FROM tasks WHERE id = ? AND "+live+")", id, now())
	entries := make(map[string][]byte, len(found))
	for _, e := range found {
		entries[string(e.key)] = e.value
	}
	return entries, err
}
