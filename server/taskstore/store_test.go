package taskstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/server/taskstore"
	"github.com/parley-mcp/parley/server/taskstore/storetest"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) taskstore.Store { return taskstore.NewMemory() })
}

// Whatever is done to a store, in whatever order, it returns what a map does.
func FuzzMemory(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 1, 3, 0, 0, 10, 0, 0, 1})
	f.Fuzz(func(t *testing.T, script []byte) { storetest.Model(t, taskstore.NewMemory(), script) })
}

func ExampleStore() {
	ctx := context.Background()
	store := taskstore.NewMemory()
	task := taskstore.Record{ID: "t1", Owner: "alice", Created: time.Now(), Data: []byte("working")}
	var err error
	if task.Version, err = store.Create(ctx, task, taskstore.Quota{PerOwner: 100}); err != nil {
		fmt.Println(err)
		return
	}

	mine, theirs := task, task
	mine.Data, theirs.Data = []byte("completed"), []byte("cancelled")
	_, first := store.Save(ctx, mine)
	_, second := store.Save(ctx, theirs)
	now, _ := store.Load(ctx, "t1")
	fmt.Println(first, errors.Is(second, taskstore.ErrConflict), string(now.Data))
	// Output: <nil> true completed
}
