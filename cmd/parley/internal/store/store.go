// Package store keeps the tasks of a server in an SQLite file, which several
// processes of one machine may share. Each change is on the disk when its method
// returns, so it survives the end of the process and a loss of power.
package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	// The driver.
	_ "modernc.org/sqlite"

	"github.com/parley-mcp/parley/cmd/parley/internal/dbfile"
	"github.com/parley-mcp/parley/server/taskstore"
)

// MaxSize is how many bytes the Data of a task may have, and how many one value of its
// journal: a fraction of what all files of the process may take in memory.
const MaxSize = 8 << 20

const (
	maxReaders = 4
	// writing are the parameters of the connection that writes. Each commit waits for the
	// disk. The log is short, so that little room is left to it on a full disk.
	writing = "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(1)" +
		"&_pragma=wal_autocheckpoint(250)&_pragma=journal_size_limit(8388608)"
	// patience is how long to wait for other processes, and for memory that queries of
	// other files use up.
	patience = 10 * time.Second
)

// Store is an SQLite file with tasks. Its methods may be called concurrently.
type Store struct {
	file  string
	write *sql.DB // one connection: writers queue up here, not at the file's lock
	read  *sql.DB
}

var _ taskstore.Store = (*Store)(nil)

// Open opens a file with tasks, or makes one that only the user can read. The error
// says what is wrong with the file and what to do: it may be damaged, another
// program's, or written by a newer version of this one. ctx is for opening only.
func Open(ctx context.Context, file string) (*Store, error) {
	s := &Store{file: file}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(s.explain(err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := dbfile.Prepare(); err != nil {
		return err
	}
	path, err := filepath.Abs(s.file)
	if err != nil {
		return err
	}
	if err := createPrivate(path); err != nil {
		return err
	}
	if s.write, err = connect(path, 1, writing); err != nil {
		return err
	}
	if err := s.again(ctx, func() error { return migrate(ctx, s.write) }); err != nil {
		return err
	}
	s.read, err = connect(path, maxReaders, "_pragma=query_only(1)&_pragma=cache_size(-1000)")
	if err != nil {
		return err
	}
	return check(ctx, s.read)
}

// createPrivate makes an empty file if there is none. SQLite gives the files that it
// puts beside it the same mode.
func createPrivate(path string) error {
	// A file that is there must not be opened: closing it would drop the locks that
	// this process has on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) //nolint:gosec // the user names it
	if err == nil {
		return f.Close()
	}
	info, stat := os.Stat(path)
	switch {
	case stat != nil || !errors.Is(err, os.ErrExist):
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is not a file")
	}
	return nil
}

func connect(path string, connections int, parameters string) (*sql.DB, error) {
	parameters += "&_pragma=busy_timeout(" + milliseconds(patience) + ")&_pragma=trusted_schema(0)&_defensive=1&" + dbfile.Bounded()
	db, err := sql.Open("sqlite", dbfile.Name(path, parameters))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Close closes the file. Methods that are called later fail.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} { // the last one to close tidies up
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// exec changes the file, and returns how many rows that concerned.
func (s *Store) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.again(ctx, func() error {
		result, err := s.write.ExecContext(ctx, query, args...)
		if err == nil {
			n, err = result.RowsAffected()
		}
		return err
	})
	return n, s.explain(err)
}

// again does something once more, for as long as there is patience, when it failed for
// a reason that passes. Failed changes have changed nothing.
func (s *Store) again(ctx context.Context, f func() error) error {
	until := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := f()
		if !passing(err) || time.Now().After(until) {
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return context.Cause(ctx)
		}
	}
}

// row scans one row.
type row func(columns ...any) error

// collect reads rows.
func collect[T any](ctx context.Context, s *Store, scan func(row) (T, error), query string, args ...any) (found []T, err error) {
	err = s.again(ctx, func() error {
		found = nil
		rows, err := s.read.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows.Scan)
			if err != nil {
				return err
			}
			found = append(found, v)
		}
		return rows.Err()
	})
	return found, s.explain(err)
}
