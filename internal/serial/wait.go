package serial

import (
	"sync"
	"time"
)

// WaitFor waits for a group, but not longer than d. It reports whether the
// group was done. The goroutine it starts ends with the group.
func WaitFor(group *sync.WaitGroup, d time.Duration) bool {
	done := make(chan struct{})
	go func() { // ends with the group
		group.Wait()
		close(done)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
