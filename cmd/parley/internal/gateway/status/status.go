// Package status is what a gateway that runs says of itself to its user: commands show it,
// and programs read it as JSON.
package status

import (
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	"github.com/parley-mcp/parley/internal/redact"
)

// Gateway is a gateway that runs.
type Gateway struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	// Since is when it was started.
	Since time.Time `json:"since"`
	// Addresses are where clients reach it; "stdio" is whoever has started it.
	Addresses     []string      `json:"addresses"`
	Configuration Configuration `json:"configuration"`
	// Sessions are those that clients have open, by the transport: stdio, http or sse.
	Sessions map[string]int `json:"sessions"`
	Guards   Guards         `json:"guards"`
	Backends []Backend      `json:"backends"`
}

// Guards is what waits for somebody, and what was found.
type Guards struct {
	// Approvals are operations that wait for a human.
	Approvals int `json:"approvals"`
	// Pins are definitions that have changed and are not approved.
	Pins int `json:"pins"`
	// Findings are those of the scan, since the gateway was started or told to scan
	// otherwise.
	Findings []scan.Count `json:"findings,omitzero"`
	// Audit is how the audit log is; nil if there is none.
	Audit *Audit `json:"audit,omitzero"`
}

// Audit is an audit log.
type Audit struct {
	File  string      `json:"file"`
	Level audit.Level `json:"level"`
	// Lines is how many were written since it was opened.
	Lines int `json:"lines"`
	// Error is why it cannot be written since ErrorSince, and Missing how many lines were
	// not; "" if it can be.
	Error      string    `json:"error,omitzero"`
	ErrorSince time.Time `json:"errorSince,omitzero"`
	Missing    int       `json:"missing,omitzero"`
	// Refusing says that all operations are refused because of it.
	Refusing bool `json:"refusing,omitzero"`
}

// OfAudit returns what is said of an audit log, without secrets.
func OfAudit(s *audit.State, secrets *redact.Redactor) *Audit {
	a := &Audit{File: s.Path, Level: s.Level, Lines: s.Lines}
	if s.Err != nil {
		a.Error, a.ErrorSince, a.Missing, a.Refusing = secrets.Thorough(s.Err.Error()), s.Since, s.Missing, s.Required
	}
	return a
}

// Configuration is what a gateway serves.
type Configuration struct {
	File string `json:"file"`
	// Revision identifies what the files had that it is made of.
	Revision string `json:"revision"`
	// Since is when it was read.
	Since time.Time `json:"since"`
	// Error is why what the file says now is not served; "" if it is.
	Error string `json:"error,omitzero"`
}

// Backend is a server behind the gateway.
type Backend struct {
	Name string `json:"name"`
	// Reached is its command or URL, without secrets.
	Reached string `json:"reached"`
	// Status is idle, connecting, up or broken.
	Status backend.Status `json:"status"`
	// Server and Revision are those of the last connection.
	Server   string `json:"server,omitzero"`
	Revision string `json:"revision,omitzero"`
	// Connections are open, of which Used serve somebody.
	Connections int `json:"connections"`
	Used        int `json:"used"`
	// InFlight requests have not been answered yet.
	InFlight int    `json:"inFlight"`
	Parked   Parked `json:"parked"`
	// Lost is how often a connection has ended by itself, and Restarts how often another
	// one took the place of a lost one.
	Restarts int `json:"restarts"`
	Lost     int `json:"lost"`
	// Failures is how often in a row it has failed, and Retry when it is tried again.
	Failures int       `json:"failures,omitzero"`
	Retry    time.Time `json:"retry,omitzero"`
	// Error is what has gone wrong last, and ErrorSince when. It is over if there are no
	// Failures.
	Error      string    `json:"error,omitzero"`
	ErrorSince time.Time `json:"errorSince,omitzero"`
	// Stderr are the last lines that it has written to its standard error.
	Stderr []string `json:"stderr,omitzero"`
}

// Parked are calls that wait for their clients to come back with an answer.
type Parked struct {
	Calls int `json:"calls"`
	// Most is how many there can be, and MostEach how many of one client.
	Most     int `json:"most"`
	MostEach int `json:"mostEach"`
	// Oldest is since when one has waited the longest.
	Oldest time.Time `json:"oldest,omitzero"`
}

// Of returns what is said of a backend, without secrets.
func Of(s *backend.State, reached string, secrets *redact.Redactor) Backend {
	b := Backend{
		Name: s.Name, Reached: reached, Status: s.Status, Connections: s.Connections, Used: s.Used, InFlight: s.InFlight,
		Parked:   Parked{Calls: s.Parked, Most: s.Parking.Calls, MostEach: s.Parking.Each, Oldest: s.ParkedSince},
		Restarts: s.Restarted, Lost: s.Lost, Failures: s.Failures, Retry: s.Retry,
	}
	if s.Info.Name != "" {
		b.Server, b.Revision = s.Info.Name+" "+s.Info.Version, s.Revision.String()
	}
	if s.Err != nil {
		b.Error, b.ErrorSince = secrets.Thorough(s.Err.Error()), s.Since
	}
	for _, line := range s.Words {
		b.Stderr = append(b.Stderr, secrets.Thorough(line))
	}
	return b
}
