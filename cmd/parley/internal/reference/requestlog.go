package reference

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const recentLogURI = "log://recent"

// requestLog keeps the newest requests, a bounded number of them.
type requestLog struct {
	mu      sync.Mutex
	entries []logEntry // a ring
	next    int
}

// logEntry is one request that was answered.
type logEntry struct {
	at        time.Time
	level     mcp.LoggingLevel
	principal string
	method    string
	target    string // the tool, prompt or resource
	took      time.Duration
	outcome   string
}

// String is the entry's line. Whatever a client chose is on it without control
// characters, so that nobody can forge another line.
func (e logEntry) String() string {
	line := fmt.Sprintf("%s %s %s", e.at.UTC().Format(iso8601), strings.ToUpper(string(e.level)), printable(e.method))
	if e.target != "" {
		line += fmt.Sprintf(" %q", e.target)
	}
	return fmt.Sprintf("%s %s: %s", line, e.took.Round(time.Microsecond), printable(e.outcome))
}

// printable returns text that fits on a line: as it is, or quoted.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

func newRequestLog(size int) *requestLog { return &requestLog{entries: make([]logEntry, 0, size)} }

func (l *requestLog) add(e logEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) < cap(l.entries) {
		l.entries = append(l.entries, e)
		return
	}
	l.entries[l.next] = e
	l.next = (l.next + 1) % len(l.entries)
}

// since returns the requests of a principal since a time, at a level or above,
// oldest first.
func (l *requestLog) since(t time.Time, level mcp.LoggingLevel, principal string) []logEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []logEntry
	for i := range l.entries {
		e := l.entries[(l.next+i)%len(l.entries)]
		if e.principal == principal && !e.at.Before(t) && e.level.Severity() >= level.Severity() {
			found = append(found, e)
		}
	}
	return found
}

func text(entries []logEntry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *reference) addRecentLog() {
	r.srv.AddResource(mcp.Resource{
		URI:         recentLogURI,
		Name:        "Request Log",
		Title:       "Recent requests",
		Description: fmt.Sprintf("The last requests that this server answered, up to %d: when, what, how long it took and how it ended", logEntries),
		MIMEType:    "text/plain",
	}, func(_ context.Context, call *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		entries := r.log.since(time.Time{}, mcp.LevelDebug, call.Principal())
		return server.Contents(mcp.TextResource(uri, "text/plain", text(entries))), nil
	})
}

// record is middleware that writes the request log. Reading the log is not
// recorded: a client that watches the log and reads it after each change would
// never stop.
func (r *reference) record(next mcp.ServeFunc) mcp.ServeFunc {
	return func(ctx context.Context, x *mcp.Exchange) (any, error) {
		begun := time.Now()
		result, err := next(ctx, x)
		target := targetOf(x)
		if x.ID.IsZero() || target == recentLogURI {
			return result, err
		}
		level, outcome := outcomeOf(ctx, result, err)
		e := logEntry{begun, level, x.Peer.Principal, shorten(x.Method, 200), target, time.Since(begun), outcome}
		r.log.add(e)
		r.opts.Logger.DebugContext(ctx, "request", "method", e.method, "target", e.target, "took", e.took, "outcome", e.outcome)
		r.srv.ResourceUpdated(recentLogURI)
		return result, err
	}
}

// targetOf returns what a request is about. Its arguments stay out of the log.
func targetOf(x *mcp.Exchange) string {
	var params struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	if len(x.Params) == 0 || wire.Unmarshal(x.Params, &params) != nil {
		return ""
	}
	return shorten(params.Name+params.URI, 200)
}

func outcomeOf(ctx context.Context, result any, err error) (mcp.LoggingLevel, string) {
	var asked *mcp.InputRequired
	switch {
	case errors.As(err, &asked):
		return mcp.LevelInfo, asked.Error()
	case err != nil && ctx.Err() != nil:
		return mcp.LevelNotice, "cancelled"
	case err != nil && refusal(err):
		return mcp.LevelWarning, "refused: " + shorten(err.Error(), 200)
	case err != nil:
		// The text of an unknown error is not for clients, and clients can read
		// this log.
		return mcp.LevelError, "internal error"
	case toolresult.Failed(result):
		return mcp.LevelWarning, "the tool failed"
	}
	return mcp.LevelInfo, "ok"
}

// refusal reports whether the text of err is meant for the client.
func refusal(err error) bool {
	var (
		coded      *jsonrpc.Error
		params     *mcp.InvalidParamsError
		method     *mcp.MethodNotFoundError
		capability *mcp.MissingCapabilityError
		forbidden  *mcp.ForbiddenError
	)
	return errors.Is(err, mcp.ErrResourceNotFound) || errors.As(err, &forbidden) || errors.As(err, &coded) || errors.As(err, &params) ||
		errors.As(err, &method) || errors.As(err, &capability)
}
