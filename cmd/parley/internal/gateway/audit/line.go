package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// line is what is kept of an exchange.
type line struct {
	Time time.Time `json:"time"`
	// Outcome is "ok", "failed" for a tool that says so, "asked" when the client has to
	// answer a question first, "denied", "cancelled", "error", or "resumed" for a line
	// that only says that the log works again.
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
	// Sizes in bytes.
	ParamsBytes int             `json:"paramsBytes,omitzero"`
	ResultBytes int             `json:"resultBytes,omitzero"`
	Params      json.RawMessage `json:"params,omitzero"`
	Result      json.RawMessage `json:"result,omitzero"`
	Code        int64           `json:"code,omitzero"`
	Error       string          `json:"error,omitzero"`
	// Missing is how many lines before this one could not be written.
	Missing int `json:"missing,omitzero"`
}

// line describes an exchange that has ended.
func (l *Log) line(level Level, op *guard.Operation, begun time.Time, result any, err error) *line {
	x := op.Exchange
	e := &line{
		Time: begun.UTC(), Millis: time.Since(begun).Milliseconds(), Outcome: outcome(err),
		Principal: x.Peer.Principal, Session: fingerprint(x.Peer.SessionID), Source: x.Peer.Source, Client: client(&x.Peer.Info), Revision: x.Peer.Revision.String(),
		View: op.View, Backend: op.Backend, Method: op.Method.Name, Subject: op.Subject, Trace: x.Trace.Parent, ParamsBytes: len(op.Params),
	}
	if op.Shown != op.Subject {
		e.Shown = op.Shown
	}
	if err != nil {
		e.Error = l.opts.Secrets.Text(err.Error())
		if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
			e.Code = rpc.Code
		}
	}
	raw := encoded(result)
	e.ResultBytes = len(raw)
	if e.Outcome == "ok" && string(wire.Find(raw, "isError")) == "true" {
		e.Outcome = "failed"
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
	text := l.opts.Secrets.Text(string(raw))
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return wire.AppendText(nil, text)
}

func outcome(err error) string {
	var (
		ask       *mcp.InputRequired
		forbidden *mcp.ForbiddenError
	)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &ask):
		return "asked"
	case errors.As(err, &forbidden):
		return "denied"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return "error"
}

func client(info *mcp.Implementation) string {
	if info.Version == "" {
		return info.Name
	}
	return info.Name + "/" + info.Version
}

func fingerprint(session string) string {
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:6])
}
