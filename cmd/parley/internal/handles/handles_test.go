package handles_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/handles"
	"github.com/parley-mcp/parley/mcp"
)

var began = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func handle(id string, age time.Duration, ttl time.Duration) *handles.Handle {
	h := &handles.Handle{ID: id, Tool: "t", Begun: began.Add(-age), Server: handles.Server{URL: "http://a.example/mcp"}}
	if ttl > 0 {
		h.Expires = h.Begun.Add(ttl)
	}
	return h
}

func ids(t *testing.T, f handles.Folder) (list []string) {
	t.Helper()
	all, err := f.All(began)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range all {
		list = append(list, h.ID)
	}
	return list
}

// What is kept is there for the next process, newest first, until its time is over.
func TestHandlesAreKept(t *testing.T) {
	f := handles.Folder(filepath.Join(t.TempDir(), "state", "tasks"))
	if got := ids(t, f); got != nil {
		t.Errorf("before: %v", got)
	}
	for _, h := range []*handles.Handle{
		handle("old", 2*time.Hour, time.Hour), handle("b", time.Hour, 24*time.Hour), handle("a", time.Minute, 0), handle("ancient", 31*24*time.Hour, 0),
	} {
		if err := f.Put(h); err != nil {
			t.Fatal(err)
		}
	}
	changed := handle("b", time.Hour, 24*time.Hour)
	changed.Status = mcp.TaskCompleted
	if err := f.Put(changed); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(f), "note.json"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, f); len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("kept %v", got)
	}
	files, _ := os.ReadDir(string(f))
	if len(files) != 3 {
		t.Errorf("%d files, want those of a, b and the note", len(files))
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %v", file.Name(), info.Mode(), err)
		}
	}
	if err := errors.Join(f.Remove(changed), f.Remove(changed)); err != nil {
		t.Error(err)
	}
	if got := ids(t, f); len(got) != 1 {
		t.Errorf("after removal: %v", got)
	}
}

// A task is found by the beginning of its ID, if it is the only one.
func TestFindByPrefix(t *testing.T) {
	other := handle("abc-1", 0, 0)
	other.Server.URL = "http://b.example/mcp"
	all := []*handles.Handle{handle("abc-1", 0, 0), handle("abc-12", 0, 0), handle("xyz", 0, 0), other}
	here := &all[0].Server
	for _, tt := range []struct {
		prefix string
		server *handles.Server
		want   *handles.Handle
		among  int
	}{
		{"x", nil, all[2], 0},
		{"abc-1", here, all[0], 0},
		{"abc-1", nil, nil, 2},
		{"abc", here, nil, 2},
		{"abc-12", nil, all[1], 0},
		{"q", nil, nil, 0},
		{"", here, nil, 3},
	} {
		got, err := handles.Find(all, tt.prefix, tt.server)
		var none *handles.NotFoundError
		if got != tt.want || (got == nil) != errors.As(err, &none) || none != nil && len(none.Among) != tt.among {
			t.Errorf("%q: %+v, %v", tt.prefix, got, err)
		}
	}
}
