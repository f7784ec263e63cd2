package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

// markdown returns all results as sections.
func (r *results) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with %s, %d rounds of %s for each server, and %d for the floor and Parley where there is a budget. %s.\n",
		time.Now().UTC().Format(time.DateOnly), machine(), r.rounds, r.time, r.roundsOf(&workload{budget: 1}), r.versions())
	for _, s := range r.skipped {
		fmt.Fprintf(&b, "\n%s\n", s)
	}
	r.section(&b, "Processor time of the server", "The floor's column is in µs for one operation, the others are ratios to the floor in the same round: the median, and the least and the greatest.", r.rows, ratio)
	r.section(&b, "Latency and throughput", "The median and the 99th percentile in µs, and operations in a second, as the generator sees them; medians of the rounds.", r.rows, latency)
	r.section(&b, "Peak memory of the server", "In MiB, after all rounds (VmHWM).", r.rows, peak)
	r.section(&b, "Client and server in one process", "Processor time of both for one call. The floor's column is in µs, the others are ratios to it. The floor is encoding/json over a pair of pipes.", r.memory, ratio)
	r.section(&b, "Processor time of the client", "All clients call Parley's server, one call after the other. The floor's column is in µs, the others are ratios to it. The floor is bare net/http with encoding/json.", r.clients, ratio)
	r.section(&b, "Processor time of Parley's client with each server", "In µs for one call: the median, and the least and the greatest.", r.against, micro)
	r.heldSection(&b)
	r.tasksSection(&b)
	r.footprintSection(&b)
	r.verdict(&b)
	return b.String()
}

func (r *results) versions() string {
	var labels []string
	for _, s := range r.subjects[1:] {
		labels = append(labels, s.label)
	}
	return "Measured: " + strings.Join(labels, ", ")
}

// head returns the head of a table with a column for each subject.
func (r *results) head(first string) []string {
	head := []string{first}
	for _, s := range r.subjects {
		head = append(head, s.label)
	}
	return head
}

// section writes a table with a row for each workload.
func (r *results) section(b *strings.Builder, title, about string, rows []*row, text func(c, floor *cell, isFloor bool) string) {
	if len(rows) == 0 {
		return
	}
	shown := shownIn(rows)
	t := report.Table{Head: []string{""}}
	for i, s := range r.subjects {
		if shown[i] {
			t.Head = append(t.Head, s.label)
		}
	}
	var notes report.Notes
	for _, row := range rows {
		cells := []string{row.name}
		for i, c := range row.cells {
			if !shown[i] {
				continue
			} else if c.lacks != "" {
				cells = append(cells, notes.Mark(r.subjects[i].label+": "+c.lacks))
			} else {
				cells = append(cells, text(c, row.cells[0], i == 0))
			}
		}
		t.Add(cells...)
	}
	writeSection(b, title, about, &t, &notes)
}

// shownIn reports which subjects have anything to show in some rows.
func shownIn(rows []*row) []bool {
	shown := make([]bool, len(rows[0].cells))
	for _, row := range rows {
		for i, c := range row.cells {
			shown[i] = shown[i] || c.lacks == ""
		}
	}
	return shown
}

func writeSection(b *strings.Builder, title, about string, t *report.Table, notes *report.Notes) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n%s", title, about, t)
	if s := notes.String(); s != "" {
		fmt.Fprintf(b, "\n%s\n", s)
	}
}

func ratio(c, floor *cell, isFloor bool) string {
	if isFloor {
		return report.Number(stats.Of(c.cpu).Median)
	}
	return report.Spread(stats.Of(stats.Ratios(c.cpu, floor.cpu)))
}

func latency(c, _ *cell, _ bool) string {
	n := func(v []float64) string { return report.Number(stats.Of(v).Median) }
	return fmt.Sprintf("%s / %s, %s/s", n(c.p50), n(c.p99), n(c.rate))
}

func peak(c, _ *cell, _ bool) string { return mebi(c.peak) }

func micro(c, _ *cell, _ bool) string { return report.Spread(stats.Of(c.cpu)) }

func mebi(bytes int64) string { return report.Number(float64(bytes) / (1 << 20)) }
