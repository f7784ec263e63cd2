package taskcursor_test

import (
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/taskcursor"
)

func TestCursor(t *testing.T) {
	for _, ms := range []int64{0, 1, -1, 1785240000123} {
		at := time.UnixMilli(ms)
		got, id, err := taskcursor.Parse(taskcursor.After(at, "a-b_c.d"))
		if err != nil || !got.Equal(at) || id != "a-b_c.d" {
			t.Errorf("%s became %s, %q, %v", at, got, id, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(taskcursor.After(time.UnixMilli(7), "id"))
	f.Fuzz(func(t *testing.T, cursor string) {
		at, id, err := taskcursor.Parse(cursor)
		if err != nil {
			return
		}
		again, same, err := taskcursor.Parse(taskcursor.After(at, id))
		if err != nil || !again.Equal(at) || same != id {
			t.Errorf("%q is %s, %q; that became %s, %q, %v", cursor, at, id, again, same, err)
		}
	})
}
