package store_test

import (
	"path/filepath"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/store"
	"github.com/parley-mcp/parley/server/taskstore"
	"github.com/parley-mcp/parley/server/taskstore/storetest"
)

// open opens a file with tasks for a test.
func open(t testing.TB, file string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "tasks.db") }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) taskstore.Store { return open(t, fresh(t)) })
}

func TestReopen(t *testing.T) {
	files := map[string]string{}
	storetest.Reopen(t, func(t *testing.T) (taskstore.Store, func() error) {
		if files[t.Name()] == "" {
			files[t.Name()] = fresh(t)
		}
		s := open(t, files[t.Name()])
		return s, s.Close
	})
}
