package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Server. The zero value is a complete configuration.
type Options struct {
	// Instructions tell a model how to use the server.
	Instructions string
	// Logger receives reports of failed handlers and panics, and whatever
	// Call.Log is given. nil means slog.Default().
	Logger *slog.Logger
	// Logging declares that clients may ask for log messages. Without it
	// Call.Log and Call.Logger write to Logger only. Revision 2026-07-28 deprecates log
	// messages to clients (docs/deprecated.md).
	Logging bool
	// Subscriptions declares that clients may watch resources; changes are
	// published with Server.ResourceUpdated. Without Visible and WatchResource, any URI
	// may be watched, also one that nothing stands for yet.
	Subscriptions bool
	// WatchResource, if set, is called when a URI gets its first watcher; the
	// stop function it returns (which may be nil) is called when the last one
	// has left. Calls for one URI never overlap; no lock is held. After an
	// error, which is logged, the client is told that the URI is not watched:
	// it is not acknowledged or, in a session, not found. It implies
	// Subscriptions.
	WatchResource func(uri string) (stop func(), err error)
	// PageSize is the maximum number of entries in one page of a list. 0 means
	// 1000.
	PageSize int
	// Announce declares features that have no entries yet.
	Announce Features
	// Cache holds caching hints by method: server/discover, the list methods,
	// resources/read and skills/get. Methods that are missing are not cacheable,
	// and neither is what is read with answers of the user.
	Cache map[string]CacheHint
	// Panic says what happens when a handler or middleware panics.
	Panic PanicPolicy
	// Revisions are the revisions to speak; nil means all.
	Revisions []mcp.Revision
	// ProgressInterval is the minimum time between two progress notifications
	// of one exchange. The first and the final one are never held back. 0 means
	// 100 milliseconds; a negative value means no limit.
	ProgressInterval time.Duration
	// ToolError, if set, returns what a model is told of an error of a tool's
	// handler that becomes a result, for example to leave out what a database
	// said. The error itself is then logged. nil means the error's own text.
	//
	// Spec: 2026-07-28 server/tools#security-considerations (1).
	ToolError func(ctx context.Context, x *mcp.Exchange, err error) string
	// ToolRate bounds how often one client calls tools: whoever has the
	// principal of its requests or, without one, sends from the same
	// mcp.Peer.Source. A call over it is an error that says when to try again.
	// The default is 10,000 a second, 20,000 in quick succession. HTTP
	// transports bound requests of all kinds as well.
	//
	// Spec: 2026-07-28 server/tools#security-considerations (1).
	ToolRate mcp.Rate
	// CompletionRate likewise bounds requests for completion. The default is 500
	// a second, 1,000 in quick succession.
	CompletionRate mcp.Rate
	// LogRate likewise bounds the log messages that one client gets. Those over
	// it are left out and counted as mcp.DropThrottled; Logger still gets them.
	// The default is 200 a second, 1,000 in quick succession.
	LogRate mcp.Rate
	// Tasks says how tools run as tasks, and where these are kept.
	Tasks TaskOptions
	// MaxJobs bounds the jobs of Call.StartJob that run at a time. 0 means 1,000; negative
	// means no bound.
	MaxJobs int
	// Hub carries changes from where they happen to their watchers. nil means
	// NewHub(), which only serves this Server.
	Hub Hub
	// Extensions declares extensions by identifier, such as
	// "com.example/search", with settings that encode to a JSON object. A nil
	// value stands for no settings.
	Extensions map[string]any
	// Experimental declares non-standard features likewise; a prefix is not
	// needed.
	Experimental map[string]any
	// Visible, if set, makes lists depend on who asks: it decides whether the client of an
	// exchange gets to see a feature. What is hidden is left out of lists and answered as
	// if it did not exist. name is a tool's or prompt's name, a resource's URI or a
	// URI template. It must depend on the authorization of x only, never on
	// the connection or on earlier requests.
	//
	// Who may not see one of the files of a skill does not see the skill.
	//
	// Cursors of lists tell nothing about hidden entries either. A resource
	// that is hidden, or that no resource or template of the server
	// stands for, cannot be watched either.
	//
	// Spec: 2026-07-28 server/tools#capabilities.
	Visible func(ctx context.Context, x *mcp.Exchange, kind mcp.FeatureKind, name string) bool
}

// Features selects among the lists that a server can offer.
type Features struct{ Tools, Resources, Prompts, Skills bool }

// PanicPolicy says what happens when user code panics.
type PanicPolicy int

// The policies.
const (
	// RecoverPanics answers the request with an internal error and logs the
	// stack.
	RecoverPanics PanicPolicy = iota
	// CrashOnPanic lets the panic end the process.
	CrashOnPanic
)

const (
	defaultPageSize         = 1000
	defaultMaxJobs          = 1000
	defaultProgressInterval = 100 * time.Millisecond
)

// withDefaults returns a copy in which every field has its effective value.
func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	if d.PageSize == 0 {
		d.PageSize = defaultPageSize
	}
	if d.ProgressInterval == 0 {
		d.ProgressInterval = defaultProgressInterval
	}
	if d.MaxJobs == 0 {
		d.MaxJobs = defaultMaxJobs
	}
	if d.Hub == nil {
		d.Hub = NewHub()
	}
	d.Tasks = d.Tasks.withDefaults()
	d.Subscriptions = d.Subscriptions || d.WatchResource != nil
	return d
}

func (o *Options) check() error {
	if o.PageSize < 0 {
		return fmt.Errorf("Options.PageSize is %d", o.PageSize)
	}
	for name, r := range map[string]mcp.Rate{"ToolRate": o.ToolRate, "CompletionRate": o.CompletionRate, "LogRate": o.LogRate} {
		if math.IsNaN(r.PerSecond) {
			return fmt.Errorf("Options.%s.PerSecond is not a number; a negative one means no bound", name)
		}
	}
	if o.Panic != RecoverPanics && o.Panic != CrashOnPanic {
		return fmt.Errorf("Options.Panic is %d", o.Panic)
	}
	if o.Revisions != nil && len(o.Revisions) == 0 {
		return errors.New("Options.Revisions is empty; nil means all")
	}
	for method, hint := range o.Cache {
		if err := hint.check(method, o.Visible != nil); err != nil {
			return fmt.Errorf("Options.Cache[%q]: %w", method, err)
		}
	}
	return o.Tasks.check()
}
