// Package audit keeps a log of what passes through a gateway: a line of JSON for each
// exchange with a backend, also for those that a guard refuses.
package audit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Level is how much of an exchange is kept.
type Level string

// The levels, each of which has what the one before it has.
const (
	None     Level = "none"
	Metadata Level = "metadata" // who, what, when, how long, and how it ended
	Redacted Level = "redacted" // also params and result, without secrets
	Full     Level = "full"     // params and result as they were
)

// Options configure a Log.
type Options struct {
	// Path is the file. Earlier ones stand beside it, with the time in their names.
	Path string
	// Level is how much is kept. "" means Metadata.
	Level Level
	// Backends are levels of single backends, by name, in place of Level.
	Backends map[string]Level
	// MaxMiB is how large the file grows before another is begun. 0 means 100.
	MaxMiB int
	// KeepFiles and KeepDays bound how many earlier files are kept, and for how long;
	// 0 means no bound.
	KeepFiles, KeepDays int
	// Required makes the gateway refuse all operations while their lines cannot be
	// written, because the disk is full, for example. Otherwise it goes on without them.
	Required bool
	// Secrets are taken out of what is kept at the level Redacted, besides what looks
	// like one. nil knows none.
	Secrets *redact.Redactor
	// Logger is told when the log fails, and when it works again. nil means
	// slog.Default().
	Logger *slog.Logger
}

// Log is a guard that keeps a log. It belongs in front of all others, so that it sees
// what they refuse. Close ends it.
type Log struct {
	opts Options

	mu      sync.Mutex
	out     output
	failing error     // why it cannot be written; nil if it can
	since   time.Time // when failing began
	missing int       // lines that could not be written
	lines   int       // lines that were written
}

var _ guard.Recorder = (*Log)(nil)

// ErrRequired is what operations fail with that cannot be logged; see Options.Required.
var ErrRequired = errors.New("the audit log cannot be written, and nothing is done without it")

// New opens a log, and creates its file if there is none.
func New(o Options) (*Log, error) {
	f := new(file)
	l := newLog(f, o)
	f.opts = &l.opts
	if err := f.follow(0); err != nil {
		return nil, err
	}
	return l, nil
}

func newLog(out output, o Options) *Log {
	if o.Level == "" {
		o.Level = Metadata
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Log{opts: o, out: out}
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Close()
}

// Sees implements guard.Guard: a log hides nothing.
func (l *Log) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

// Approved is what has become of the approval of an operation. The operation has a line of
// its own, when it has ended.
type Approved struct {
	Time                                        time.Time
	Approval                                    guard.Approval
	Principal, Client, Backend, Method, Subject string
}

// Approved writes what has become of an approval.
func (l *Log) Approved(a Approved) {
	if l.level(a.Backend) == None {
		return
	}
	_ = l.write(&line{ // whoever needs the line is told by the next operation
		Time: a.Time.UTC(), Outcome: "approval", Principal: a.Principal, Client: bounded(a.Client), Backend: a.Backend,
		Method: a.Method, Subject: bounded(a.Subject), Approval: &a.Approval,
	})
}

// level is how much is kept of what is about a backend.
func (l *Log) level(backend string) Level {
	if level, ok := l.opts.Backends[backend]; ok {
		return level
	}
	return l.opts.Level
}

// Serve implements guard.Guard.
func (l *Log) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	level := l.level(op.Backend)
	if level == None {
		return next(ctx, op)
	}
	if err := l.admit(); err != nil {
		return nil, err
	}
	begun := time.Now()
	ctx, remarks := guard.WithRemarks(ctx)
	result, err := next(ctx, op)
	entry := l.line(level, op, begun, result, err)
	entry.Remarks = remarks.List()
	written := l.write(entry)
	if written != nil && l.opts.Required {
		return nil, refusal()
	}
	return result, err
}

// Record implements guard.Recorder.
func (l *Log) Record(e *guard.Event) error {
	if l.opts.Level == None {
		return nil
	}
	if l.write(l.event(e)) != nil && l.opts.Required {
		return refusal()
	}
	return nil
}

// admit refuses operations while a log that is required does not work.
func (l *Log) admit() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.Required && l.resume() != nil {
		l.missing++ // the line of the operation
		return refusal()
	}
	return nil
}

func refusal() error {
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v; try again later", ErrRequired)
}

// write writes a line.
func (l *Log) write(entry *line) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.try(entry)
	if err != nil {
		l.missing++
	}
	return err
}

// try writes a line, and does not count it if it cannot be.
func (l *Log) try(entry *line) error {
	entry.Missing = l.missing
	text, err := wire.Marshal(entry)
	if err == nil {
		_, err = l.out.Write(append(text, '\n'))
	}
	l.tell(err)
	if err == nil {
		l.lines++
		l.missing = 0
	}
	return err
}
