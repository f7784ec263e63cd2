// Package taskstore keeps the tasks of a server: what their requests were, how far
// they have come, and what they learnt on the way. A Store that outlives its process
// lets tasks go on after a restart; one that several processes share lets any of
// them go on with a task.
//
//	srv := server.New(info, &server.Options{Tasks: server.TaskOptions{Store: store}})
//
// NewMemory returns a Store for one process. Package storetest holds the test that
// every Store has to pass. The example of this package is whole: two servers that share
// a Store.
package taskstore

import (
	"context"
	"errors"
	"time"

	"github.com/parley-mcp/parley/internal/taskcursor"
)

// Errors of stores. A Store may wrap them.
var (
	// ErrNotFound says that there is no such task, or no longer.
	ErrNotFound = errors.New("no such task")
	// ErrExists says that there already is a task with the ID, or an entry of the
	// journal with the key.
	ErrExists = errors.New("exists already")
	// ErrConflict says that somebody else has saved the task in the meantime.
	ErrConflict = errors.New("the task has changed in the meantime")
	// ErrQuota says that the owner, or all owners together, have too many tasks.
	ErrQuota = errors.New("too many tasks")
	// ErrTooLarge says that a task or an entry of its journal is larger than the
	// store keeps.
	ErrTooLarge = errors.New("too large for the store of tasks")
	// ErrCursor says that a cursor does not come from this store.
	ErrCursor = taskcursor.ErrCursor
)

// MinSize is how many bytes of Data, and how many of one value of the journal,
// every Store keeps at least; some refuse more with ErrTooLarge.
const MinSize = 512 << 10

// Record is one task as a store keeps it. Times are exact to the millisecond.
type Record struct {
	// ID is unique, used once, and 1 to 64 characters of A-Z a-z 0-9 - _.
	ID string
	// Owner is whom the task belongs to: any text, "" for nobody in particular. It
	// does not change.
	Owner string
	// Version is set by the store and changes with each Save.
	Version uint64
	// Created is when the task was made. It does not change.
	Created time.Time
	// Expires is when the task may be deleted; zero means never.
	Expires time.Time
	// Lease is until when the process that works on the task promises to do so; zero
	// while nobody has to work on it.
	Lease time.Time
	// Data is everything else. Only the server reads it.
	Data []byte
}

// Expired reports whether a task may be deleted at a time.
func (r *Record) Expired(now time.Time) bool {
	return !r.Expires.IsZero() && !now.Before(r.Expires)
}

// Quota bounds how many tasks a store keeps. 0 means no bound.
type Quota struct{ PerOwner, Total int }

// Store keeps tasks. Its methods may be called concurrently, and by several
// processes if they share it, whose clocks should agree to a second. They neither
// change nor keep what they are given, and nobody changes what they return. Each
// change is durable when its method has returned without an error: it survives the
// end of the process at any later moment, and all processes see it. A change that
// ended with another error than those above, such as that of its context, may have
// happened.
//
// A task that has expired is treated as if it did not exist by all methods, whether
// it has been deleted yet or not; only its ID cannot be used again. IDs that are asked
// for come from clients and may be any text.
//
// Nothing needs to look at all tasks. A store of keys and values with
// compare-and-set, and a way to list the keys below a prefix, is enough: an index of
// each owner's tasks, an index of those with a Lease, and a key for each entry of a
// journal. Such an index may lag behind the tasks as its methods say.
type Store interface {
	// Create adds a task and returns its version. The error is ErrExists if there is
	// one with the ID, ErrQuota or ErrTooLarge. Where several processes create tasks
	// at once, a quota may be exceeded by a few.
	Create(ctx context.Context, r Record, q Quota) (version uint64, err error)
	// Load returns a task. The error is ErrNotFound if there is none.
	Load(ctx context.Context, id string) (Record, error)
	// Save replaces Expires, Lease and Data of a task whose version is still
	// r.Version, and returns the new version. Otherwise the error is ErrConflict,
	// ErrNotFound or ErrTooLarge, and nothing has changed. Of several that save the
	// same version, one succeeds.
	Save(ctx context.Context, r Record) (version uint64, err error)
	// Delete removes a task with its journal. One that does not exist is no error.
	Delete(ctx context.Context, id string) error
	// List returns up to limit (at least 1) tasks of an owner, newest first, and a cursor for
	// those that follow, "" after the last. The cursor "" begins. A cursor stays
	// valid when tasks are added, saved or deleted, also the one it came with; pages
	// neither repeat a task nor leave one out that was there all the time. An invalid
	// cursor is ErrCursor.
	List(ctx context.Context, owner, cursor string, limit int) (page []Record, next string, err error)
	// Append adds an entry to the journal of a task, under a key of any text. The
	// error is ErrExists if there is one with the key, which stays as it is,
	// ErrNotFound if there is no such task, or ErrTooLarge. Of several that append
	// under the same key, one succeeds. The version of the task does not change.
	Append(ctx context.Context, id, key string, value []byte) error
	// Journal returns all entries of a task by their keys; none for one that does
	// not exist.
	Journal(ctx context.Context, id string) (map[string][]byte, error)
	// Abandoned returns up to limit IDs of tasks whose Lease is not zero and before
	// a time, longest abandoned first: nobody works on them any more. It leaves none
	// out, but may name one whose Lease was renewed meanwhile. Whoever wants a task
	// loads it and saves it with a Lease of its own.
	Abandoned(ctx context.Context, before time.Time, limit int) ([]string, error)
	// Sweep deletes what has expired by now. A store whose entries expire by
	// themselves does nothing.
	Sweep(ctx context.Context, now time.Time) error
}
