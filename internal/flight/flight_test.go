package flight

import (
	"errors"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[int]
		release, runs, failure := make(chan struct{}), 0, errors.New("failed")
		work := func() (int, error) {
			runs++
			<-release
			return runs, failure
		}
		begun := g.Begin("a", work)
		results := make(chan int, 2)
		for range 2 {
			go func() {
				n, err := g.Do("a", work)
				if !errors.Is(err, failure) {
					t.Errorf("error %v", err)
				}
				results <- n
			}()
		}
		if n, err := g.Do("b", func() (int, error) { return 7, nil }); n != 7 || err != nil {
			t.Errorf("another key: %d, %v", n, err)
		}
		synctest.Wait()
		select {
		case <-begun.Done():
			t.Error("done before the work was")
		default:
		}
		close(release)
		if a, b := <-results, <-results; a != 1 || b != 1 || runs != 1 {
			t.Errorf("the work was done %d times, with %d and %d", runs, a, b)
		}
		if n, _ := g.Do("a", work); n != 2 {
			t.Errorf("what is over was not done again: %d", n)
		}
	})
}

// Work that panics does not leave those who wait for it waiting, nor its key taken.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[int]
		release, waited := make(chan struct{}), make(chan error)
		panicked := make(chan any)
		go func() {
			defer func() { panicked <- recover() }()
			_, _ = g.Do("a", func() (int, error) { <-release; panic("no") })
		}()
		synctest.Wait()
		go func() {
			_, err := g.Do("a", func() (int, error) { return 0, nil })
			waited <- err
		}()
		synctest.Wait()
		close(release)
		if p := <-panicked; p != "no" {
			t.Errorf("recovered %v", p)
		}
		if err := <-waited; !errors.Is(err, errPanicked) {
			t.Errorf("who waited got %v", err)
		}
		if n, err := g.Do("a", func() (int, error) { return 3, nil }); n != 3 || err != nil {
			t.Errorf("afterwards: %d, %v", n, err)
		}
	})
}
