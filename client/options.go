package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Client. The zero value works: it speaks every revision
// and answers no questions.
type Options struct {
	// Info names the client to servers. Its zero value is "parley-client".
	Info mcp.Implementation
	// Revisions are the revisions to speak; nil means all. One revision pins
	// the client to it.
	Revisions []mcp.Revision
	// Logger hears of what servers do wrong. nil means slog.Default().
	Logger *slog.Logger

	// Timeout is how long a call may go without an answer or progress.
	// 0 means 60 seconds; negative means for ever.
	Timeout time.Duration
	// MaxTimeout bounds a call that keeps making progress. 0 means 10
	// minutes; negative means no bound. Time in which the client's own user
	// is asked does not count towards either.
	MaxTimeout time.Duration
	// ProbeTimeout is how long a server of unknown era may take to answer
	// server/discover before it is taken for one that needs initialize.
	// 0 means 5 seconds.
	ProbeTimeout time.Duration
	// MaxRounds bounds how often one call may ask for input. 0 means 16.
	MaxRounds int
	// KeepAlive is the time between checks that the server still answers;
	// 0 means none. KeepAliveFailures is after how many failed checks in a row
	// the connection is given up; 0 means 3.
	KeepAlive         time.Duration
	KeepAliveFailures int
	// MaxRestarts is how often in a minute a server that went away is connected
	// to again. 0 means 5; negative means never. It is done in the stateless
	// era, and when a server says that it has forgotten the session. Sessions
	// that end in other ways are not restarted: what they knew is gone.
	MaxRestarts int

	// Elicit asks the user. Setting it declares form elicitation.
	Elicit ElicitFunc
	// VisitURL sends the user to a URL, after asking for consent. Setting it
	// declares URL elicitation.
	VisitURL ElicitFunc
	// Sample runs a model. Setting it declares sampling.
	Sample SampleFunc
	// SampleTools declares that Sample understands tools.
	SampleTools bool
	// Roots are the folders that servers may work in. Not nil declares roots;
	// see Client.SetRoots.
	Roots []*mcp.Root

	// LogLevel is the lowest level of log messages to ask servers for, and
	// Log takes them. Both have to be set. Log is called in order, one message
	// at a time.
	LogLevel mcp.LoggingLevel
	Log      func(ctx context.Context, message *mcp.LogParams)
	// Notification takes notifications that this package does not know, in
	// order, one at a time.
	Notification func(ctx context.Context, method string, params json.RawMessage)

	// Extensions are the extensions the client supports, by identifier, with
	// their settings; each must encode to a JSON object. A nil value stands for
	// no settings.
	Extensions map[string]any
	// Cache holds results that servers allow to be reused. nil means one of
	// its own; see NewCache to share one, or NoCache.
	Cache *Cache
	// NoCache turns caching off.
	NoCache bool
	// Eras remembers what kind of server is where, across clients. nil means
	// to find out anew.
	Eras *Eras
}

// ElicitFunc answers an elicitation. Content of an accepted form is checked
// against the form, after its defaults were filled in; what does not fit is
// not sent.
type ElicitFunc func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

// SampleFunc runs a model. It should ask the user first.
type SampleFunc func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Info.Name == "" {
		d.Info = mcp.Implementation{Name: "parley-client", Version: "0"}
	}
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	d.Timeout = orDefault(d.Timeout, time.Minute)
	d.MaxTimeout = orDefault(d.MaxTimeout, 10*time.Minute)
	d.ProbeTimeout = orDefault(d.ProbeTimeout, 5*time.Second)
	d.MaxRounds = orDefault(d.MaxRounds, 16)
	d.KeepAliveFailures = orDefault(d.KeepAliveFailures, 3)
	d.MaxRestarts = orDefault(d.MaxRestarts, 5)
	if d.Cache == nil {
		d.Cache = NewCache(0)
	}
	if d.Eras == nil {
		d.Eras = new(Eras)
	}
	return d
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// capabilities declares what the options can answer, and nothing else.
func (o *Options) capabilities() (mcp.ClientCapabilities, error) {
	var c mcp.ClientCapabilities
	if o.Roots != nil {
		c.Roots = &mcp.RootsCapability{ListChanged: true}
	}
	if o.Sample != nil {
		c.Sampling = &mcp.SamplingCapability{}
		if o.SampleTools {
			c.Sampling.Tools = &mcp.Empty{}
		}
	}
	if o.Elicit != nil || o.VisitURL != nil {
		c.Elicitation = &mcp.ElicitationCapability{}
		if o.Elicit != nil {
			c.Elicitation.Form = &mcp.Empty{}
		}
		if o.VisitURL != nil {
			c.Elicitation.URL = &mcp.Empty{}
		}
	}
	for name, settings := range o.Extensions {
		if err := declare((*mcp.Meta)(&c.Extensions), name, settings); err != nil {
			return c, err
		}
	}
	return c, nil
}

// extensionName is the form of an extension's identifier: its prefix is not
// optional.
//
// Spec: 2026-07-28 basic/versioning#extension-negotiation.
var extensionName = regexp.MustCompile(`^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*/(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`)

func declare(extensions *mcp.Meta, name string, settings any) error {
	if !extensionName.MatchString(name) {
		return fmt.Errorf("extension %q: the identifier needs a prefix such as %q", name, "com.example/")
	}
	if settings == nil {
		settings = struct{}{}
	}
	if err := extensions.Set(name, settings); err != nil {
		return fmt.Errorf("extension %q: %w", name, err)
	}
	if (*extensions)[name][0] != '{' {
		return fmt.Errorf("extension %q: the settings must encode to a JSON object", name)
	}
	return nil
}
