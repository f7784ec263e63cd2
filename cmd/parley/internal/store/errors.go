package store

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/parley-mcp/parley/server/taskstore"
)

// codes returns what SQLite calls an error: its kind, and the exact one. They are 0 for
// errors of others.
func codes(err error) (kind, exact int) {
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		return failed.Code() & 0xff, failed.Code()
	}
	return 0, 0
}

// passing reports whether an error has to do with what others do at this moment.
func passing(err error) bool {
	kind, exact := codes(err)
	return kind == lib.SQLITE_BUSY || kind == lib.SQLITE_NOMEM || exact == lib.SQLITE_IOERR_NOMEM
}

// taken reports whether a row was refused because there is one with its key.
func taken(err error) bool {
	_, exact := codes(err)
	return exact == lib.SQLITE_CONSTRAINT_UNIQUE || exact == lib.SQLITE_CONSTRAINT_PRIMARYKEY
}

// explain names the file in an error, and the way out. Errors that are answers, such as
// ErrNotFound, stay as they are.
func (s *Store) explain(err error) error {
	if err == nil || taken(err) || errors.Is(err, taskstore.ErrNotFound) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("task store %s: %w", s.file, err)
	}
	return fmt.Errorf("task store %s: %w%s", s.file, err, wayOut(err))
}

func wayOut(err error) string {
	switch kind, exact := codes(err); {
	case kind == lib.SQLITE_CORRUPT || isA[damagedError](err):
		return `; the file is damaged: stop its servers and move it away together with those of the same name that end in -wal and -shm, ` +
			`and start again, which begins with no tasks. "sqlite3 FILE .recover" may get some of them back`
	case kind == lib.SQLITE_NOTADB || isA[foreignError](err):
		return "; name another file, which is made if it does not exist"
	case isA[newerError](err):
		return "; use a newer version of the program, or another file"
	case kind == lib.SQLITE_FULL:
		return "; the disk is full: nothing was changed. Make room"
	case kind == lib.SQLITE_BUSY:
		return "; another process has locked the file for more than " + patience.String()
	case kind == lib.SQLITE_NOMEM || exact == lib.SQLITE_IOERR_NOMEM:
		return "; queries use up the memory that SQLite may take"
	case kind == lib.SQLITE_READONLY || kind == lib.SQLITE_CANTOPEN || kind == lib.SQLITE_PERM:
		return "; the file, and the folder it is in, have to be writable for the user of the server"
	case kind == lib.SQLITE_IOERR:
		return "; the disk failed to read or write"
	}
	return ""
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
