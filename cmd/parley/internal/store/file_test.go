package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"github.com/parley-mcp/parley/cmd/parley/internal/dbfile"
	"github.com/parley-mcp/parley/cmd/parley/internal/store"
	"github.com/parley-mcp/parley/server/taskstore"
)

var start = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func create(t testing.TB, s taskstore.Store, id string, data []byte) taskstore.Record {
	t.Helper()
	r := taskstore.Record{ID: id, Owner: "alice", Created: start, Data: data}
	var err error
	if r.Version, err = s.Create(t.Context(), r, taskstore.Quota{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// Only the user can read tasks, and what was committed is on the disk.
func TestFile(t *testing.T) {
	file := fresh(t)
	s := open(t, file)
	create(t, s, "t", []byte("secret"))
	files, err := filepath.Glob(file + "*")
	if err != nil || len(files) != 3 {
		t.Fatalf("files %q, %v; want the database with its log and index", files, err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%s has mode %s, want one that only its user can use", filepath.Base(name), info.Mode())
		}
	}
	for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000", "temp_store": "2"} {
		if got, err := s.Pragma(t.Context(), true, name); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", name, got, err, want)
		}
	}
	if got, err := s.Pragma(t.Context(), false, "query_only"); err != nil || got != "1" {
		t.Errorf("connections that read could write: query_only is %s, %v", got, err)
	}
}

// Files that cannot be used are left as they are, and the error says which one it is,
// what is wrong and what to do.
func TestUnusableFiles(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, file string)
		want    []string
	}{
		"text":    {func(t *testing.T, file string) { write(t, file, bytes.Repeat([]byte("no database\n"), 100)) }, []string{"not a database", "name another file"}},
		"folder":  {func(t *testing.T, file string) { check(t, os.Mkdir(file, 0o700)) }, []string{"not a file"}},
		"foreign": {func(t *testing.T, file string) { execute(t, file, "CREATE TABLE songs (title)") }, []string{"another program's", "name another file"}},
		"newer": {func(t *testing.T, file string) {
			execute(t, file, fmt.Sprintf("PRAGMA application_id = %d", store.Application), "PRAGMA user_version = 99")
		}, []string{"format 99", "newer version of the program"}},
		"damaged": {func(t *testing.T, file string) { damage(t, file) }, []string{"damaged", "move it away", "-wal"}},
		"cut": {func(t *testing.T, file string) {
			fill(t, file)
			check(t, os.Truncate(file, 5000))
		}, []string{"damaged", "move it away"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := fresh(t)
			test.prepare(t, file)
			before, _ := os.ReadFile(file) // a folder has no content
			s, err := store.Open(t.Context(), file)
			if err == nil {
				t.Fatalf("it was opened; Close: %v", s.Close())
			}
			for _, want := range append(test.want, file) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is\n\t%v\nwhich does not say %q", err, want)
				}
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "missing", "tasks.db")
	if _, err := store.Open(t.Context(), missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	check(t, os.WriteFile(file, content, 0o600))
}

// execute changes a database as another program would.
func execute(t *testing.T, file string, statements ...string) {
	t.Helper()
	check(t, dbfile.Prepare())
	db, err := sql.Open("sqlite", dbfile.Name(file, "_pragma=journal_mode(wal)"))
	check(t, err)
	for _, statement := range statements {
		_, err := db.ExecContext(t.Context(), statement)
		check(t, err)
	}
	check(t, db.Close())
}

// fill makes a file with some tasks.
func fill(t *testing.T, file string) {
	t.Helper()
	s := open(t, file)
	for i := range 50 {
		create(t, s, fmt.Sprintf("t%d", i), bytes.Repeat([]byte{byte(i)}, 3000))
	}
	check(t, s.Close())
}

// damage overwrites a page of a file with tasks.
func damage(t *testing.T, file string) {
	t.Helper()
	fill(t, file)
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	check(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, 3000), 4096)
	check(t, err)
	check(t, f.Close())
}

// A file that is damaged while it is open gives errors that say so.
func TestDamageWhileOpen(t *testing.T) {
	file := fresh(t)
	s := open(t, file)
	for i := range 100 { // more than the connections keep in memory
		create(t, s, fmt.Sprintf("t%d", i), bytes.Repeat([]byte{byte(i)}, 40000))
	}
	check(t, s.Exec(t.Context(), "PRAGMA wal_checkpoint(truncate)"))
	info, err := os.Stat(file)
	check(t, err)
	garbage := bytes.Repeat([]byte{0xa5}, int(info.Size())-8192)
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	check(t, err)
	_, err = f.WriteAt(garbage, 8192)
	check(t, err)
	check(t, f.Close())
	_, _, err = s.List(t.Context(), "alice", "", 100)
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v, want one that names the file and says that it is damaged", err)
	}
}

// A full disk fails the change, changes nothing, and is no lasting harm.
func TestFullDisk(t *testing.T) {
	s := open(t, fresh(t))
	r := create(t, s, "first", []byte("before"))
	check(t, s.SetPages(t.Context(), 40))
	big := bytes.Repeat([]byte{7}, 300<<10)
	_, err := s.Create(t.Context(), taskstore.Record{ID: "big", Created: start, Data: big}, taskstore.Quota{})
	full(t, "Create", err)
	full(t, "Append", s.Append(t.Context(), "first", "key", big))
	r.Data = big
	_, err = s.Save(t.Context(), r)
	full(t, "Save", err)

	if got, err := s.Load(t.Context(), "first"); err != nil || string(got.Data) != "before" || got.Version != r.Version {
		t.Errorf("loaded %.20q, %v; want what was saved before", got.Data, err)
	}
	if _, err := s.Load(t.Context(), "big"); !errors.Is(err, taskstore.ErrNotFound) {
		t.Errorf("the task that did not fit: %v", err)
	}
	// What is small enough fits, and what is deleted makes room.
	small := bytes.Repeat([]byte{8}, 60<<10)
	create(t, s, "small", small)
	check(t, s.Delete(t.Context(), "small"))
	create(t, s, "again", small)
	check(t, s.SetPages(t.Context(), 4000))
	if _, err := s.Save(t.Context(), r); err != nil {
		t.Errorf("after room was made: %v", err)
	}
}

func full(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("%s: error %v, want one that says that the disk is full", what, err)
	}
}

// Values up to the limit are kept, and larger ones leave the store as it is.
func TestLargest(t *testing.T) {
	s := open(t, fresh(t))
	most := bytes.Repeat([]byte("x"), store.MaxSize)
	r := create(t, s, "t", most)
	check(t, s.Append(t.Context(), "t", "key", most))
	if got, err := s.Load(t.Context(), "t"); err != nil || !bytes.Equal(got.Data, most) {
		t.Errorf("loaded %d bytes, %v", len(got.Data), err)
	}
	if got, err := s.Journal(t.Context(), "t"); err != nil || !bytes.Equal(got["key"], most) {
		t.Errorf("the journal has %d bytes, %v", len(got["key"]), err)
	}
	r.Data = append(most, 'x')
	_, err := s.Save(t.Context(), r)
	tooLarge(t, "Save", err)
	tooLarge(t, "Append", s.Append(t.Context(), "t", "more", r.Data))
	_, err = s.Create(t.Context(), taskstore.Record{ID: "u", Data: r.Data}, taskstore.Quota{})
	tooLarge(t, "Create", err)
}

func tooLarge(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, taskstore.ErrTooLarge) {
		t.Errorf("%s: error %v, want ErrTooLarge", what, err)
	}
}

// Several processes may open a new file at once.
func TestOpenTogether(t *testing.T) {
	file := fresh(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := store.Open(t.Context(), file)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// Tasks take the memory that all files of the process share. While queries use it up,
// changes wait, and nothing is lost.
func TestMemoryShared(t *testing.T) {
	s := open(t, fresh(t))
	r := create(t, s, "t", []byte("before"))
	r.Data = make([]byte, 1<<20)
	limit := memory(1) // nobody gets any
	waiting, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Save(waiting, r)
	memory(limit)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without memory: error %v, want one that says how long was waited", err)
	}
	if got, err := s.Load(t.Context(), "t"); err != nil || string(got.Data) != "before" {
		t.Errorf("loaded %.20q, %v; want what was saved before", got.Data, err)
	}
	if _, err := s.Save(t.Context(), r); err != nil {
		t.Errorf("with memory again: %v", err)
	}
}

// memory bounds what SQLite may take, and returns the bound of before.
func memory(bytes int64) (before int64) {
	tls := libc.NewTLS()
	defer tls.Close()
	return lib.Xsqlite3_hard_heap_limit64(tls, bytes)
}
