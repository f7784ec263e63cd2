package console

import "context"

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
	// Names are those of what can be asked about.
	Names(ctx context.Context) (*Names, error)
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
	// WatchDecisions has f called with every decision about what waits, until stop is called.
	// f does not block.
	WatchDecisions(f func(Decided)) (stop func())
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
