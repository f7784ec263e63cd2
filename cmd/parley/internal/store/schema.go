package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// application marks the file as one of ours: "PaTk".
const application = 0x5061546b

// steps lead from an empty file to what this version reads and writes. The number of
// those that were taken is the file's format. A step that was released never changes.
//
// Times are milliseconds since 1970, and NULL is the zero time. Texts that may hold any
// bytes are blobs.
var steps = []string{`
CREATE TABLE tasks (
	number INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	owner BLOB NOT NULL,
	version INTEGER NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER,
	lease INTEGER,
	data BLOB NOT NULL
) STRICT;
CREATE INDEX tasks_owner ON tasks (owner, created DESC, id);
CREATE INDEX tasks_expires ON tasks (expires) WHERE expires IS NOT NULL;
CREATE INDEX tasks_lease ON tasks (lease, id) WHERE lease IS NOT NULL;
CREATE TABLE journal (
	task INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
	key BLOB NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (task, key)
) STRICT, WITHOUT ROWID;
`}

// foreignError says that a file is an SQLite database of another program.
type foreignError struct{}

func (foreignError) Error() string { return "it is another program's database" }

// newerError says that a file was written by a newer version.
type newerError struct{ format int }

func (e newerError) Error() string {
	return fmt.Sprintf("it has format %d, and this version of the program knows formats up to %d", e.format, len(steps))
}

// damagedError says what SQLite found when it checked a file.
type damagedError struct{ finding string }

func (e damagedError) Error() string { return e.finding }

// migrate brings a file to the format of this version. Several processes may try at
// once.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil) // it takes the lock: nobody else migrates meanwhile
	if err != nil {
		return err
	}
	err = advance(ctx, tx)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func advance(ctx context.Context, tx *sql.Tx) error {
	var owner, format, tables int
	for query, value := range map[string]*int{"PRAGMA application_id": &owner, "PRAGMA user_version": &format, "SELECT count(*) FROM sqlite_schema": &tables} {
		if err := tx.QueryRowContext(ctx, query).Scan(value); err != nil {
			return err
		}
	}
	switch {
	case owner != application && (owner != 0 || format != 0 || tables != 0):
		return foreignError{}
	case format > len(steps):
		return newerError{format}
	case format == len(steps):
		return nil
	}
	for _, step := range append(steps[format:len(steps):len(steps)],
		fmt.Sprintf("PRAGMA application_id = %d", application), fmt.Sprintf("PRAGMA user_version = %d", len(steps))) {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// check reads the whole file, which takes some hundred milliseconds for 100 MB.
func check(ctx context.Context, db *sql.DB) error {
	var finding string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&finding); err != nil {
		return err
	}
	if finding != "ok" {
		return damagedError{finding}
	}
	return nil
}

// stamp is a time as the file has it.
func stamp(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

// moment is the time of a stamp.
func moment(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
