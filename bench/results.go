package main

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

// serverRows returns the names of all rows about servers and clients.
func serverRows() []string {
	var rows []string
	for _, w := range workloads() {
		rows = append(rows, w.name)
	}
	return append(rows, otherWorkloads...)
}

// measureServers measures servers and clients, and returns the results as
// sections.
func measureServers(o options) (string, error) {
	subjects, skipped, err := build(o.peers)
	if err != nil {
		return "", err
	}
	r := &results{options: o, subjects: subjects, skipped: skipped}
	for _, family := range families {
		if err := family(r); err != nil {
			return "", err
		}
	}
	return r.markdown(), nil
}
