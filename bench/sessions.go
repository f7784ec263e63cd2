package main

import (
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/internal/stats"
	"github.com/parley-mcp/parley/bench/payload"
)

// held is what it costs a server to hold many sessions or streams.
type held struct {
	// each is the resident memory that one of them adds, in bytes.
	each float64
	// alone and crowded are the CPU time of a small call without them and with
	// them.
	alone, crowded float64
	// reached is how long a change takes to reach all listeners, and fanOut the
	// CPU time of the server for it, both in milliseconds.
	reached, fanOut stats.Spread
	lacks           string
}

const sessionsName, listenersName = "idle sessions", "open listen streams"

// openers is how many connections are opened concurrently.
const openers = 16

// measureSessions opens many sessions, which then stay idle.
func measureSessions(r *results) error {
	if !r.only.MatchString(sessionsName) {
		return nil
	}
	for _, s := range r.subjects {
		log.Printf("%d %s: %s", r.scale, sessionsName, s.label)
		h, err := r.holdSessions(s)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", sessionsName, s.label, err)
		}
		r.sessions = append(r.sessions, h)
	}
	return nil
}

func (r *results) holdSessions(s *subject) (*held, error) {
	if why := s.lacks[sessions]; why != "" {
		return &held{lacks: why}, nil
	}
	p, err := s.startHTTP(payload.Session, payload.BaseTools)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	h := &held{}
	if h.alone, err = p.smallCall(r.time); err != nil {
		return nil, p.Explain(err)
	}
	before, err := p.settled()
	if err != nil {
		return nil, err
	}
	err = inParallel(r.scale, func(int) error {
		c, err := p.dial()
		if err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		return nil, p.Explain(err)
	}
	after, err := p.settled()
	if err != nil {
		return nil, err
	}
	h.each = float64(after-before) / float64(r.scale)
	h.crowded, err = p.smallCall(r.time)
	return h, p.Explain(err)
}

// smallCall returns the microseconds that the server takes for a small call
// over one connection, warmed up. The first calls also trigger what the server
// initializes once.
func (p *process) smallCall(d time.Duration) (float64, error) {
	c, err := p.dial()
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	w := &workload{era: p.era}
	ops := []load.Op{echo(payload.Small())(w, c)}
	if _, err := load.Loop(d, ops); err != nil {
		return 0, err
	}
	before, err := p.CPU()
	if err != nil {
		return 0, err
	}
	run, err := load.Loop(d, ops)
	if err != nil {
		return 0, err
	}
	after, err := p.CPU()
	return micros(after-before) / float64(run.Ops), err
}

// settled returns the resident memory once it has stopped growing: after one
// second in which it changed by at most one percent, or after ten seconds.
func (p *process) settled() (int64, error) { return settled(p) }

func settled(of meter) (int64, error) {
	const patience, calm = 100, 10
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var last int64
	for quiet, i := 0, 0; quiet < calm && i < patience; i++ {
		<-tick.C
		m, err := of.Memory()
		if err != nil {
			return 0, err
		}
		if quiet++; m.Resident > last+last/100 || m.Resident < last-last/100 {
			quiet, last = 0, m.Resident
		}
	}
	return last, nil
}

// inParallel calls do n times, some of them concurrently, and returns the first
// error.
func inParallel(n int, do func(i int) error) error {
	work := make(chan int)
	var all sync.WaitGroup
	var once sync.Once
	var first error
	for range openers {
		all.Go(func() { // ends when work is closed
			for i := range work {
				if err := do(i); err != nil {
					once.Do(func() { first = fmt.Errorf("number %d: %w", i, err) })
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	all.Wait()
	return first
}
