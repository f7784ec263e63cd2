package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/server/taskstore"
)

// live is the condition of tasks that have not expired. Its parameter is now.
const live = "(expires IS NULL OR expires > ?)"

func now() int64 { return time.Now().UnixMilli() }

// Create implements taskstore.Store.
func (s *Store) Create(ctx context.Context, r taskstore.Record, q taskstore.Quota) (uint64, error) {
	if err := s.fits(r.Data); err != nil {
		return 0, err
	}
	added, err := s.insert(ctx, r, q)
	if err == nil && !added { // what has expired does not count
		if err = s.Sweep(ctx, time.Now()); err == nil {
			added, err = s.insert(ctx, r, q)
		}
	}
	switch {
	case taken(err):
		return 0, fmt.Errorf("task %s: %w", r.ID, taskstore.ErrExists)
	case err != nil:
		return 0, err
	case !added:
		return 0, taskstore.ErrQuota
	}
	return 1, nil
}

// insert adds a task, unless there are too many. That is decided in the same
// statement, so that processes cannot exceed the quota together.
func (s *Store) insert(ctx context.Context, r taskstore.Record, q taskstore.Quota) (added bool, err error) {
	n, err := s.exec(ctx, `INSERT INTO tasks (id, owner, version, created, expires, lease, data) SELECT ?, ?, 1, ?, ?, ?, ?
		WHERE (?7 <= 0 OR ?7 > (SELECT count(*) FROM (SELECT 1 FROM tasks WHERE owner = ?2 LIMIT ?7)))
		AND (?8 <= 0 OR ?8 > (SELECT count(*) FROM tasks))`,
		r.ID, []byte(r.Owner), r.Created.UnixMilli(), stamp(r.Expires), stamp(r.Lease), bytesOf(r.Data), q.PerOwner, q.Total)
	return n == 1, err
}

// fits checks the size of what is to be stored.
func (s *Store) fits(data []byte) error {
	if len(data) > MaxSize {
		return fmt.Errorf("%d bytes, and task store %s keeps at most %d: %w", len(data), s.file, MaxSize, taskstore.ErrTooLarge)
	}
	return nil
}

// bytesOf makes a blob of no bytes where there are none; nil would be NULL.
func bytesOf(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// columns are those of a task, in the order of scan.
const columns = "id, owner, version, created, expires, lease, data"

// scan reads a task.
func scan(columns row) (taskstore.Record, error) {
	var r taskstore.Record
	var owner []byte
	var version, created int64
	var expires, lease sql.NullInt64
	err := columns(&r.ID, &owner, &version, &created, &expires, &lease, &r.Data)
	r.Owner, r.Version = string(owner), uint64(version) //nolint:gosec // it counts from 1
	r.Created, r.Expires, r.Lease = time.UnixMilli(created).UTC(), moment(expires), moment(lease)
	return r, err
}

// Load implements taskstore.Store.
func (s *Store) Load(ctx context.Context, id string) (taskstore.Record, error) {
	found, err := collect(ctx, s, scan, "SELECT "+columns+" FROM tasks WHERE id = ? AND "+live, id, now())
	switch {
	case err != nil:
		return taskstore.Record{}, err
	case len(found) == 0:
		return taskstore.Record{}, taskstore.ErrNotFound
	}
	return found[0], nil
}

// Save implements taskstore.Store.
func (s *Store) Save(ctx context.Context, r taskstore.Record) (uint64, error) {
	if err := s.fits(r.Data); err != nil {
		return 0, err
	}
	version := int64(r.Version) //nolint:gosec // one above the largest int64 becomes negative, which no task has
	n, err := s.exec(ctx, "UPDATE tasks SET version = version + 1, expires = ?, lease = ?, data = ? WHERE id = ? AND version = ? AND "+live,
		stamp(r.Expires), stamp(r.Lease), bytesOf(r.Data), r.ID, version, now())
	switch {
	case err != nil:
		return 0, err
	case n == 1:
		return r.Version + 1, nil
	}
	if _, err := s.Load(ctx, r.ID); err != nil {
		return 0, err
	}
	return 0, taskstore.ErrConflict
}

// Delete implements taskstore.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	_, err := s.exec(ctx, "DELETE FROM tasks WHERE id = ?", id)
	return err
}

// sweepBatch is how many tasks are deleted at once. Others can write in between.
const sweepBatch = 200

// Sweep implements taskstore.Store.
func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	for {
		n, err := s.exec(ctx, "DELETE FROM tasks WHERE number IN (SELECT number FROM tasks WHERE expires <= ? LIMIT ?)", now.UnixMilli(), sweepBatch)
		if err != nil || n < sweepBatch {
			return err
		}
	}
}
