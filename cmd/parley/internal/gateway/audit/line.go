package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// line is what is kept of an exchange.
type line struct {
	Time time.Time `json:"time"`
	// Outcome is one of guard.Outcome, "ended" for the end of a subscription or session, "approval" for a line that only says what became of
	// one, "console" for what was done there, or "resumed" for one that only says that the log works again.
	Outcome   string `json:"outcome"`
	Millis    int64  `json:"ms"`
	Principal string `json:"principal,omitzero"`
	// Session tells the sessions apart, and does not give them away.
	Session  string `json:"session,omitzero"`
	Source   string `json:"source,omitzero"`
	Client   string `json:"client,omitzero"`
	Revision string `json:"revision,omitzero"`
	View     string `json:"view,omitzero"`
	Backend  string `json:"backend,omitzero"`
	Method   string `json:"method,omitzero"`
	Subject  string `json:"subject,omitzero"`
	Shown    string `json:"shown,omitzero"`
	Trace    string `json:"traceparent,omitzero"`
	// Entries is how many a list has.
	Entries *int `json:"entries,omitzero"`
	// Sizes in bytes.
	ParamsBytes int             `json:"paramsBytes,omitzero"`
	ResultBytes int             `json:"resultBytes,omitzero"`
	Params      json.RawMessage `json:"params,omitzero"`
	Result      json.RawMessage `json:"result,omitzero"`
	Code        int64           `json:"code,omitzero"`
	Error       string          `json:"error,omitzero"`
	// Approval is what a human has decided.
	Approval *guard.Approval `json:"approval,omitzero"`
	// Remarks are what other guards had to say, such as what a scan has found.
	Remarks []string `json:"remarks,omitzero"`
	// Console is what somebody has done in the console.
	Console *Change `json:"console,omitzero"`
	// Missing is how many lines before this one could not be written.
	Missing int `json:"missing,omitzero"`
}

// event describes something besides operations. No more is kept of it at any level: lists
// are long, and say what servers say of themselves.
func (l *Log) event(ev *guard.Event) *line {
	x := ev.Exchange
	e := &line{
		Time: ev.Begun.UTC(), Millis: time.Since(ev.Begun).Milliseconds(), Outcome: guard.Outcome(ev.Result, ev.Err),
		Principal: x.Peer.Principal, Session: guard.Fingerprint(x.Peer.SessionID), Source: x.Peer.Source, Client: client(&x.Peer.Info), Revision: x.Peer.Revision.String(),
		View: bounded(ev.View), Method: bounded(x.Method), Trace: bounded(x.Trace.Parent), ParamsBytes: len(x.Params),
	}
	if ev.Over {
		e.Time, e.Outcome = time.Now().UTC(), "ended"
	}
	if ev.Err != nil {
		e.Error = l.clean(ev.Err.Error(), maxError)
	}
	m := mcp.MethodNamed(x.Method)
	if m == nil {
		return e
	}
	e.Shown = l.named(l.opts.Level, m, m.SubjectOf(x.Params))
	if m.List && ev.Err == nil {
		e.Entries = entries(ev.Result)
	}
	return e
}

const (
	// maxName and maxError bound what a line has of names and errors, in bytes: what a
	// client makes up must not fill the log.
	maxName  = 2048
	maxError = 4096
)

// bounded cuts a name, and then says how long it was.
func bounded(name string) string {
	if len(name) <= maxName {
		return name
	}
	return begun(name, maxName, len(name))
}

// begun is the beginning of a text of a size.
func begun(text string, most, size int) string {
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:min(len(text), most)], ""), size)
}

// clean is a text without secrets, cut like a name: also without the half of one that is cut. What
// is far behind is not looked at, because that costs time.
func (l *Log) clean(text string, most int) string {
	near := text[:min(len(text), 32*most)]
	kept := l.opts.Secrets.Thorough(near)
	if len(kept) <= most && len(near) == len(text) {
		return kept
	}
	return begun(kept, most, len(text))
}

// entries counts what is in a list: a pointer to the result type of its method.
func entries(result any) *int {
	v := reflect.Indirect(reflect.ValueOf(result))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range v.Fields() {
		if f.Kind() == reflect.Slice {
			n := f.Len()
			return &n
		}
	}
	return nil
}

// line describes an exchange that has ended.
func (l *Log) line(level Level, op *guard.Operation, begun time.Time, result any, err error) *line {
	x := op.Exchange
	e := &line{
		Time: begun.UTC(), Millis: time.Since(begun).Milliseconds(), Outcome: guard.Outcome(result, err),
		Principal: x.Peer.Principal, Session: guard.Fingerprint(x.Peer.SessionID), Source: x.Peer.Source, Client: client(&x.Peer.Info), Revision: x.Peer.Revision.String(),
		View: op.View, Backend: op.Backend, Method: op.Method.Name, Subject: l.named(level, op.Method, op.Subject), Trace: bounded(x.Trace.Parent), ParamsBytes: len(op.Params),
	}
	if op.Shown != op.Subject {
		e.Shown = l.named(level, op.Method, op.Shown)
	}
	e.Approval = op.Approval
	if err != nil {
		e.Error = l.clean(err.Error(), maxError)
		if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
			e.Code = rpc.Code
		}
	}
	raw := encoded(result)
	e.ResultBytes = len(raw)
	if op.Approval.Denied() {
		e.Outcome = guard.OutcomeDenied
	}
	if level == Redacted || level == Full {
		e.Params, e.Result = l.keep(level, op.Params), l.keep(level, raw)
	}
	return e
}

// encoded is the text of a result, or nil if there is none.
func encoded(result any) json.RawMessage {
	switch r := result.(type) {
	case nil, *mcp.Watching:
		return nil
	case json.RawMessage:
		return r
	}
	raw, err := wire.Marshal(result)
	if err != nil {
		return nil // it fails where it is sent, too
	}
	return raw
}

// keep is what a level keeps of a document. What is not JSON any more once secrets are
// out of it is kept as a text.
func (l *Log) keep(level Level, raw json.RawMessage) json.RawMessage {
	if level == Full || raw == nil {
		return raw
	}
	kept := l.opts.Secrets.Document(raw)
	if json.Valid(kept) {
		return kept
	}
	return wire.AppendText(nil, string(kept))
}

// named is what is kept of what an exchange is about. A URI can have a secret in it, which
// only the level Full keeps.
func (l *Log) named(level Level, m *mcp.Method, subject string) string {
	if level == Full || m.Feature != mcp.ResourceFeature {
		return bounded(subject)
	}
	return l.clean(subject, maxName)
}

func client(info *mcp.Implementation) string {
	name := bounded(info.Name)
	if info.Version == "" {
		return name
	}
	return name + "/" + bounded(info.Version)
}
