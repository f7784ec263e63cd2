// Package taskcursor writes and reads the cursors of stores of tasks. They name the
// last task of a page by what lists are sorted by, so they stay valid when that task
// is deleted, and every process with the store understands them.
package taskcursor

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// ErrCursor says that a text is no cursor.
var ErrCursor = errors.New("the cursor is not valid")

// After returns the cursor of the tasks that follow one.
func After(created time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(created.UnixMilli(), 36) + "." + id))
}

// Parse returns when the task of a cursor was created, and its ID. The error is
// ErrCursor.
func Parse(cursor string) (created time.Time, id string, err error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return time.Time{}, "", ErrCursor
	}
	number, id, found := strings.Cut(string(text), ".")
	ms, err := strconv.ParseInt(number, 36, 64)
	if err != nil || !found || id == "" {
		return time.Time{}, "", ErrCursor
	}
	return time.UnixMilli(ms), id, nil
}
