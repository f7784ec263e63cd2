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

// changes is how often all listeners are notified of a change.
const changes = 5

// perSource is how many connections share a source address: the ports of one
// address do not suffice for all.
const perSource = 5_000

// measureListeners opens many listen streams, and has them notified of changes.
func measureListeners(r *results) error {
	if !r.only.MatchString(listenersName) {
		return nil
	}
	for _, s := range r.subjects {
		log.Printf("%d %s: %s", r.scale, listenersName, s.label)
		h, err := r.holdListeners(s)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", listenersName, s.label, err)
		}
		r.listeners = append(r.listeners, h)
	}
	return nil
}

func (r *results) holdListeners(s *subject) (*held, error) {
	if why := s.lacks[listening]; why != "" {
		return &held{lacks: why}, nil
	}
	p, err := s.startHTTP(payload.Stateless, payload.BaseTools)
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
	a := &audience{process: p, told: make(chan error, r.scale)}
	defer a.leave()
	if err := a.gather(r.scale); err != nil {
		return nil, p.Explain(err)
	}
	after, err := p.settled()
	if err != nil {
		return nil, err
	}
	h.each = float64(after-before) / float64(r.scale)
	if h.crowded, err = p.smallCall(r.time); err != nil {
		return nil, p.Explain(err)
	}
	h.reached, h.fanOut, err = a.tellOften()
	return h, p.Explain(err)
}

// audience are the listeners of a server.
type audience struct {
	*process
	mu    sync.Mutex
	conns []*load.HTTP
	// told gets a nil for each notification that a listener has received.
	told chan error
}

func (a *audience) gather(n int) error {
	return inParallel(n, func(i int) error {
		c, err := load.DialHTTP(a.addr, fmt.Sprintf("127.0.0.%d", 2+i/perSource), payload.Stateless)
		if err != nil {
			return err
		}
		a.mu.Lock()
		a.conns = append(a.conns, c)
		a.mu.Unlock()
		next, err := c.Listen()
		if err != nil {
			return err
		}
		go a.follow(next) // ends when the connection is closed
		return nil
	})
}

// follow reports each notification of a stream, and its end.
func (a *audience) follow(next func() error) {
	for {
		err := next()
		a.told <- err
		if err != nil {
			return
		}
	}
}

func (a *audience) leave() {
	for _, c := range a.conns {
		_ = c.Close()
	}
}

// tellOften makes changes, and measures how long each takes to reach the last
// listener.
func (a *audience) tellOften() (reached, fanOut stats.Spread, err error) {
	c, err := a.dial()
	if err != nil {
		return reached, fanOut, err
	}
	defer func() { _ = c.Close() }()
	var times, cpus []float64
	for range changes {
		took, cpu, err := a.tell(c)
		if err != nil {
			return reached, fanOut, err
		}
		times, cpus = append(times, micros(took)/1000), append(cpus, micros(cpu)/1000)
	}
	return stats.Of(times), stats.Of(cpus), nil
}

func (a *audience) tell(c *load.HTTP) (took, cpu time.Duration, err error) {
	before, err := a.CPU()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if _, err := c.Call(payload.Call(payload.Stateless, "change", payload.Small())); err != nil {
		return 0, 0, err
	}
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for i := range a.conns {
		select {
		case err := <-a.told:
			if err != nil {
				return 0, 0, fmt.Errorf("a stream ended: %w", err)
			}
		case <-late.C:
			return 0, 0, fmt.Errorf("after a minute only %d of %d listeners were notified", i, len(a.conns))
		}
	}
	took = time.Since(start)
	after, err := a.CPU()
	return took, after - before, err
}
