package main

import (
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/parley-mcp/parley/bench/internal/child"
	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

// cell is what was measured of one subject in one workload, round by round.
type cell struct {
	cpu      []float64 // microseconds for an op
	rate     []float64 // ops in a second
	p50, p99 []float64 // microseconds
	peak     int64     // bytes
	lacks    string    // why there is nothing
}

// row is a workload with the cells of the subjects, in their order.
type row struct {
	*workload
	cells []*cell
}

// measureCalls measures all servers under load.
func measureCalls(r *results) error {
	for _, w := range workloads() {
		if !r.only.MatchString(w.name) || r.quick && w.tools > quickTools {
			continue
		}
		log.Print(w.name)
		row, err := measure(r, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.rows = append(r.rows, row)
	}
	return nil
}

// bench is one server under one workload.
type bench struct {
	*process
	subject *subject
	cell    *cell
	conns   []load.Conn
	ops     []load.Op
}

func measure(r *results, w *workload) (*row, error) {
	row := &row{workload: w}
	var all []*bench
	defer func() {
		for _, b := range all {
			b.stop()
		}
	}()
	for _, s := range r.subjects {
		c := &cell{lacks: s.lacks[w.needs]}
		row.cells = append(row.cells, c)
		if c.lacks == "" {
			all = append(all, &bench{subject: s, cell: c})
		}
	}
	if err := startAll(w, all); err != nil {
		return nil, err
	}
	// Some take long to start: the others would give up on connections that
	// say nothing meanwhile.
	for _, b := range all {
		if err := b.warmUp(w, r.time); err != nil {
			return nil, b.Explain(fmt.Errorf("%s: %w", b.subject.label, err))
		}
	}
	return row, r.takeTurns(w, all)
}

// takeTurns runs all servers in each round, starting with another one each
// time.
func (r *results) takeTurns(w *workload, all []*bench) error {
	for round := range r.roundsOf(w) {
		if round == r.rounds {
			all = slices.DeleteFunc(slices.Clone(all), func(b *bench) bool { return b.subject.name != "floor" && b.subject.name != "parley" })
		}
		for i := range all {
			b := all[(i+round)%len(all)]
			if err := b.round(r.time); err != nil {
				return b.Explain(fmt.Errorf("%s: %w", b.subject.label, err))
			}
		}
	}
	return nil
}

// moreRounds is how many times as many rounds the floor and our server get
// where there is a budget: medians of few rounds vary by more than the margin
// in question.
const moreRounds = 6

func (r *results) roundsOf(w *workload) int {
	if w.budget > 0 && !r.quick {
		return moreRounds * r.rounds
	}
	return r.rounds
}

// startAll starts the servers side by side.
func startAll(w *workload, all []*bench) error {
	return inParallel(len(all), func(i int) error {
		p, err := all[i].subject.start(w)
		if err != nil {
			return fmt.Errorf("%s: %w", all[i].subject.label, err)
		}
		all[i].process = p
		return nil
	})
}

func (s *subject) start(w *workload) (*process, error) {
	if w.pipe {
		return s.startPipe(w.era, w.tools)
	}
	return s.startHTTP(w.era, w.tools)
}

// warmUp runs a server before its first round; one with a just-in-time compiler
// needs longer.
func (b *bench) warmUp(w *workload, d time.Duration) error {
	if err := b.connect(w); err != nil {
		return err
	}
	if !b.subject.slow {
		d /= 4
	}
	_, err := load.Loop(2*d, b.ops)
	return err
}

func (b *bench) connect(w *workload) error {
	if w.pipe {
		c, err := load.OpenStdio(w.era, b.In, b.Out)
		if err != nil {
			return err
		}
		for range w.width {
			b.ops = append(b.ops, w.op(w, c))
		}
		return nil
	}
	for range w.width {
		c, err := b.dial()
		if err != nil {
			return err
		}
		b.conns = append(b.conns, c)
		b.ops = append(b.ops, w.op(w, c))
	}
	return nil
}

func (b *bench) stop() {
	for _, c := range b.conns {
		_ = c.Close()
	}
	if b.process != nil {
		b.Stop()
	}
}

func (b *bench) round(d time.Duration) error { return b.cell.round(d, b.ops, b) }

// meter tells what a program uses.
type meter interface {
	CPU() (time.Duration, error)
	Memory() (child.Memory, error)
}

// round runs ops for some time, and adds what that took.
func (c *cell) round(d time.Duration, ops []load.Op, m meter) error {
	before, err := m.CPU()
	if err != nil {
		return err
	}
	run, err := load.Loop(d, ops)
	if err != nil {
		return err
	}
	after, err := m.CPU()
	if err != nil {
		return err
	}
	used, err := m.Memory()
	if err != nil {
		return err
	}
	c.add(run, after-before, used.Peak)
	return nil
}

func (c *cell) add(run load.Run, cpu time.Duration, peak int64) {
	c.cpu = append(c.cpu, micros(cpu)/float64(run.Ops))
	c.rate = append(c.rate, float64(run.Ops)/run.Elapsed.Seconds())
	c.p50 = append(c.p50, micros(stats.Percentile(run.Latencies, 50)))
	c.p99 = append(c.p99, micros(stats.Percentile(run.Latencies, 99)))
	c.peak = peak
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// indexOf returns where a peer is among the subjects, or -1.
func (r *results) indexOf(name string) int {
	return slices.IndexFunc(r.subjects, func(s *subject) bool { return s.name == name })
}
