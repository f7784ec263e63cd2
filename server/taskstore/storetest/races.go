package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/server/taskstore"
)

// rivals is how many do the same at once.
const rivals = 8

// together runs f at once for each of the rivals, and returns their errors.
func together(f func(i int) error) [rivals]error {
	var errs [rivals]error
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range rivals {
		all.Go(func() {
			<-begin
			errs[i] = f(i)
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// oneWins checks that one of the rivals succeeded and that the others got an
// error. It returns the winner.
func (s *suite) oneWins(errs [rivals]error, want error) int {
	s.Helper()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			s.Fatalf("both %d and %d succeeded", winner, i)
		default:
			s.fails(fmt.Sprintf("rival %d", i), err, want)
		}
	}
	if winner < 0 {
		s.Fatal("nobody succeeded")
	}
	return winner
}

func (s *suite) oneCreates() {
	for round := range 5 {
		r := taskstore.Record{ID: fmt.Sprintf("t%d", round), Created: start}
		var versions [rivals]uint64
		r.Owner = strconv.Itoa(s.oneWins(together(func(i int) (err error) {
			mine := r
			mine.Owner = strconv.Itoa(i)
			versions[i], err = s.Create(s.ctx(), mine, unbounded)
			return err
		}), taskstore.ErrExists))
		for _, r.Version = range versions {
			if r.Version != 0 {
				break
			}
		}
		s.holds(r)
	}
}

func (s *suite) oneSaves() {
	r := s.create(taskstore.Record{ID: "t", Created: start})
	for range 5 {
		var versions [rivals]uint64
		winner := s.oneWins(together(func(i int) (err error) {
			mine := r
			mine.Data = []byte(strconv.Itoa(i))
			versions[i], err = s.Save(s.ctx(), mine)
			return err
		}), taskstore.ErrConflict)
		r.Version, r.Data = versions[winner], []byte(strconv.Itoa(winner))
		s.holds(r)
	}
}

// Many count in one task, each by loading, adding and saving until that succeeds.
func (s *suite) nothingIsLost() {
	const each = 10
	s.create(taskstore.Record{ID: "t", Created: start, Data: []byte("0")})
	for i, err := range together(func(int) error { return count(s.ctx(), s, "t", each) }) {
		if err != nil {
			s.Errorf("rival %d: %v", i, err)
		}
	}
	if r, err := s.Load(s.ctx(), "t"); err != nil || string(r.Data) != strconv.Itoa(rivals*each) {
		s.Errorf("%d rivals counted %d times each and got %s, %v", rivals, each, r.Data, err)
	}
}

func count(ctx context.Context, s taskstore.Store, id string, times int) error {
	for times > 0 {
		r, err := s.Load(ctx, id)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(r.Data))
		if err != nil {
			return err
		}
		r.Data = []byte(strconv.Itoa(n + 1))
		_, err = s.Save(ctx, r)
		switch {
		case err == nil:
			times--
		case !errors.Is(err, taskstore.ErrConflict):
			return err
		}
	}
	return nil
}

func (s *suite) oneAppends() {
	s.create(taskstore.Record{ID: "t", Created: start})
	want := map[string][]byte{}
	for round := range 5 {
		key := strconv.Itoa(round)
		winner := s.oneWins(together(func(i int) error { return s.Append(s.ctx(), "t", key, []byte(strconv.Itoa(i))) }), taskstore.ErrExists)
		want[key] = []byte(strconv.Itoa(winner))
	}
	s.entries("t", want)
}

func (s *suite) quotasUnderLoad() {
	q := taskstore.Quota{PerOwner: 3, Total: 100}
	created := 0
	for i, err := range together(func(i int) error {
		_, err := s.Create(s.ctx(), taskstore.Record{ID: fmt.Sprintf("t%d", i), Owner: "alice", Created: start}, q)
		return err
	}) {
		if err == nil {
			created++
		} else {
			s.fails(fmt.Sprintf("rival %d", i), err, taskstore.ErrQuota)
		}
	}
	if got := s.all("alice", rivals); created != q.PerOwner || len(got) != created {
		s.Errorf("%d were created, and there are %q; the quota is %d", created, got, q.PerOwner)
	}
}

// A method whose context has ended fails with that, and the Store goes on.
func (s *suite) endedContexts() {
	r := s.create(taskstore.Record{ID: "t", Owner: "alice", Created: start, Data: []byte("before")})
	ended, cancel := context.WithCancel(s.ctx())
	cancel()
	for name, f := range map[string]func() error{
		"Create": func() error {
			_, err := s.Create(ended, taskstore.Record{ID: "new", Created: start}, unbounded)
			return err
		},
		"Load":      func() error { _, err := s.Load(ended, "t"); return err },
		"Save":      func() error { _, err := s.Save(ended, r); return err },
		"Delete":    func() error { return s.Delete(ended, "t") },
		"List":      func() error { _, _, err := s.List(ended, "alice", "", 1); return err },
		"Append":    func() error { return s.Append(ended, "t", "key", nil) },
		"Journal":   func() error { _, err := s.Journal(ended, "t"); return err },
		"Abandoned": func() error { _, err := s.Abandoned(ended, time.Now(), 1); return err },
		"Sweep":     func() error { return s.Sweep(ended, time.Now()) },
	} {
		s.fails(name+" with a context that has ended", f(), context.Canceled)
	}
	s.holds(r)
	s.entries("t", nil)
}
