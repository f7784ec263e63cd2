package main

import (
	"fmt"
	"log"
	"strings"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/payload"
)

const tasksName = "waiting tasks"

// measureTasks begins many tasks, each of which waits for its user to answer. Only our
// server has tasks.
func measureTasks(r *results) error {
	if !r.only.MatchString(tasksName) {
		return nil
	}
	for _, s := range r.subjects {
		if s.name != "parley" {
			continue
		}
		log.Printf("%d %s: %s", r.scale, tasksName, s.label)
		var err error
		if r.tasks, err = r.holdTasks(s); err != nil {
			return fmt.Errorf("%s: %w", tasksName, err)
		}
	}
	return nil
}

func (r *results) holdTasks(s *subject) (*held, error) {
	with := &subject{peer: s.peer, server: append(append([]string{}, s.server...), "-tasks")}
	p, err := with.startHTTP(payload.Stateless, payload.BaseTools)
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
	c, err := p.dial()
	if err != nil {
		return nil, p.Explain(err)
	}
	defer func() { _ = c.Close() }()
	begin := payload.CallAsTask("wait", payload.Small())
	for i := range r.scale {
		a, err := c.Call(begin)
		if err == nil && !strings.Contains(string(a.Message), `"resultType":"task"`) {
			err = fmt.Errorf("number %d: %.300s", i, a.Message)
		}
		if err != nil {
			return nil, p.Explain(err)
		}
	}
	after, err := p.settled()
	if err != nil {
		return nil, err
	}
	h.each = float64(after-before) / float64(r.scale)
	h.crowded, err = p.smallCall(r.time)
	return h, p.Explain(err)
}

// tasksSection writes what many waiting tasks cost.
func (r *results) tasksSection(b *strings.Builder) {
	if r.tasks == nil {
		return
	}
	t := report.Table{Head: []string{"", "Parley"}}
	t.Add(report.Number(float64(r.scale))+" waiting tasks: memory of each, KiB", kibi(r.tasks))
	t.Add("… small call without them → with them, µs of CPU", report.Number(r.tasks.alone)+" → "+report.Number(r.tasks.crowded))
	writeSection(b, "Many waiting tasks", "Each waits for its user to answer a question, and is kept in memory, which is the default. Memory is resident memory that came with them, for each.", &t, new(report.Notes))
}
