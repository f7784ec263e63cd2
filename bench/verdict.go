package main

import (
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

// What our server must reach besides the budgets: how many times less CPU time
// than the official Go SDK it uses for a small call, and how much more memory
// than the floor an open stream may use.
const (
	lessThanOfficial     = 8
	lessThanOfficialHTTP = 12 // over HTTP, in the stateless era
	memoryOfStream       = 1.3
)

// verdict names the rows in which our server is over its budget or behind a
// peer.
func (r *results) verdict(b *strings.Builder) {
	ours := r.indexOf("parley")
	if ours < 0 {
		return
	}
	var found []string
	for _, row := range r.rows {
		found = append(found, r.overBudget(row, ours)...)
		found = append(found, r.behind(row, ours)...)
	}
	for _, row := range append(append([]*row{}, r.memory...), r.clients...) {
		found = append(found, r.behind(row, ours)...)
	}
	found = append(found, r.heldVerdict(ours)...)
	found = append(found, r.startVerdict(ours)...)
	found = append(found, r.otherColumns(ours)...)
	fmt.Fprint(b, "\n### Over a budget, or behind a peer\n\nIn processor time, unless it says otherwise, and by medians.\n\n")
	if len(found) == 0 {
		found = []string{"Nothing."}
	}
	for _, f := range found {
		fmt.Fprintf(b, "- %s\n", f)
	}
}

func (r *results) overBudget(row *row, ours int) []string {
	var found []string
	mine := row.cells[ours].cpu
	ratio := stats.Of(stats.Ratios(mine, row.cells[0].cpu)).Median
	if row.budget > 0 && ratio > row.budget {
		found = append(found, fmt.Sprintf("%s: %s × the floor, and the budget is %s ×.", row.name, report.Number(ratio), report.Number(row.budget)))
	}
	official := r.indexOf("gosdk")
	if official < 0 || !strings.HasPrefix(row.name, "small call") {
		return found
	}
	want := lessThanOfficial
	if !row.pipe && row.era == "stateless" {
		want = lessThanOfficialHTTP
	}
	if less := stats.Of(stats.Ratios(row.cells[official].cpu, mine)).Median; less < float64(want) {
		found = append(found, fmt.Sprintf("%s: %s × less than the official Go SDK, and %d × is wanted.", row.name, report.Number(less), want))
	}
	return found
}

// behind names the peers that use less CPU time than our server.
func (r *results) behind(row *row, ours int) []string {
	var found []string
	for i, c := range row.cells {
		if i == 0 || i == ours || c.lacks != "" {
			continue
		}
		if more := stats.Of(stats.Ratios(row.cells[ours].cpu, c.cpu)).Median; more > 1 {
			found = append(found, fmt.Sprintf("%s: %s × what %s takes.", row.name, report.Number(more), r.subjects[i].label))
		}
	}
	return found
}
