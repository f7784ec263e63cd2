package main

import (
	"fmt"
	"log"
	"time"

	"github.com/parley-mcp/parley/bench/payload"
)

// started is what starting a gateway costs.
type started struct {
	// millis pass to the first answer, and idle is the memory some time later.
	millis []float64
	idle   int64
	lacks  string
}

// starts is how often each gateway is started.
const starts = 3

func (r *passed) measureStarts() error {
	if !r.only.MatchString(gatewayStart) {
		return nil
	}
	server, err := r.backend(payload.BaseTools)
	if err != nil {
		return err
	}
	defer server.Stop()
	for _, g := range r.all {
		log.Printf("%s: %s", gatewayStart, g.label)
		s := &started{}
		r.starts = append(r.starts, s)
		if g.install == nil {
			s.lacks = "there is nothing to start"
			continue
		}
		for range min(starts, r.rounds) {
			if err := s.start(r, g, "http://"+server.addr+"/mcp"); err != nil {
				log.Printf("%s: %v", g.label, err)
				s.lacks = firstLine(err)
				break
			}
		}
	}
	return nil
}

func (s *started) start(r *passed, g *installed, url string) error {
	f, took, err := r.start(g, payload.BaseTools, url)
	if err != nil {
		return err
	}
	defer f.stop()
	s.millis = append(s.millis, micros(took)/1000)
	s.idle, err = settled(f)
	return err
}

// manyCell is a gateway in front of many servers.
type manyCell struct {
	// first is how long it takes from the start of the program to a complete
	// list, in milliseconds.
	first float64
	cell
}

// manyBackends servers, each of which has manyTools, are one process with as
// many addresses.
const manyBackends, manyTools = 500, 20

func (r *passed) backends() int {
	if r.quick {
		return manyBackends / 10
	}
	return manyBackends
}

// rest is how long a gateway may think about a list before it is measured.
const rest = 2 * time.Second

func (r *passed) measureMany() error {
	if !r.only.MatchString(gatewayMany) {
		return nil
	}
	server, err := r.backend(manyTools)
	if err != nil {
		return err
	}
	defer server.Stop()
	var urls []string
	for i := range r.backends() {
		urls = append(urls, fmt.Sprintf("http://%s/mcp/%d", server.addr, i))
	}
	for _, g := range r.all {
		c := &manyCell{}
		r.many = append(r.many, c)
		if c.lacks = g.lacks[manyServers]; c.lacks != "" {
			continue
		}
		log.Printf("%s: %s", gatewayMany, g.label)
		if err := c.measure(r, g, urls); err != nil {
			log.Printf("%s: %v", g.label, err)
			c.lacks = firstLine(err)
		}
	}
	return nil
}

func (c *manyCell) measure(r *passed, g *installed, urls []string) error {
	f, took, err := r.start(g, manyTools, urls...)
	if err != nil {
		return err
	}
	defer f.stop()
	c.first = micros(took) / 1000
	w := &workload{era: payload.Session, tools: manyTools * len(urls), loose: true, width: 1, op: listTools}
	p := &passage{front: f, cell: &c.cell}
	defer p.leave()
	if err := p.join(w, rest); err != nil {
		return f.explain(err)
	}
	for range r.rounds {
		if err := p.round(r.time); err != nil {
			return f.explain(err)
		}
	}
	return nil
}
