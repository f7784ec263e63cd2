package main

import (
	"fmt"
	"log"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

// startup is the cost of starting a server with a number of tools.
type startup struct {
	tools int
	// cells have the milliseconds from the start of the program to its first
	// answer, and its memory at that time.
	cells []*startCell
}

type startCell struct {
	millis []float64
	memory int64
	lacks  string
}

const startupName = "start-up"

// measureFootprint measures how long servers take to start, on standard
// streams, where no port has to be polled.
func measureFootprint(r *results) error {
	if !r.only.MatchString(startupName) {
		return nil
	}
	for _, tools := range []int{payload.BaseTools, 1_000, 10_000} {
		rounds := r.rounds
		if tools > quickTools { // some take many seconds for these
			rounds = 1
		}
		if r.quick && tools > quickTools {
			continue
		}
		log.Printf("%s, %d tools", startupName, tools)
		s := &startup{tools: tools}
		for range r.subjects {
			s.cells = append(s.cells, &startCell{})
		}
		for range rounds {
			for i, subject := range r.subjects {
				if err := s.cells[i].start(subject, tools); err != nil {
					return fmt.Errorf("%s of %s: %w", startupName, subject.label, err)
				}
			}
		}
		r.startups = append(r.startups, s)
	}
	return nil
}

func (c *startCell) start(s *subject, tools int) error {
	if c.lacks = s.lacks[piped]; c.lacks != "" {
		return nil
	}
	begin := time.Now()
	p, err := s.startPipe(payload.Stateless, tools)
	if err != nil {
		return err
	}
	defer p.Stop()
	conn, err := load.OpenStdio(p.era, p.In, p.Out)
	if err != nil {
		return p.Explain(err)
	}
	op := echo(payload.Small())(&workload{era: p.era}, conn)
	if _, err := op(); err != nil {
		return p.Explain(err)
	}
	c.millis = append(c.millis, micros(time.Since(begin))/1000)
	m, err := p.Memory()
	c.memory = m.Resident
	return err
}
