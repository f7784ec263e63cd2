package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

// markdown returns all results about gateways as sections.
func (r *passed) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with %s, load average %s before and %s after, %d rounds of %s for each gateway, and %d for the first three where there is a budget.\n",
		time.Now().UTC().Format(time.DateOnly), machine(), r.loadBefore, loadAverage(), r.rounds, r.time, r.rounds*r.factor(&workload{budget: 1}))
	for _, s := range r.skipped {
		fmt.Fprintf(&b, "\n%s.\n", strings.TrimSuffix(s, "."))
	}
	for _, row := range append(append([]*row{}, r.calls...), r.lists...) {
		r.rowSection(&b, row)
	}
	r.startSection(&b)
	r.manySection(&b)
	r.sessionSection(&b)
	r.verdict(&b)
	return b.String()
}

// section writes a table with a line for each gateway. cells returns the cells
// of one, or why there are none.
func (r *passed) section(b *strings.Builder, title, about string, head []string, cells func(i int) ([]string, string)) {
	t := report.Table{Head: append([]string{""}, head...)}
	var notes report.Notes
	for i, g := range r.all {
		line, lacks := cells(i)
		if lacks != "" {
			line = []string{notes.Mark(g.label + ": " + lacks)}
		}
		name := g.label
		if g.language != "" {
			name += ", " + g.language
		}
		line = append([]string{name}, line...)
		for len(line) < len(t.Head) {
			line = append(line, "–")
		}
		t.Add(line...)
	}
	writeSection(b, title, about, &t, &notes)
}

func (r *passed) rowSection(b *strings.Builder, row *row) {
	title := "Gateways" + strings.TrimPrefix(row.name, "gateways")
	head := []string{"CPU, µs", "× ReverseProxy", "p50, µs", "p99, µs", "p50 × no gateway", "p50 × ReverseProxy", "in a second", "peak memory, MiB"}
	direct, proxy := row.cells[0], row.cells[1]
	r.section(b, title, "Processor time of the gateway and its children for one operation, without the server behind it.", head, func(i int) ([]string, string) {
		c := row.cells[i]
		n := func(v []float64) string { return report.Number(stats.Of(v).Median) }
		line := []string{n(c.cpu), spread(stats.Ratios(c.cpu, proxy.cpu)), n(c.p50), n(c.p99), spread(stats.Ratios(c.p50, direct.p50)), spread(stats.Ratios(c.p50, proxy.p50)), n(c.rate), mebi(c.peak)}
		switch i {
		case 0:
			line[0], line[1], line[4], line[5], line[7] = "–", "–", "1", "–", "–"
		case 1:
			line[1], line[5] = "1", "1"
		}
		return line, c.lacks
	})
}

// spread writes ratios, if there are any.
func spread(ratios []float64) string {
	if len(ratios) == 0 {
		return "–"
	}
	return report.Spread(stats.Of(ratios))
}

func (r *passed) startSection(b *strings.Builder) {
	if len(r.starts) == 0 {
		return
	}
	about := "From the start of the program to the first answer to a call, which the generator asks for every few milliseconds; and resident memory of the gateway and its children when nothing is asked of it."
	r.section(b, "Gateways: start and idle memory", about, []string{"to the first answer, ms", "idle memory, MiB"}, func(i int) ([]string, string) {
		s := r.starts[i]
		return []string{report.Spread(stats.Of(s.millis)), mebi(s.idle)}, s.lacks
	})
}

func (r *passed) manySection(b *strings.Builder) {
	if len(r.many) == 0 {
		return
	}
	title := fmt.Sprintf("Gateways: %d servers of %d tools in one list", r.backends(), manyTools)
	about := "The servers are addresses of one process. Until the first list is complete, everything has to be connected and listed; after that the list, which may be kept, is fetched again and again, all pages of it, in a session of 2025-11-25."
	r.section(b, title, about, []string{"first complete list, ms", "a list, p50, ms", "p99, ms", "CPU, ms", "peak memory, MiB"}, func(i int) ([]string, string) {
		c := r.many[i]
		n := func(v []float64) string { return report.Number(stats.Of(v).Median / 1000) }
		return []string{report.Number(c.first), n(c.p50), n(c.p99), n(c.cpu), mebi(c.peak)}, c.lacks
	})
}

func (r *passed) sessionSection(b *strings.Builder) {
	if len(r.sessions) == 0 {
		return
	}
	about := fmt.Sprintf("Sessions are opened for %s, but not more than %s. Each makes one call, and stays open without a connection. Memory is resident memory that came with them, for each.", openFor, report.Number(float64(r.scale)))
	r.section(b, "Gateways: idle sessions", about, []string{"sessions", "memory of each, KiB", "small call without them → with them, µs of CPU", ""}, func(i int) ([]string, string) {
		k := r.sessions[i]
		return []string{report.Number(float64(k.opened)), kibi(&k.held), report.Number(k.alone) + " → " + report.Number(k.crowded), k.stopped}, k.lacks
	})
}
