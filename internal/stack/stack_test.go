package stack

import (
	"sync"
	"testing"
)

// descend uses about 8 KiB of stack, as serving a request does.
//
//go:noinline
func descend(n int) int {
	var frame [64]int
	frame[n&63] = n
	if n == 0 {
		return frame[0]
	}
	return descend(n-1) + frame[n&63]
}

func TestGrow(t *testing.T) {
	done := make(chan int)
	go func() { // ends at once
		Grow()
		done <- descend(14)
	}()
	if got := <-done; got != 105 {
		t.Errorf("got %d, want the sum 105", got)
	}
}

func BenchmarkGoroutine(b *testing.B) {
	for name, first := range map[string]func(){"grown": Grow, "growing": func() {}} {
		b.Run(name, func(b *testing.B) {
			var wg sync.WaitGroup
			for b.Loop() {
				wg.Go(func() {
					first()
					descend(14)
				})
				wg.Wait()
			}
		})
	}
}
