package stream

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// newLead returns a leadership, and counts how often it changed hands.
func newLead() (l *leadership, taken *atomic.Int32) {
	taken = new(atomic.Int32)
	return &leadership{promote: func() { taken.Add(1) }}, taken
}

func TestLeadIsTakenFromOneWhoIsAwayForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, taken := newLead()
		for range 100 { // so that the timer is somewhere in the middle
			turn, _ := l.begin()
			<-time.NewTimer(70 * time.Microsecond).C
			if !l.end(turn, false) {
				t.Fatal("the leader was replaced after 70 µs")
			}
		}
		turn, _ := l.begin()
		<-time.NewTimer(patience - time.Nanosecond).C
		synctest.Wait()
		if taken.Load() != 0 {
			t.Error("the leader was replaced too early")
		}
		<-time.NewTimer(time.Nanosecond).C
		synctest.Wait()
		if n := taken.Load(); n != 1 {
			t.Errorf("the leader was replaced %d times, want once", n)
		}
		if l.end(turn, false) {
			t.Error("the former leader still counts as the leader")
		}
	})
}

// How long answers are kept back counts from the first of them.
func TestLeadIsTakenWhenAnswersWaitForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, taken := newLead()
		turn, _ := l.begin()
		l.end(turn, false)
		<-time.NewTimer(patience - 1).C // the timer is about to fire, and finds no turn open
		turn, _ = l.begin()
		l.end(turn, true)
		<-time.NewTimer(gathering + 1).C
		if kept, due := l.keeping(); !kept || !due {
			t.Errorf("keeping = %v, %v, want answers that are due", kept, due)
		}
		l.begin()
		<-time.NewTimer(patience - gathering - 1).C
		synctest.Wait()
		if n := taken.Load(); n != 1 {
			t.Errorf("the leader was replaced %d times, want once", n)
		}
	})
}

func TestLeadOfAnIdleConnectionHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLead()
		for range 3 {
			turn, _ := l.begin()
			if !l.armed {
				t.Error("a turn has no timer")
			}
			l.end(turn, false)
			<-time.NewTimer(patience).C
			synctest.Wait()
			if l.armed {
				t.Error("the timer runs while nothing is served")
			}
		}
	})
}

func TestLeadLearns(t *testing.T) {
	l, _ := newLead()
	for _, tt := range []struct {
		took time.Duration
		wary int
	}{
		{short, 0},
		{short + 1, 1},
		{short + 1, 1},
		{short, 0},
		{patience, wariness},
		{short + 1, wariness},
		{short, wariness - 1},
	} {
		if l.took(tt.took); l.wary != tt.wary || l.trusts() != (tt.wary == 0) {
			t.Errorf("after %v, %d requests get goroutines, want %d", tt.took, l.wary, tt.wary)
		}
	}
}
