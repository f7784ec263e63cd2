package console

import (
	"context"
	"encoding/json"
	"time"
)

// Gateway is what the console shows, and what it can have done. Its methods may be called
// concurrently. Errors of type *web.Error are answered as they are.
type Gateway interface {
	Overview() Overview
	Backends() []Backend
	Sessions() Sessions
	// Exchanges returns what has become of exchanges after a change, and the latest change.
	Exchanges(since uint64, limit int) ([]Exchange, uint64)
	Approvals() Approvals
	// Waiting is an operation that waits, with all of its arguments.
	Waiting(id string) (*Waiting, error)
	Pins() ([]Pin, error)
	Audit(ctx context.Context, q Query) (*Lines, error)
	Explain(ctx context.Context, c Case) (*Decision, error)
	Costs(ctx context.Context) (*Costs, error)
	Findings(ctx context.Context) (*Findings, error)
	Logins(ctx context.Context) (*Logins, error)

	// What follows changes something. by is who does so; what they return identifies what
	// was there before, and what is now.
	Allow(id string, t Terms, by string) (Trace, error)
	Deny(id, reason, by string) (Trace, error)
	Revoke(id, by string) (Trace, error)
	ApprovePin(k PinKey, digest string) (Trace, error)
	WithdrawPin(k PinKey, digest string) (Trace, error)
	ForgetLogin(ctx context.Context, l LoginKey) (Trace, error)
	Reload(ctx context.Context) (Trace, error)
	Restart(ctx context.Context, backend string) (Trace, error)

	// Ready returns why nothing may be changed now, or nil.
	Ready() error
	// Changed has the audit log know what was done or refused.
	Changed(c Change) error
	// Watch has f called with the topic of whatever changes, until stop is called. f does
	// not block.
	Watch(f func(topic string)) (stop func())
}

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

// Approvals is what waits for a human, and what was approved for a time.
type Approvals struct {
	Waiting []Waiting `json:"waiting"`
	Given   []Grant   `json:"given"`
	// MaxSeconds is for how long something can be approved; 0 is for one call only. ToolWide
	// says that a tool can be approved with any arguments.
	MaxSeconds float64 `json:"maxSeconds"`
	ToolWide   bool    `json:"toolWide"`
}

// Waiting is an operation that waits.
type Waiting struct {
	ID        string    `json:"id"`
	Asked     time.Time `json:"asked"`
	Until     time.Time `json:"until"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Source    string    `json:"source,omitzero"`
	View      string    `json:"view,omitzero"`
	Backend   string    `json:"backend"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	Shown     string    `json:"shown"`
	Why       []string  `json:"why,omitzero"`
	// Ask is who may decide: the operator, the person at the client, or both.
	Ask string `json:"ask"`
	// Arguments and Extra are what the backend would get, as it is; they are left out of
	// lists if they are large. Text is what people are shown of them, with everything visible.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	Extra     json.RawMessage `json:"extra,omitzero"`
	Text      string          `json:"text"`
	Digest    string          `json:"digest"`
	Unlisted  bool            `json:"unlisted,omitzero"`
}

// Grant is an approval for a time.
type Grant struct {
	ID        string    `json:"id"`
	Given     time.Time `json:"given"`
	Until     time.Time `json:"until"`
	By        string    `json:"by"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Backend   string    `json:"backend"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	Shown     string    `json:"shown"`
	Tool      bool      `json:"tool,omitzero"`
	Arguments string    `json:"arguments,omitzero"`
	Digest    string    `json:"digest,omitzero"`
	Used      int       `json:"used"`
}

// Terms are those of an approval: for one call, or for a time.
type Terms struct {
	Seconds float64 `json:"seconds"`
	// Tool covers any arguments, and not only those that were asked about.
	Tool bool `json:"tool"`
}

// PinKey names a definition.
type PinKey struct {
	Backend string `json:"backend"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
}

// Pin is what is known of a definition.
type Pin struct {
	PinKey

	// Approved may be used; Pending is what the backend has now, if that is something else.
	Approved *Version `json:"approved,omitzero"`
	Pending  *Version `json:"pending,omitzero"`
}

// Version is a definition as it was at a time.
type Version struct {
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
	// Lines is the definition in a form in which equal parts are equal lines; "" in lists.
	Lines string `json:"lines,omitzero"`
}

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
// about, as the backend names it, or Method alone.
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

// Trace identifies what was there before a change, and what is there after it. Detail is
// what else there is to say.
type Trace struct {
	Before string `json:"before,omitzero"`
	After  string `json:"after,omitzero"`
	Detail string `json:"detail,omitzero"`
}

// Change is what somebody has done, or was refused.
type Change struct {
	Trace

	By, Role, Source string
	Action, Target   string
	Refused          bool
	// Err is why it was not done.
	Err error
}
