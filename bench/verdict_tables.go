package main

import (
	"fmt"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

// less names the peers that need less of something than our server. A value
// that is not positive was not measured.
func (r *results) less(what string, ours int, of func(subject int) float64) []string {
	var found []string
	for i := 1; i < len(r.subjects); i++ {
		theirs := of(i)
		if i == ours || theirs <= 0 {
			continue
		}
		if more := of(ours) / theirs; more > 1 {
			found = append(found, fmt.Sprintf("%s: %s × that of %s.", what, report.Number(more), r.subjects[i].label))
		}
	}
	return found
}

// heldVerdict is about many sessions and many listeners.
func (r *results) heldVerdict(ours int) []string {
	var found []string
	add := func(what string, all []*held, of func(*held) float64) {
		if len(all) > 0 {
			found = append(found, r.less(what, ours, func(i int) float64 { return of(all[i]) })...)
		}
	}
	add("memory of an idle session", r.sessions, func(h *held) float64 { return h.each })
	add("memory of an open listen stream", r.listeners, func(h *held) float64 { return h.each })
	add("time until the last listener knows of a change", r.listeners, func(h *held) float64 { return h.reached.Median })
	add("processor time until then", r.listeners, func(h *held) float64 { return h.fanOut.Median })
	if len(r.listeners) > 0 {
		if ratio := r.listeners[ours].each / r.listeners[0].each; ratio > memoryOfStream {
			found = append(found, fmt.Sprintf("memory of an open listen stream: %s × the floor, and the budget is %.1f ×.", report.Number(ratio), memoryOfStream))
		}
	}
	return found
}

// startVerdict is about the cost of starting, and the size of programs.
func (r *results) startVerdict(ours int) []string {
	var found []string
	for _, s := range r.startups {
		found = append(found, r.less(fmt.Sprintf("time to the first answer, %d tools", s.tools), ours, func(i int) float64 { return stats.Of(s.cells[i].millis).Median })...)
		found = append(found, r.less(fmt.Sprintf("memory after the first answer, %d tools", s.tools), ours, func(i int) float64 { return float64(s.cells[i].memory) })...)
	}
	if len(r.startups) > 0 {
		found = append(found, r.less("size of the program", ours, func(i int) float64 { return float64(r.subjects[i].size) })...)
	}
	return found
}

// otherColumns counts the rows in which a peer does better in a measurement
// other than processor time.
func (r *results) otherColumns(ours int) []string {
	var found []string
	for _, m := range []struct {
		what string
		// cost returns the value to compare; higher is worse.
		cost func(*cell) float64
	}{
		{"median latency", func(c *cell) float64 { return stats.Of(c.p50).Median }},
		{"latency of the 99th percentile", func(c *cell) float64 { return stats.Of(c.p99).Median }},
		{"peak memory", func(c *cell) float64 { return float64(c.peak) }},
	} {
		for i := 1; i < len(r.subjects); i++ {
			if i != ours {
				found = append(found, r.otherColumn(m.what, ours, i, m.cost)...)
			}
		}
	}
	return found
}

func (r *results) otherColumn(what string, ours, peer int, cost func(*cell) float64) []string {
	behind, most := 0, 0.0
	for _, row := range r.rows {
		mine, theirs := cost(row.cells[ours]), cost(row.cells[peer])
		if row.cells[peer].lacks != "" || mine <= 0 || theirs <= 0 || mine <= theirs {
			continue
		}
		behind++
		most = max(most, mine/theirs)
	}
	if behind == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: above that of %s in %d of %d rows, at most %s ×.", what, r.subjects[peer].label, behind, len(r.rows), report.Number(most))}
}
