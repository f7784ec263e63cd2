package main

import (
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

// heldSection writes what many sessions and streams cost.
func (r *results) heldSection(b *strings.Builder) {
	t := report.Table{Head: r.head("")}
	var notes report.Notes
	add := func(name string, all []*held, text func(h *held) string) {
		cells := []string{name}
		for i, h := range all {
			if h.lacks != "" {
				cells = append(cells, notes.Mark(r.subjects[i].label+": "+h.lacks))
			} else {
				cells = append(cells, text(h))
			}
		}
		if len(all) > 0 {
			t.Add(cells...)
		}
	}
	n := report.Number(float64(r.scale))
	crowd := func(h *held) string { return report.Number(h.alone) + " → " + report.Number(h.crowded) }
	add(n+" idle sessions: memory of each, KiB", r.sessions, kibi)
	add("… small call without them → with them, µs of CPU", r.sessions, crowd)
	add(n+" listen streams: memory of each, KiB", r.listeners, kibi)
	add("… ratio to the floor", r.listeners, func(h *held) string { return report.Number(h.each / r.listeners[0].each) })
	add("… small call without them → with them, µs of CPU", r.listeners, crowd)
	add("… a change reaches the last one after, ms", r.listeners, func(h *held) string { return report.Spread(h.reached) })
	add("… CPU of that, ms", r.listeners, func(h *held) string { return report.Spread(h.fanOut) })
	if t.Len() > 0 {
		about := fmt.Sprintf("Memory is resident memory that came with them, for each. The floor holds event streams open on bare net/http. A change is told to all listeners, %d times.", changes)
		writeSection(b, "Many sessions, many listeners", about, &t, &notes)
	}
}

func kibi(h *held) string { return report.Number(h.each / (1 << 10)) }

// footprintSection writes the cost of starting, and the size of programs.
func (r *results) footprintSection(b *strings.Builder) {
	if len(r.startups) == 0 {
		return
	}
	t := report.Table{Head: r.head("")}
	var notes report.Notes
	for _, s := range r.startups {
		tools := report.Number(float64(s.tools))
		if s.tools < 1000 {
			tools = fmt.Sprint(s.tools)
		}
		t.Add(append([]string{"to the first answer, " + tools + " tools, ms"}, r.startCells(s, &notes, func(c *startCell) string { return report.Spread(stats.Of(c.millis)) })...)...)
		t.Add(append([]string{"memory then, MiB"}, r.startCells(s, &notes, func(c *startCell) string { return mebi(c.memory) })...)...)
	}
	sizes := []string{"size of the program, MiB"}
	for _, s := range r.subjects {
		if s.size == 0 {
			sizes = append(sizes, notes.Mark(s.label+": it is not one file"))
		} else {
			sizes = append(sizes, mebi(s.size))
		}
	}
	t.Add(sizes...)
	writeSection(b, "Start-up and size", "From the start of the program to its first answer to a call, over standard streams. Programs are built as for delivery, without symbols.", &t, &notes)
}

func (r *results) startCells(s *startup, notes *report.Notes, text func(*startCell) string) []string {
	var cells []string
	for i, c := range s.cells {
		if c.lacks != "" {
			cells = append(cells, notes.Mark(r.subjects[i].label+": "+c.lacks))
		} else {
			cells = append(cells, text(c))
		}
	}
	return cells
}
