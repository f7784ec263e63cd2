package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

type note struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// uri is the resource that a note is.
func (n note) uri() string { return "note:///" + strconv.FormatInt(n.ID, 10) }

// errNoNote says that there is no such note.
var errNoNote = errors.New("there is no such note: find_notes lists them")

// store keeps notes in an SQLite file.
type store struct{ db *sql.DB }

func openStore(ctx context.Context, file string) (*store, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	const schema = `CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, text TEXT NOT NULL)`
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", file, err), db.Close())
	}
	return &store{db}, nil
}

// find returns the notes that contain some words; all of them contain "".
func (s *store) find(ctx context.Context, words string) ([]note, error) {
	return s.query(ctx, `SELECT id, title, text FROM notes WHERE instr(lower(title || ' ' || text), lower(?)) > 0 ORDER BY id`, words)
}

// one returns the note that a statement reads or changes.
func (s *store) one(ctx context.Context, statement string, args ...any) (note, error) {
	found, err := s.query(ctx, statement, args...)
	if err == nil && len(found) == 0 {
		err = errNoNote
	}
	if err != nil {
		return note{}, err
	}
	return found[0], nil
}

// query returns the notes that a statement reads or changes.
func (s *store) query(ctx context.Context, statement string, args ...any) ([]note, error) {
	rows, err := s.db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	found := []note{}
	for rows.Next() {
		var n note
		if err := rows.Scan(&n.ID, &n.Title, &n.Text); err != nil {
			return nil, err
		}
		found = append(found, n)
	}
	return found, rows.Err()
}
