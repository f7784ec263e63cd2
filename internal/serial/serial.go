// Package serial runs functions one after the other, on a goroutine other than
// the one that adds them.
package serial

import "sync"

// Queue runs the functions added to it in order. Its goroutine exists only
// while there is work. The zero value is ready; it is safe for concurrent use.
type Queue struct {
	// Limit is how many functions may wait before Add blocks. 0 means 256.
	Limit int

	mu      sync.Mutex
	room    *sync.Cond
	waiting []func()
	running bool
	busy    sync.WaitGroup
}

// Add adds f. It blocks while Limit functions are waiting.
func (q *Queue) Add(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.room == nil {
		q.room = sync.NewCond(&q.mu)
	}
	for q.full() {
		q.room.Wait()
	}
	q.add(f)
}

// TryAdd is Add, but when there is no room it reports false and does not take
// f.
func (q *Queue) TryAdd(f func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.full() {
		return false
	}
	q.add(f)
	return true
}

func (q *Queue) full() bool {
	limit := q.Limit
	if limit <= 0 {
		limit = 256
	}
	return len(q.waiting) >= limit
}

func (q *Queue) add(f func()) {
	q.waiting = append(q.waiting, f)
	if !q.running {
		q.running = true
		q.busy.Add(1)
		go q.run() // ends when nothing waits; Wait waits for it
	}
}

func (q *Queue) run() {
	defer q.busy.Done()
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.running = false
			q.mu.Unlock()
			return
		}
		f := q.waiting[0]
		q.waiting = q.waiting[1:]
		if q.room != nil { // a goroutine may be waiting in Add
			q.room.Signal()
		}
		q.mu.Unlock()
		f()
	}
}

// Wait returns when everything that was added has run. Nothing may be added in
// the meantime.
func (q *Queue) Wait() { q.busy.Wait() }
