package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

// Query says which lines of a log are wanted. What is zero is about all of them.
type Query struct {
	// After and Before bound the time.
	After, Before time.Time
	// Principal, Backend, Method and Outcome are what a line has, as far as it is compared:
	// whole, or what is in it for Principal. A line is also of the method if it is what
	// somebody did in the console.
	Principal, Backend, Method, Outcome string
	// Text is somewhere in the line, in small or capital letters.
	Text string
	// From is where an earlier search has stopped; "" is the newest line.
	From string
	// Limit is how many lines are wanted. 0 means 100, and there are 1000 at most.
	Limit int
}

// Found are lines of a log, the newest first.
type Found struct {
	Lines []json.RawMessage
	// Next is where to go on; "" at the end of the oldest file.
	Next string
	// Looked is how much was read, in bytes, and Broken how many lines were none.
	Looked int64
	Broken int
}

const (
	// maxLook is how much one search reads, in bytes. Who wants more goes on from there.
	maxLook = 64 << 20
	// maxFound and usualFound are how many lines it finds.
	maxFound, usualFound = 1000, 100
)

// Search looks through the files of a log: the one at path, and those beside it that were
// written before.
func Search(ctx context.Context, path string, q Query) (*Found, error) {
	files, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	at, err := parsePlace(q.From)
	if err != nil {
		return nil, err
	}
	s := &searching{query: q, want: min(maxFound, max(q.Limit, 0)), text: bytes.ToLower([]byte(q.Text)), found: &Found{Lines: []json.RawMessage{}}}
	if s.want == 0 {
		s.want = usualFound
	}
	if at.file != "" {
		i := slices.Index(files, at.file)
		if i < 0 {
			return nil, ErrGone
		}
		files = files[i:]
	}
	for _, name := range files {
		end := at.offset
		if name != at.file {
			end = -1
		}
		more, err := s.file(ctx, filepath.Join(filepath.Dir(path), name), name, end)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return s.found, nil
}

// ErrGone is what a search fails with that goes on in a file that is not there any more.
var ErrGone = errors.New("the file that the search was in is not there any more; search anew")

// filesOf are the names of the files of a log, the newest first.
func filesOf(path string) ([]string, error) {
	dir, base := filepath.Split(path)
	ext := filepath.Ext(base)
	prefix := strings.TrimSuffix(base, ext) + "-"
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil, err
	}
	var earlier []string
	now := []string{}
	for _, e := range entries {
		name := e.Name()
		switch middle, ok := strings.CutPrefix(strings.TrimSuffix(name, ext), prefix); {
		case e.IsDir():
		case name == base:
			now = append(now, name)
		case ok && strings.HasSuffix(name, ext) && isStamp(middle):
			earlier = append(earlier, name)
		}
	}
	slices.Sort(earlier) // by the time in their names
	slices.Reverse(earlier)
	return append(now, earlier...), nil
}

// isStamp reports whether the middle of a name begins with the time at which a file was put
// aside.
func isStamp(middle string) bool {
	const layout = "2006-01-02T15-04-05.000"
	if len(middle) < len(layout) {
		return false
	}
	_, err := time.Parse(layout, middle[:len(layout)])
	return err == nil
}

// searching is a search under way.
type searching struct {
	query Query
	want  int
	text  []byte
	found *Found
}

// file looks through a file, backwards from an offset; -1 is its end. It reports whether to
// go on with the next.
func (s *searching) file(ctx context.Context, path, name string, end int64) (more bool, err error) {
	file, err := os.Open(path) //nolint:gosec // it is one of the log's
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // it was put aside, or removed, meanwhile
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	info, err := file.Stat()
	switch {
	case err != nil:
		return false, err
	case end > info.Size():
		return false, ErrGone
	case end < 0:
		end = info.Size()
	}
	lines := newBackwards(file, end)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if len(s.found.Lines) >= s.want || s.found.Looked >= maxLook {
			s.found.Next = place{name, lines.at}.String()
			return false, nil
		}
		line, ok, err := lines.next()
		if !ok || err != nil {
			return err == nil, err
		}
		s.found.Looked += int64(len(line)) + 1
		if s.take(line) {
			return false, nil
		}
	}
}

// take takes a line if it is wanted. It reports whether all that come are too old.
func (s *searching) take(text []byte) (over bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return false
	}
	var e line
	if wire.Unmarshal(text, &e) != nil || e.Time.IsZero() {
		s.found.Broken++
		return false
	}
	if slack := 24 * time.Hour; !s.query.After.IsZero() && e.Time.Before(s.query.After.Add(-slack)) {
		return true // a line has the time at which its operation began, which may have taken long
	}
	if s.query.wants(&e) && (len(s.text) == 0 || bytes.Contains(bytes.ToLower(text), s.text)) {
		s.found.Lines = append(s.found.Lines, bytes.Clone(text))
	}
	return false
}

func (q *Query) wants(e *line) bool {
	method := q.Method == "" || e.Method == q.Method || e.Console != nil && e.Console.Action == q.Method
	return method &&
		(q.After.IsZero() || !e.Time.Before(q.After)) && (q.Before.IsZero() || e.Time.Before(q.Before)) &&
		(q.Principal == "" || strings.Contains(strings.ToLower(e.Principal), strings.ToLower(q.Principal))) &&
		(q.Backend == "" || e.Backend == q.Backend) && (q.Outcome == "" || e.Outcome == q.Outcome)
}
