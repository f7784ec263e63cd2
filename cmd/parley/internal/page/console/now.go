package console

import "time"

// Overview is what there is to know of the gateway as a whole.
type Overview struct {
	Name          string         `json:"name"`
	Version       string         `json:"version"`
	PID           int            `json:"pid"`
	Since         time.Time      `json:"since"`
	Addresses     []string       `json:"addresses"`
	Configuration Configuration  `json:"configuration"`
	Sessions      map[string]int `json:"sessions"`
	// Clients says in words who may use the gateway.
	Clients string `json:"clients"`
	// Guards are the keys of the sections that the configuration has.
	Guards []string `json:"guards"`
	// Approvals and Pins count what waits for somebody.
	Approvals int     `json:"approvals"`
	Pins      int     `json:"pins"`
	Findings  []Count `json:"findings"`
	// Warnings are what was left out, or does not work.
	Warnings []string `json:"warnings"`
}

// Configuration is what the gateway serves.
type Configuration struct {
	File     string    `json:"file"`
	Revision string    `json:"revision"`
	Since    time.Time `json:"since"`
	Error    string    `json:"error,omitzero"`
}

// Backend is a server behind the gateway.
type Backend struct {
	Name        string    `json:"name"`
	Reached     string    `json:"reached"`
	Status      string    `json:"status"`
	Server      string    `json:"server,omitzero"`
	Revision    string    `json:"revision,omitzero"`
	Connections int       `json:"connections"`
	Used        int       `json:"used"`
	InFlight    int       `json:"inFlight"`
	Parked      int       `json:"parked"`
	MaxParked   int       `json:"maxParked"`
	ParkedSince time.Time `json:"parkedSince,omitzero"`
	Restarts    int       `json:"restarts"`
	Lost        int       `json:"lost"`
	Failures    int       `json:"failures,omitzero"`
	Retry       time.Time `json:"retry,omitzero"`
	Error       string    `json:"error,omitzero"`
	ErrorSince  time.Time `json:"errorSince,omitzero"`
	Login       string    `json:"login,omitzero"`
	Stderr      []string  `json:"stderr,omitzero"`
}

// Sessions are those who use the gateway.
type Sessions struct {
	// Open counts sessions by their transport.
	Open    map[string]int `json:"open"`
	Clients []Client       `json:"clients"`
}

// Client is a session or, without one, a program of a principal.
type Client struct {
	Session   string    `json:"session,omitzero"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Source    string    `json:"source,omitzero"`
	Revision  string    `json:"revision,omitzero"`
	View      string    `json:"view,omitzero"`
	Since     time.Time `json:"since"`
	Last      time.Time `json:"last"`
	Exchanges int       `json:"exchanges"`
	UnderWay  int       `json:"underWay"`
}

// Exchange is an exchange with a client. It has no Outcome while it is under way.
type Exchange struct {
	Number      uint64    `json:"number"`
	Change      uint64    `json:"change"`
	Begun       time.Time `json:"begun"`
	Millis      int64     `json:"ms"`
	Outcome     string    `json:"outcome,omitzero"`
	Principal   string    `json:"principal,omitzero"`
	Session     string    `json:"session,omitzero"`
	Source      string    `json:"source,omitzero"`
	Client      string    `json:"client,omitzero"`
	Revision    string    `json:"revision,omitzero"`
	View        string    `json:"view,omitzero"`
	Backend     string    `json:"backend,omitzero"`
	Method      string    `json:"method"`
	Subject     string    `json:"subject,omitzero"`
	Shown       string    `json:"shown,omitzero"`
	ParamsBytes int       `json:"paramsBytes,omitzero"`
	ResultBytes int       `json:"resultBytes,omitzero"`
	Error       string    `json:"error,omitzero"`
	Approval    *Verdict  `json:"approval,omitzero"`
}

// Verdict is how a human has decided.
type Verdict struct {
	ID       string    `json:"id"`
	Decision string    `json:"decision"`
	By       string    `json:"by,omitzero"`
	Reason   string    `json:"reason,omitzero"`
	Until    time.Time `json:"until,omitzero"`
}
