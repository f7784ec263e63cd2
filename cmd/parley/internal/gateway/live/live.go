// Package live shows what passes through a gateway now, to whoever looks: the latest
// exchanges, those that are under way, and the clients that they come from.
package live

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/mcp"
)

// Exchange is an exchange with a client.
type Exchange struct {
	// Number tells exchanges apart, and grows. Change grows with everything that becomes of
	// any of them.
	Number uint64 `json:"number"`
	Change uint64 `json:"change"`
	// Begun is when it came, and Millis how long it took, once it has an Outcome: one of
	// guard.Outcome, or "ended" for the end of a subscription or session.
	Begun     time.Time `json:"begun"`
	Millis    int64     `json:"ms"`
	Outcome   string    `json:"outcome,omitzero"`
	Principal string    `json:"principal,omitzero"`
	Session   string    `json:"session,omitzero"` // a fingerprint
	Source    string    `json:"source,omitzero"`
	Client    string    `json:"client,omitzero"`
	Revision  string    `json:"revision,omitzero"`
	View      string    `json:"view,omitzero"`
	Backend   string    `json:"backend,omitzero"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject,omitzero"`
	Shown     string    `json:"shown,omitzero"`
	// Sizes in bytes.
	ParamsBytes int             `json:"paramsBytes,omitzero"`
	ResultBytes int             `json:"resultBytes,omitzero"`
	Error       string          `json:"error,omitzero"`
	Approval    *guard.Approval `json:"approval,omitzero"`
}

const (
	// kept is how many exchanges are remembered.
	kept = 5000
	// outcomeEnded is that of the end of a subscription or session.
	outcomeEnded = "ended"
)

// Log remembers the latest exchanges. It is a guard that refuses nothing, and belongs in
// front of all others. The zero value is ready.
type Log struct {
	// Changed is called when something has become of an exchange. It must not block. nil is
	// nobody.
	Changed func()
	// Secrets are not shown. nil knows none by value.
	Secrets *redact.Changing

	mu      sync.Mutex
	ring    []Exchange // by Number modulo kept
	number  uint64
	change  uint64
	clients map[string]*Client
}

var _ guard.Recorder = (*Log)(nil)

// Sees implements guard.Guard: everything is seen.
func (l *Log) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

// Serve implements guard.Guard.
func (l *Log) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	e := of(op.Exchange)
	e.View, e.Backend, e.Method, e.Subject, e.ParamsBytes = op.View, op.Backend, op.Method.Name, bounded(op.Subject), len(op.Params)
	if op.Shown != op.Subject {
		e.Shown = bounded(op.Shown)
	}
	e = l.begin(e)
	result, err := next(ctx, op)
	e.Approval = op.Approval
	l.end(e, result, err)
	return result, err
}

// Record implements guard.Recorder.
func (l *Log) Record(ev *guard.Event) error {
	e := of(ev.Exchange)
	e.View, e.Begun = ev.View, ev.Begun
	if m := mcp.MethodNamed(ev.Exchange.Method); m != nil {
		e.Subject = bounded(m.SubjectOf(ev.Exchange.Params))
	}
	if ev.Over {
		e.Begun, e.Outcome = time.Now(), outcomeEnded
	}
	l.end(l.begin(e), ev.Result, ev.Err)
	return nil
}

// of describes who asks.
func of(x *mcp.Exchange) Exchange {
	p := &x.Peer
	client := p.Info.Name
	if p.Info.Version != "" {
		client += "/" + p.Info.Version
	}
	return Exchange{
		Begun: time.Now(), Principal: p.Principal, Session: guard.Fingerprint(p.SessionID), Source: p.Source, Client: bounded(client),
		Revision: p.Revision.String(), Method: bounded(x.Method), ParamsBytes: len(x.Params),
	}
}

// bounded cuts what others have named.
func bounded(name string) string {
	const most = 512
	if len(name) <= most {
		return name
	}
	return name[:most] + "…"
}

// begin remembers an exchange that has begun, and returns it with its number.
func (l *Log) begin(e Exchange) Exchange {
	l.mu.Lock()
	l.number++
	e.Number = l.number
	l.put(&e)
	l.client(&e)
	l.mu.Unlock()
	l.tell()
	return e
}

// end remembers how an exchange has ended.
func (l *Log) end(e Exchange, result any, err error) {
	if e.Outcome == "" {
		e.Outcome = guard.Outcome(result, err)
		e.Millis = time.Since(e.Begun).Milliseconds()
	}
	if e.Approval.Denied() {
		e.Outcome = guard.OutcomeDenied
	}
	if err != nil {
		e.Error = bounded(l.Secrets.Now().Text(err.Error()))
	}
	e.ResultBytes = sizeOf(result)
	l.mu.Lock()
	if l.number-e.Number < kept {
		l.put(&e)
	}
	l.left(&e)
	l.mu.Unlock()
	l.tell()
}

// put puts an exchange in its place. The caller holds l.mu.
func (l *Log) put(e *Exchange) {
	l.change++
	e.Change = l.change
	if e.Number > uint64(len(l.ring)) && len(l.ring) < kept {
		l.ring = append(l.ring, *e)
		return
	}
	l.ring[(e.Number-1)%kept] = *e
}

func (l *Log) tell() {
	if l.Changed != nil {
		l.Changed()
	}
}

// Since returns what has become of exchanges after a change, in the order of their numbers,
// the newest of them if there are too many, and the latest change.
func (l *Log) Since(change uint64, limit int) (list []Exchange, latest uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list = []Exchange{}
	for n := l.number; n > 0 && l.number-n < kept && len(list) < limit; n-- {
		if e := &l.ring[(n-1)%kept]; e.Change > change {
			list = append(list, *e)
		}
	}
	slices.Reverse(list)
	return list, l.change
}

// sizeOf is the size of a result in bytes, where that costs nothing to know.
func sizeOf(result any) int {
	raw, ok := result.(json.RawMessage)
	if !ok {
		return 0
	}
	return len(raw)
}
