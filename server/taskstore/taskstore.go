// Package taskstore keeps the tasks of a server: what their requests were, how far
// they have come, and what they learnt on the way. A Store that outlives its process
// lets tasks go on after a restart; one that several processes share lets any of
// them go on with a task.
//
// NewMemory returns a store for one process. Package storetest holds the test that
// every Store has to pass.
package taskstore

import (
	"context"
	"errors"
	"time"
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
	// ErrCursor says that a cursor does not come from this store.
	ErrCursor = errors.New("the cursor is not valid")
)

// Record is one task as a store keeps it.
type Record struct {
	// ID is unique and at most 64 characters of A-Z a-z 0-9 - _.
	ID string
	// Owner is whom the task belongs to: any text, "" for nobody in particular.
	Owner string
	// Version is set by the store and changes with each Save.
	Version uint64
	// Created is when the task was made; it does not change.
	Created time.Time
	// Expires is when the task may be deleted; zero means never.
	Expires time.Time
	// Lease is until when the process that works on the task promises to do so; zero
	// while nobody has to work on it. Times are exact to the millisecond.
	Lease time.Time
	// Data is everything else. Only the server reads it.
	Data []byte
}

// Quota bounds how many tasks a store keeps. 0 means no bound.
type Quota struct{ PerOwner, Total int }

// Store keeps tasks. Its methods may be called concurrently, by several processes
// if it is shared by them. They must not change what they are given, and nobody
// changes what they return. Each change is durable when its method has returned: it
// survives the end of the process at any later moment, and is seen by all processes.
//
// Only Load and Save of single tasks by ID, List of one owner's tasks, and Abandoned
// read; nothing needs to look at all tasks, so that a key-value store with
// compare-and-set is enough.
type Store interface {
	// Create adds a task and returns its version. The error is ErrExists or
	// ErrQuota if it cannot be added. Tasks count until they are deleted. Where
	// several processes create tasks at once, a quota may be exceeded by a few.
	Create(ctx context.Context, r Record, q Quota) (version uint64, err error)
	// Load returns a task; ErrNotFound if there is none or it has expired.
	Load(ctx context.Context, id string) (Record, error)
	// Save replaces a task whose version is still r.Version, and returns the new
	// version; otherwise the error is ErrConflict, or ErrNotFound.
	Save(ctx context.Context, r Record) (version uint64, err error)
	// Delete removes a task with its journal. One that does not exist is no error.
	Delete(ctx context.Context, id string) error
	// List returns up to limit tasks of an owner that have not expired, newest
	// first, and a cursor for those that follow, "" after the last. The cursor ""
	// begins. A cursor stays valid when tasks are added or deleted. Anything else
	// is ErrCursor.
	List(ctx context.Context, owner, cursor string, limit int) (page []Record, next string, err error)
	// Append adds an entry to the journal of a task. The error is ErrExists if
	// there is one with the key, and ErrNotFound if there is no such task.
	Append(ctx context.Context, id, key string, value []byte) error
	// Journal returns all entries of a task by their keys; none for one that does
	// not exist.
	Journal(ctx context.Context, id string) (map[string][]byte, error)
	// Abandoned returns up to limit IDs of tasks whose Lease is not zero and before
	// a time: nobody works on them any more.
	Abandoned(ctx context.Context, before time.Time, limit int) ([]string, error)
	// Sweep deletes what has expired by now. A store whose entries expire by
	// themselves does nothing.
	Sweep(ctx context.Context, now time.Time) error
}
