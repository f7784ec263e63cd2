package main

import (
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/bench/internal/stats"
	"github.com/parley-mcp/parley/bench/payload"
)

// kept is what many sessions cost.
type kept struct {
	held
	// opened is how many there were, and stopped why not more.
	opened  int
	stopped string
}

const (
	// openFor is how long sessions are opened.
	openFor = 20 * time.Second
	// fewProcesses bounds the sessions of what starts its servers itself, which
	// may be one for each.
	fewProcesses = 100
)

func (r *passed) measureSessions() error {
	if !r.only.MatchString(gatewaySessions) {
		return nil
	}
	server, err := r.backend(payload.BaseTools)
	if err != nil {
		return err
	}
	defer server.Stop()
	for _, g := range r.all {
		k := &kept{}
		r.sessions = append(r.sessions, k)
		if g.install == nil {
			k.lacks = "there is nothing between"
		} else {
			k.lacks = g.lacks[sessions]
		}
		if k.lacks != "" {
			continue
		}
		log.Printf("%s: %s", gatewaySessions, g.label)
		if err := k.hold(r, g, "http://"+server.addr+"/mcp"); err != nil {
			log.Printf("%s: %v", g.label, err)
			k.lacks = firstLine(err)
		}
	}
	return nil
}

// hold opens sessions until there are enough, time is over, or one fails.
func (k *kept) hold(r *passed, g *installed, url string) error {
	f, _, err := r.start(g, payload.BaseTools, url)
	if err != nil {
		return err
	}
	defer f.stop()
	if k.alone, err = f.smallCall(r.time); err != nil {
		return f.explain(err)
	}
	before, err := settled(f)
	if err != nil {
		return err
	}
	enough := r.scale
	if g.spawns {
		enough = min(enough, fewProcesses)
	}
	k.opened, err = f.openSessions(enough, time.Now().Add(openFor))
	if k.opened < enough {
		k.stopped = fmt.Sprintf("as many as could be opened in %s", openFor)
	} else if g.spawns {
		k.stopped = "not more, since it may start a server for each"
	}
	if err != nil {
		k.stopped = "then: " + firstLine(err)
	}
	if k.opened == 0 {
		return f.explain(err)
	}
	after, err := settled(f)
	if err != nil {
		return err
	}
	k.each = float64(after-before) / float64(k.opened)
	if k.crowded, err = f.smallCall(r.time); err != nil {
		k.stopped = "then: " + firstLine(err)
	}
	return nil
}

// openSessions opens sessions from several addresses, as of several clients,
// and returns how many there are.
func (f *front) openSessions(n int, until time.Time) (int, error) {
	var opened atomic.Int64
	var mu sync.Mutex
	var failed error
	err := inParallel(n, func(i int) error {
		mu.Lock()
		stop := failed != nil || time.Now().After(until)
		mu.Unlock()
		if stop {
			return nil
		}
		err := f.openSession(fmt.Sprintf("127.0.0.%d", 2+i%200))
		if err == nil {
			opened.Add(1)
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		failed = err
		return nil
	})
	return int(opened.Load()), errors.Join(err, failed)
}

// openSession opens a session, uses it once, and leaves it open.
func (f *front) openSession(source string) error {
	c, err := f.dial(payload.Session, source)
	if err != nil {
		return err
	}
	_, err = f.call(&workload{era: payload.Session}, c)()
	return errors.Join(err, c.Close())
}

// smallCall returns the microseconds of processor time for a small call, warmed
// up.
func (f *front) smallCall(d time.Duration) (float64, error) {
	p := &passage{front: f, cell: &cell{}}
	defer p.leave()
	if err := p.join(&workload{era: payload.Session, width: 1}, d); err != nil {
		return 0, err
	}
	err := p.round(d)
	return stats.Of(p.cell.cpu).Median, err
}
