package httpserve

import (
	"errors"
	"net/http/httptest"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// response remembers whether its deadline was set.
type response struct {
	*httptest.ResponseRecorder
	ended atomic.Bool
}

func (w *response) SetWriteDeadline(time.Time) error {
	w.ended.Store(true)
	return nil
}

// stage is a row of writes, begun one second after the other.
func stage(w *Watch, n int) ([]*watched, []*response) {
	var all []*watched
	var writers []*response
	for i := range n {
		if i > 0 {
			<-time.NewTimer(time.Second).C
		}
		of, writer := new(watched), &response{ResponseRecorder: httptest.NewRecorder()}
		w.begin(of, writer)
		all, writers = append(all, of), append(writers, writer)
	}
	return all, writers
}

func ended(writers []*response) (which []int) {
	for i, w := range writers {
		if w.ended.Load() {
			which = append(which, i)
		}
	}
	return which
}

// Each is ended when its own time is over, not before, and not when it is done.
func TestWatchEndsWhatIsLate(t *testing.T) {
	for _, done := range [][]int{nil, {0}, {1}, {3}, {1, 2}, {0, 1, 2, 3}} {
		synctest.Test(t, func(t *testing.T) {
			w := WatchWrites(10 * time.Second)
			all, writers := stage(w, 4) // the first is due in 7 seconds
			for _, i := range done {
				if err := w.done(all[i], nil); err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			}
			<-time.NewTimer(7*time.Second - 1).C
			var want []int
			for i := range all {
				synctest.Wait()
				if got := ended(writers); !slices.Equal(got, want) {
					t.Errorf("%v done: %v were ended just before write %d is due, want %v", done, got, i, want)
				}
				if !slices.Contains(done, i) {
					want = append(want, i)
				}
				<-time.NewTimer(time.Second).C
			}
			synctest.Wait()
			if got := ended(writers); !slices.Equal(got, want) {
				t.Errorf("%v done: %v were ended, want %v", done, got, want)
			}
			if w.timed || w.oldest != nil || w.newest != nil {
				t.Error("there is something left to watch")
			}
		})
	}
}

// What has ended late has failed, even when all of it came through: the deadline
// is set. What failed for a reason of its own says that.
func TestWatchFailsWhatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := WatchWrites(time.Second)
		all, _ := stage(w, 2)
		<-time.NewTimer(time.Minute).C
		own := errors.New("its own")
		if err := w.done(all[0], nil); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want os.ErrDeadlineExceeded", err)
		}
		if err := w.done(all[1], own); !errors.Is(err, own) {
			t.Errorf("got %v, want its own error", err)
		}
		again, writers := stage(w, 1)
		<-time.NewTimer(time.Second).C
		synctest.Wait()
		if len(ended(writers)) != 1 {
			t.Error("after a pause nothing is watched")
		}
		_ = w.done(again[0], nil)
	})
}

// A response writer that panics is not touched any more when its handler is
// gone.
func TestWatchForgetsWhatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, writer := WatchWrites(time.Second), &response{ResponseRecorder: httptest.NewRecorder()}
		func() {
			defer func() { _ = recover() }()
			_ = w.over(new(watched), writer, func() error { panic("gone") })
		}()
		<-time.NewTimer(time.Minute).C
		synctest.Wait()
		if writer.ended.Load() || w.oldest != nil {
			t.Error("it is still watched")
		}
	})
}

// held is a response whose deadline cannot be set before it is let go; then it
// panics.
type held struct {
	*httptest.ResponseRecorder
	let chan struct{}
}

func (w *held) SetWriteDeadline(time.Time) error {
	<-w.let
	panic("broken writer")
}

// A response writer that hangs, or panics, does that to its own request only.
func TestWatchSuffersFromNoWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := WatchWrites(time.Second)
		bad := &held{httptest.NewRecorder(), make(chan struct{})}
		failed := make(chan any)
		go func() { // ends when bad is let go
			defer func() { failed <- recover() }()
			_ = w.over(new(watched), bad, func() error {
				<-time.NewTimer(time.Minute).C
				return nil
			})
		}()
		<-time.NewTimer(10 * time.Second).C
		if err := w.over(new(watched), httptest.NewRecorder(), func() error { return nil }); err != nil {
			t.Errorf("another write failed: %v", err)
		}
		close(bad.let)
		if p := <-failed; p != "broken writer" {
			t.Errorf("its own request got %v, want the panic", p)
		}
	})
}
