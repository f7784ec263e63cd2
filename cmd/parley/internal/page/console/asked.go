package console

import (
	"encoding/json"
	"time"
)

// Query says which lines of the audit log are wanted.
type Query struct {
	After, Before                       time.Time
	Principal, Backend, Method, Outcome string
	Text                                string
	From                                string
	Limit                               int
}

// Lines are lines of the audit log, the newest first.
type Lines struct {
	File  string            `json:"file"`
	Lines []json.RawMessage `json:"lines"`
	// Next is where to go on; "" at the end.
	Next   string `json:"next,omitzero"`
	Looked int64  `json:"looked"`
	Broken int    `json:"broken,omitzero"`
}

// Case is a question to the policies. One of Tool, Prompt and Resource says what it is
// about, as the backend or its clients name it, or Method alone.
type Case struct {
	Name      string          `json:"name,omitzero"`
	Principal string          `json:"principal,omitzero"`
	Claims    json.RawMessage `json:"claims,omitzero"`
	Scopes    []string        `json:"scopes,omitzero"`
	View      string          `json:"view,omitzero"`
	Method    string          `json:"method,omitzero"`
	Backend   string          `json:"backend"`
	Tool      string          `json:"tool,omitzero"`
	Prompt    string          `json:"prompt,omitzero"`
	Resource  string          `json:"resource,omitzero"`
	// Annotations are those of the tool; without them, they are what it says of itself.
	Annotations json.RawMessage `json:"annotations,omitzero"`
	Arguments   json.RawMessage `json:"arguments,omitzero"`
	// Expect is allow, approval or deny, in a test.
	Expect string `json:"expect,omitzero"`
}

// Decision is what policies decide. Verb is allow, approval or deny.
type Decision struct {
	Verb     string   `json:"verb"`
	Why      string   `json:"why"`
	Policies []Policy `json:"policies"`
	Approval []string `json:"approval,omitzero"`
	Mistakes []string `json:"mistakes,omitzero"`
	// Unlisted is said if it is about something that the backend does not list.
	Unlisted string `json:"unlisted,omitzero"`
	// Annotations are those that were decided by, if the backend was asked for them.
	Annotations json.RawMessage `json:"annotations,omitzero"`
}

// Policy is one that decided.
type Policy struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitzero"`
	File   string `json:"file,omitzero"`
	Line   int    `json:"line,omitzero"`
}

// Costs are what lists of tools cost a model, in tokens, estimated.
type Costs struct {
	Tools    int               `json:"tools"`
	Tokens   int               `json:"tokens"`
	Search   int               `json:"search"`
	Profiles []ProfileCost     `json:"profiles"`
	Views    []Cost            `json:"views"`
	Backends []BackendCost     `json:"backends"`
	Missing  map[string]string `json:"unavailable,omitzero"`
}

// Cost is what something costs.
type Cost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// ProfileCost is what all tools cost in the form of a profile, without those that do not fit.
type ProfileCost struct {
	Cost

	Unfit int `json:"unfit,omitzero"`
}

// BackendCost is what the tools of a backend cost.
type BackendCost struct {
	Cost

	Tools []Cost `json:"tools"`
}

// Count is how often the scan has found something.
type Count struct {
	In     string `json:"in"`
	Kind   string `json:"kind"`
	Action string `json:"action"`
	Count  int64  `json:"count"`
}

// Findings are what a scan finds.
type Findings struct {
	// Scans says that the configuration has a scan.
	Scans  bool    `json:"scans"`
	Counts []Count `json:"counts"`
	// Definitions are what is found in what backends list now.
	Looked      int               `json:"looked"`
	Definitions []Finding         `json:"definitions"`
	Missing     map[string]string `json:"unavailable,omitzero"`
}

// Finding is something in a definition.
type Finding struct {
	Backend string `json:"backend"`
	Name    string `json:"name,omitzero"`
	Kind    string `json:"kind"`
	Action  string `json:"action"`
	Text    string `json:"text"`
	Shows   string `json:"shows,omitzero"`
	Pointer string `json:"pointer,omitzero"`
	Places  int    `json:"places"`
}

// Logins are how the gateway logs in at its backends.
type Logins struct {
	// Backends are those where it does.
	Backends []BackendLogin `json:"backends"`
	Users    []Login        `json:"users"`
	// Unreadable is how many more are kept that cannot be read.
	Unreadable int `json:"unreadable,omitzero"`
	// Problem is why the logins of users cannot be listed.
	Problem string `json:"problem,omitzero"`
}

// BackendLogin is how the gateway logs in at a backend.
type BackendLogin struct {
	Backend string `json:"backend"`
	How     string `json:"how"`
	// Token is that of the gateway itself; nil where users have their own, or there is none.
	Token *Token `json:"token,omitzero"`
}

// Token is what is known of a token, which itself is never shown.
type Token struct {
	LoggedIn  bool      `json:"loggedIn"`
	Issuer    string    `json:"issuer,omitzero"`
	Scopes    []string  `json:"scopes,omitzero"`
	Expires   time.Time `json:"expires,omitzero"`
	Renewable bool      `json:"renewable"`
}

// LoginKey names the login of a user at a backend.
type LoginKey struct {
	Backend   string `json:"backend"`
	URL       string `json:"url"`
	Principal string `json:"principal"`
}

// Login is the login of a user at a backend.
type Login struct {
	LoginKey
	Token

	Since time.Time `json:"since"`
}
