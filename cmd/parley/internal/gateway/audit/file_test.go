package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
)

// filed is a log with a file, and operations that are numbered.
type filed struct {
	*Log

	t    *testing.T
	dir  string
	path string
	told int // operations that were served
}

func newFiled(t *testing.T, o Options) *filed {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be moved there")
	}
	dir := filepath.Join(t.TempDir(), "logs")
	o.Path = filepath.Join(dir, "audit.jsonl")
	l, err := New(quiet(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return &filed{Log: l, t: t, dir: dir, path: o.Path}
}

// serve serves the next operation, and reports whether it has reached the backend.
func (f *filed) serve(params string) (reached bool, err error) {
	f.told++
	op := operation()
	op.Subject, op.Params = fmt.Sprintf("tool %d", f.told), json.RawMessage(params)
	_, err = f.Serve(f.t.Context(), op, func(context.Context, *guard.Operation) (any, error) {
		reached = true
		return nil, nil
	})
	return reached, err
}

// serves serves an operation that is to be served.
func (f *filed) serves() {
	f.t.Helper()
	if _, err := f.serve(`{}`); err != nil {
		f.t.Fatal(err)
	}
}

// move moves the file to another name beside it.
func (f *filed) move(to string) {
	f.t.Helper()
	if err := os.Rename(f.path, filepath.Join(f.dir, to)); err != nil {
		f.t.Fatal(err)
	}
}

// after waits in a bubble.
func after(d time.Duration) { <-time.NewTimer(d).C }

// has sees which operations have lines in a file.
func (f *filed) has(name string, want ...int) {
	f.t.Helper()
	got := f.in(name)
	if len(got) != len(want) {
		f.t.Errorf("%s has lines of %q, want those of %v", name, got, want)
		return
	}
	for i, n := range want {
		if got[i] != fmt.Sprintf("tool %d", n) {
			f.t.Errorf("line %d of %s is of %q, want tool %d", i, name, got[i], n)
		}
	}
}

// in returns what the lines of a file are about.
func (f *filed) in(name string) (subjects []string) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Error(err)
	}
	for one := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(one), &l); err != nil {
			f.t.Errorf("%s has %.100q: %v", name, one, err)
		}
		subjects = append(subjects, l.Subject)
	}
	return subjects
}

// A log goes on at its path when somebody has moved or removed its file, or put another there:
// after a second at the latest, and at once if it is told to.
func TestFileMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFiled(t, Options{})
		f.serves()
		f.move("audit.jsonl.1")
		after(looking)
		f.serves()
		f.has("audit.jsonl.1", 1)
		f.has("audit.jsonl", 2)
		if info, err := os.Stat(f.path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the new file: %v, %v", info, err)
		}

		f.move("audit.jsonl.2")
		f.Follow()
		f.serves()
		f.has("audit.jsonl.2", 2)
		f.has("audit.jsonl", 3)

		f.move("audit.jsonl.3")
		if err := os.WriteFile(f.path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f.Follow()
		f.serves()
		f.has("audit.jsonl.3", 3)
		f.has("audit.jsonl", 4)

		if err := os.Remove(f.path); err != nil {
			t.Fatal(err)
		}
		after(looking)
		f.serves()
		f.serves()
		f.has("audit.jsonl", 5, 6)
	})
}

// Where there can be no file any more, the log cannot be written: that is told before
// operations are done, if it is required, and the log goes on where there can be one again.
func TestFileLost(t *testing.T) {
	for name, required := range map[string]bool{"goes on": false, "refuses": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFiled(t, Options{Required: required})
				f.serves()
				elsewhere := f.dir + ".away"
				if err := errors.Join(os.Rename(f.dir, elsewhere), os.WriteFile(f.dir, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
				after(looking)
				begun := time.Now()
				for range 2 {
					reached, err := f.serve(`{}`)
					if reached == required || errors.Is(err, refusal()) != required {
						t.Errorf("an operation has reached the backend: %t; error %v", reached, err)
					}
					after(time.Minute)
				}
				if s := f.State(); s.Err == nil || !s.Since.Equal(begun) || s.Missing != 2 || s.Lines != 1 {
					t.Errorf("the log is %+v; want one line, and two missing since %v", s, begun)
				}
				if err := f.Ready(); (err != nil) != required {
					t.Errorf("ready: %v", err)
				}
				if err := errors.Join(os.Remove(f.dir), os.Rename(elsewhere, f.dir)); err != nil {
					t.Fatal(err)
				}
				f.serves()
				if s := f.State(); s.Err != nil || s.Missing != 0 || !s.Since.IsZero() {
					t.Errorf("with a folder again, the log is %+v", s)
				}
				if required {
					f.move("all") // with the line that says that it goes on
					f.Follow()
					f.serves()
					f.has("audit.jsonl", 5)
					return
				}
				f.has("audit.jsonl", 1, 4)
			})
		})
	}
}

// Whoever asks whether a log is ready has it tried again, and no line is missing because of it.
func TestReady(t *testing.T) {
	d := new(disk)
	l := newLog(d, quiet(Options{Required: true}))
	ready := func(want bool) {
		t.Helper()
		if err := l.Ready(); (err == nil) != want {
			t.Errorf("ready: %v", err)
		}
	}
	ready(true)
	d.full = true
	_, _ = l.Serve(t.Context(), operation(), answering(nil, nil))
	ready(false)
	ready(false)
	if s := l.State(); !errors.Is(s.Err, syscall.ENOSPC) || s.Missing != 1 {
		t.Errorf("the log is %+v; want that one line is missing", s)
	}
	d.full = false
	ready(true)
	if got := d.lines(t); len(got) != 1 || got[0]["outcome"] != "resumed" || got[0]["missing"] != 1.0 {
		t.Errorf("the lines are %v", got)
	}
}

// The files that a log begins by itself have each line once, in order, whenever the log looks
// whether its file was moved.
func TestFileFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFiled(t, Options{Level: Full, MaxMiB: 1})
		const operations = 24
		params := fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", 200<<10))
		for range operations {
			if _, err := f.serve(params); err != nil {
				t.Fatal(err)
			}
			after(looking * 2 / 5)
		}
		names, err := filesOf(f.path)
		if err != nil || len(names) < 4 {
			t.Fatalf("files %q, %v; want several", names, err)
		}
		slices.Reverse(names)
		var all []string
		for _, name := range names {
			all = append(all, f.in(name)...)
		}
		if len(all) != operations {
			t.Errorf("%d lines in all, want %d", len(all), operations)
		}
		for i, subject := range all {
			if subject != fmt.Sprintf("tool %d", i+1) {
				t.Errorf("line %d is of %q", i+1, subject)
			}
		}
	})
}
