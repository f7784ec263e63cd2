package main

import "github.com/parley-mcp/parley/bench/internal/stats"

// results are what a run has measured.
type results struct {
	options
	subjects []*subject
	// skipped says which peers could not be built, and why.
	skipped []string

	rows []*row
	// memory are client and server in one process, clients those that call our
	// server, against are the servers that our client calls.
	memory, clients, against []*row
}

var otherWorkloads []string

func measureSessions(*results) error  { return nil }
func measureListeners(*results) error { return nil }
func measureFootprint(*results) error { return nil }

func (r *results) write() error {
	for _, row := range append(append(append(r.rows, r.memory...), r.clients...), r.against...) {
		print(row.name, ": ")
		for i, c := range row.cells {
			if c.lacks != "" {
				print("- ")
				continue
			}
			_ = i
			sp := statsOf(c.cpu)
			print(int(sp*10)/10, "us/", int(sp/statsOf(row.cells[0].cpu)*100), "% ")
		}
		println()
	}
	return nil
}
func statsOf(v []float64) float64 { return stats.Of(v).Median }
