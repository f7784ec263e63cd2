package main

import (
	"fmt"
	"os"

	"github.com/parley-mcp/parley/bench/internal/report"
)

// results are the measurements of a run.
type results struct {
	options
	subjects []*subject
	// skipped says which peers could not be built, and why.
	skipped []string

	// rows are the servers under load.
	rows []*row
	// memory has the rows of client and server in one process, clients those of
	// all clients with our server, against those of our client with all
	// servers.
	memory, clients, against []*row
	// sessions and listeners have an entry for each subject.
	sessions, listeners []*held
	tasks               *held // of our server
	startups            []*startup
}

var otherWorkloads = []string{
	"small call, client and server in memory, 2026-07-28", "small call, client and server in memory, 2025-11-25",
	"small call of the client, Parley's server, HTTP 2026-07-28", "small call of the client, Parley's server, HTTP 2025-11-25",
	"small call of Parley's client, each server, HTTP 2026-07-28", "small call of Parley's client, each server, HTTP 2025-11-25",
	sessionsName, listenersName, tasksName, startupName,
}

// write writes the results to the file or to standard output.
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
