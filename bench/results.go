package main

import (
	"fmt"
	"os"

	"github.com/parley-mcp/parley/bench/internal/report"
)

// results are what a run has measured.
type results struct {
	options
	subjects []*subject
	// skipped says which peers could not be built, and why.
	skipped []string

	// rows are the servers under load.
	rows []*row
	// memory are client and server in one process, clients those that call our
	// server, against are the servers that our client calls.
	memory, clients, against []*row
	// sessions and listeners have an entry for each subject.
	sessions, listeners []*held
	startups            []*startup
}

var otherWorkloads = []string{
	"small call, client and server in memory, 2026-07-28", "small call, client and server in memory, 2025-11-25",
	"small call of the client, Parley's server, HTTP 2026-07-28", "small call of the client, Parley's server, HTTP 2025-11-25",
	"small call of Parley's client, each server, HTTP 2026-07-28", "small call of Parley's client, each server, HTTP 2025-11-25",
	sessionsName, listenersName, startupName,
}

// write writes the results to where they were wanted.
func (r *results) write() error {
	text := r.markdown()
	if r.out == "" {
		_, err := fmt.Fprint(os.Stdout, text)
		return err
	}
	page, err := os.ReadFile(r.out)
	if err != nil {
		return err
	}
	page, err = report.Replace(page, text)
	if err != nil {
		return fmt.Errorf("%s: %w", r.out, err)
	}
	return os.WriteFile(r.out, page, 0o644)
}
