package store

import (
	"context"
	"strconv"
)

// SetPages bounds the file, as a disk would that has room for so many pages.
func (s *Store) SetPages(ctx context.Context, n int) error {
	return s.Exec(ctx, "PRAGMA max_page_count = "+strconv.Itoa(n))
}

// Pragma returns a setting of the connection that writes, or of one that reads.
func (s *Store) Pragma(ctx context.Context, writer bool, name string) (value string, err error) {
	db := s.read
	if writer {
		db = s.write
	}
	err = db.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)
	return value, err
}

// Exec changes the file as no method does.
func (s *Store) Exec(ctx context.Context, query string) error {
	_, err := s.write.ExecContext(ctx, query)
	return err
}

// Application is what marks the file as one of ours.
const Application = application
