// Package storetest tests implementations of taskstore.Store.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) taskstore.Store { return open(t) })
//	}
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/parley-mcp/parley/server/taskstore"
)

// Run tests that a Store keeps what its documentation says. open returns a new,
// empty one, and may use t.Cleanup to close it. It is called for each of the tests.
// A Store that outlives its process is to be tested with Reopen, too.
func Run(t *testing.T, open func(t *testing.T) taskstore.Store) {
	t.Helper()
	for name, test := range map[string]func(*suite){
		"create and load":       (*suite).createAndLoad,
		"unknown IDs":           (*suite).unknownIDs,
		"save":                  (*suite).save,
		"conflicts":             (*suite).conflicts,
		"delete":                (*suite).remove,
		"owners and texts":      (*suite).owners,
		"sizes":                 (*suite).sizes,
		"ownership of bytes":    (*suite).ownership,
		"expiry":                (*suite).expiry,
		"sweep":                 (*suite).sweep,
		"quotas":                (*suite).quotas,
		"lists":                 (*suite).lists,
		"cursors under change":  (*suite).cursorsUnderChange,
		"invalid cursors":       (*suite).invalidCursors,
		"journal":               (*suite).journal,
		"abandoned":             (*suite).abandoned,
		"one creates":           (*suite).oneCreates,
		"one saves":             (*suite).oneSaves,
		"nothing saved is lost": (*suite).nothingIsLost,
		"one appends":           (*suite).oneAppends,
		"quotas under load":     (*suite).quotasUnderLoad,
		"ended contexts":        (*suite).endedContexts,
	} {
		t.Run(name, func(t *testing.T) { test(&suite{T: t, Store: open(t)}) })
	}
	t.Run("model", func(t *testing.T) {
		for seed := range byte(8) {
			script := make([]byte, 1200)
			_, _ = rand.NewChaCha8([32]byte{seed}).Read(script) // never fails
			t.Run(fmt.Sprint(seed), func(t *testing.T) { Model(t, open(t), script) })
		}
	})
}

// suite is a test with the Store that it tests.
type suite struct {
	*testing.T
	taskstore.Store
}

// Deadline, Error and the like are the test's; the Store has methods of other names.

func (s *suite) ctx() context.Context { return s.Context() }

// unbounded is a quota that nothing exceeds.
var unbounded taskstore.Quota

// start is a time at which tasks were created, exact to the millisecond.
var start = time.Date(2026, 7, 28, 12, 0, 0, 123e6, time.UTC)

// create adds a task, which must succeed, and returns it with its version.
func (s *suite) create(r taskstore.Record) taskstore.Record {
	s.Helper()
	version, err := s.Create(s.ctx(), r, unbounded)
	if err != nil {
		s.Fatalf("Create %s: %v", r.ID, err)
	}
	r.Version = version
	return r
}

// saved saves a task, which must succeed, and returns it with its new version.
func (s *suite) saved(r taskstore.Record) taskstore.Record {
	s.Helper()
	version, err := s.Save(s.ctx(), r)
	if err != nil {
		s.Fatalf("Save %s: %v", r.ID, err)
	}
	if version == r.Version {
		s.Fatalf("Save %s: the version is still %d", r.ID, version)
	}
	r.Version = version
	return r
}

// holds checks what Load returns.
func (s *suite) holds(want taskstore.Record) {
	s.Helper()
	got, err := s.Load(s.ctx(), want.ID)
	if err != nil {
		s.Fatalf("Load %s: %v", want.ID, err)
	}
	if !same(got, want) {
		s.Errorf("Load returned\n\t%+v, want\n\t%+v", got, want)
	}
}

// same compares records; empty Data equals none.
func same(a, b taskstore.Record) bool {
	return a.ID == b.ID && a.Owner == b.Owner && a.Version == b.Version && a.Created.Equal(b.Created) &&
		a.Expires.Equal(b.Expires) && a.Lease.Equal(b.Lease) && slices.Equal(a.Data, b.Data)
}

// fails checks the error of a call.
func (s *suite) fails(what string, err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Errorf("%s: error %v, want one that is %q", what, err, want)
	}
}

// all reads all pages of an owner's tasks, and returns the IDs.
func (s *suite) all(owner string, limit int) []string {
	s.Helper()
	var ids []string
	for cursor := ""; ; {
		page, next, err := s.List(s.ctx(), owner, cursor, limit)
		if err != nil {
			s.Fatalf("List of %q after %q: %v", owner, cursor, err)
		}
		if len(page) > limit {
			s.Fatalf("List returned %d tasks, limit %d", len(page), limit)
		}
		ids = append(ids, idsOf(page)...)
		if next == "" {
			return ids
		}
		if len(page) == 0 || next == cursor {
			s.Fatalf("List returned %d tasks and the cursor %q after %q: it does not come to an end", len(page), next, cursor)
		}
		cursor = next
	}
}

func idsOf(page []taskstore.Record) []string {
	ids := []string{}
	for _, r := range page {
		ids = append(ids, r.ID)
	}
	return ids
}

// entries checks the journal of a task.
func (s *suite) entries(id string, want map[string][]byte) {
	s.Helper()
	got, err := s.Journal(s.ctx(), id)
	if err != nil {
		s.Fatalf("Journal of %s: %v", id, err)
	}
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		s.Errorf("journal of %s is\n\t%q, want\n\t%q", id, got, want)
	}
}
