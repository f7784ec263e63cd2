package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/terse"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Client. The zero value works: it speaks every revision
// and answers no questions.
//
// The functions that answer a server's questions get a context from which OriginOf
// reads which call the question belongs to. If the call is known, the context has
// the values of the call's context and ends with the call. The functions may be
// called concurrently. The client's time limits do not count the time they take.
type Options struct {
	// Info names the client to servers. Its zero value is "parley-client".
	Info mcp.Implementation
	// Revisions are the revisions to speak; nil means all. One revision pins
	// the client to it.
	Revisions []mcp.Revision
	// Logger logs what servers do wrong. nil means slog.Default(). So that no server
	// can fill the log, at most ten records with the same message pass in a minute,
	// and then every second, fourth and so on with a count; long texts are cut.
	Logger *slog.Logger

	// Tap observes what travels between the client and its server, over any
	// transport. With a transport that does not support taps, it sees the messages
	// that go into the mcp.Conn and come out of it. nil means no tap.
	Tap mcp.Tap
	// Drops counts the messages that were dropped, by reason. nil means
	// mcp.ProcessDrops().
	Drops *mcp.Drops

	// Timeout is how long a call may go without an answer or progress.
	// 0 means 60 seconds; negative means forever.
	Timeout time.Duration
	// MaxTimeout bounds a call that keeps making progress, and all calls together
	// that fetch the pages of one list. 0 means 10 minutes; negative means no
	// bound. The time in which the client's own user is being asked counts towards
	// neither limit of a call. A call that becomes a task has both limits until then,
	// and afterwards only that of its context and of WithMaxTimeout.
	MaxTimeout time.Duration
	// MaxListPages and MaxListBytes bound what an iterator such as Client.Tools
	// fetches, for servers whose lists do not end: the number of pages, and their
	// size on the wire in total. 0 means 1,000 pages and 64 MiB; negative means no
	// bound. A list that goes on is an error.
	MaxListPages int
	MaxListBytes int64
	// ProbeTimeout is how long a server of unknown era may take to answer
	// server/discover before it is taken for one that needs initialize, if Revisions
	// has one with initialize; otherwise it has Timeout. 0 means 5 seconds.
	ProbeTimeout time.Duration
	// MaxRounds bounds how often one call may ask for input. 0 means 16.
	MaxRounds int
	// KeepAlive is the time between checks that the server still answers;
	// 0 means no checks: the end of a process or a stream is noticed without
	// them, and over HTTP they keep a session alive that nobody uses. Each check
	// that fails is logged; the time of a login does not count. KeepAliveFailures
	// is how many checks in a row must fail before the connection is given up; 0
	// means 3.
	KeepAlive         time.Duration
	KeepAliveFailures int
	// MaxRestarts is how often per minute the client may reconnect to a server
	// that went away. 0 means 5; negative means never, and the client ends with
	// its connection. It reconnects in the
	// stateless era, and when a server says that it has forgotten the session.
	// Sessions that end in other ways are not restarted: their state is lost.
	MaxRestarts int

	// Elicit asks the user. Setting it declares form elicitation.
	Elicit ElicitFunc
	// VisitURL sends the user to a URL, after asking for consent. Setting it
	// declares URL elicitation.
	VisitURL ElicitFunc
	// Sample runs a model. Setting it declares sampling. Revision 2026-07-28 deprecates
	// sampling (docs/deprecated.md).
	Sample SampleFunc
	// ElicitRate bounds how often the server has Elicit and VisitURL called, and
	// SampleRate how often Sample; a question over the rate is refused. 0 means 2
	// elicitations and 5 requests for sampling a second, after 256 at once. Answer is
	// not bounded: whoever the questions are passed on to is.
	ElicitRate, SampleRate mcp.Rate
	// SampleTools declares that Sample understands tools. Revision 2026-07-28 deprecates
	// sampling (docs/deprecated.md).
	SampleTools bool
	// Roots are the folders that servers may work in. Any value but nil declares
	// roots; see Client.SetRoots. Whether they can be reached is not looked at; see
	// Folders. Revision 2026-07-28 deprecates roots (docs/deprecated.md).
	Roots []*mcp.Root
	// ListRoots is called each time a server asks for the roots. It replaces
	// Roots, which must be nil. Setting it declares roots. When its answer
	// changes, call Client.Notify(ctx, mcp.NoteRootsChanged, nil). Revision 2026-07-28
	// deprecates roots (docs/deprecated.md).
	ListRoots RootsFunc

	// Answer answers the questions of servers in their raw form, of any kind
	// that Capabilities declares. It is meant for gateways, which pass questions
	// on. It takes the place of Elicit, VisitURL, Sample, SampleTools, Roots and
	// ListRoots, which must not be set. Set both Answer and Capabilities, or
	// neither. Options.Extensions are added to Capabilities.
	Answer       AnswerFunc
	Capabilities *mcp.ClientCapabilities

	// AnswerAsTasks offers to servers of 2025-11-25 that elicitation and sampling be
	// tasks: a server that asks for one gets an acknowledgement at once, and the
	// answer when it is there. A task is kept for 15 minutes, or for as long as the
	// server wants but not more than 24 hours, and at most until the connection ends;
	// there can be 256 at a time. Tasks are experimental in that revision, and nothing
	// is offered by default.
	AnswerAsTasks bool

	// LogLevel is the lowest level of log messages to ask servers for. Log has to be
	// set as well; see Notification for log messages in their raw form. Revision
	// 2026-07-28 deprecates log messages to clients (docs/deprecated.md).
	LogLevel mcp.LoggingLevel
	// Log is called with the log messages that LogLevel asks for, in order, one message
	// at a time, and not for messages that WithNotifications takes. Revision 2026-07-28
	// deprecates log messages to clients (docs/deprecated.md).
	Log func(ctx context.Context, message *mcp.LogParams)
	// Notification is called with notifications that this package does not know,
	// in order, one at a time; if Log is nil, with log messages as well. It is not
	// called for notifications that WithNotifications takes.
	Notification func(ctx context.Context, method string, params json.RawMessage)

	// NoTasks makes the client do without tasks: it does not declare them, and tools
	// that run only as tasks cannot be called. Otherwise a call that the server
	// answers with a task takes until the task has ended: see Client.CallTool. Where
	// Capabilities is set, it says whether tasks are declared.
	NoTasks bool
	// NoOutputValidation makes Client.CallTool return structured results that do not
	// fit the output schemas of their tools: see OutputError and Client.CheckOutput.
	NoOutputValidation bool
	// Extensions are the extensions the client supports, by identifier, with
	// their settings; each must encode to a JSON object. A nil value means no
	// settings. An application that shows apps declares apps.Supported(), and Client.ReadApp
	// reads them.
	Extensions map[string]any
	// ResultTypes are the result types that the declared extensions define, besides
	// those of the core. Client.Do returns results of these types; any other is an
	// error. nil means that the types of the extensions are not known: then, if
	// extensions are declared, results of any type are returned. See ResultTypeError.
	ResultTypes []string
	// MaxAppBytes bounds the HTML of an app that Client.ReadApp returns, in bytes. 0 means
	// 8 MiB; negative means no bound but that of the transport.
	MaxAppBytes int64
	// Cache holds results that servers allow to be reused. nil means a cache of
	// the client's own; see NewCache for sharing one, and NoCache.
	Cache *Cache
	// NoCache turns caching off.
	NoCache bool
	// Eras remembers across clients which revision a server speaks. nil means
	// that each client finds out anew.
	Eras *Eras
}

// ElicitFunc answers an elicitation. The content of an accepted form gets the form's
// defaults and is checked against the form; if it does not fit, it is not sent.
type ElicitFunc func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

// SampleFunc runs a model. It should ask the user first.
//
// Revision 2026-07-28 deprecates sampling (docs/deprecated.md).
type SampleFunc func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)

// RootsFunc returns the folders that a server may work in, as file:// URIs.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md).
type RootsFunc func(ctx context.Context) ([]*mcp.Root, error)

// AnswerFunc answers a question: method is mcp.MethodElicit, mcp.MethodSample
// or mcp.MethodRoots, and params are a JSON object as the server sent it, or nil.
// The answer is the result as a JSON object. Members that the server's revision
// lacks are removed; otherwise it is sent verbatim and unchecked.
type AnswerFunc func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

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
	d.Logger = terse.Logger(d.Logger)
	d.Timeout = orDefault(d.Timeout, time.Minute)
	d.MaxTimeout = orDefault(d.MaxTimeout, 10*time.Minute)
	d.ProbeTimeout = orDefault(d.ProbeTimeout, 5*time.Second)
	d.MaxListPages = orDefault(d.MaxListPages, 1000)
	d.MaxListBytes = orDefault(d.MaxListBytes, 64<<20)
	d.MaxAppBytes = orDefault(d.MaxAppBytes, 8<<20)
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

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// capabilities returns what the client declares: what the options can answer, and
// their extensions.
func (o *Options) capabilities() (mcp.ClientCapabilities, error) {
	c, err := o.answerable()
	if err != nil {
		return c, err
	}
	c.Tasks = nil // those of a client whose questions are passed on are its own
	if o.AnswerAsTasks {
		c.Tasks = era.TasksOffer(&c)
	}
	if len(o.ResultTypes) > 0 && len(c.Extensions)+len(o.Extensions) == 0 {
		return c, errors.New("Options.ResultTypes are those of extensions, but none is declared: set Options.Extensions, too")
	}
	c.Extensions = maps.Clone(c.Extensions)
	for name, settings := range o.Extensions {
		if err := declare((*mcp.Meta)(&c.Extensions), name, settings); err != nil {
			return c, err
		}
	}
	return c, nil
}

// withTasks adds the extension for tasks to what the client declares, unless the
// application does not want them or says itself what is declared.
//
// Spec: ext-tasks/draft tasks#capability-negotiation.
func (o *Options) withTasks(c mcp.ClientCapabilities) mcp.ClientCapabilities {
	if o.NoTasks || o.Answer != nil || c.Extensions[mcp.ExtensionTasks] != nil {
		return c
	}
	c.Extensions = maps.Clone(c.Extensions)
	if c.Extensions == nil {
		c.Extensions = make(map[string]json.RawMessage, 1)
	}
	c.Extensions[mcp.ExtensionTasks] = json.RawMessage("{}")
	return c
}

// answerable returns what the options can answer.
func (o *Options) answerable() (mcp.ClientCapabilities, error) {
	var c mcp.ClientCapabilities
	switch typed := o.Elicit != nil || o.VisitURL != nil || o.Sample != nil || o.SampleTools || o.Roots != nil || o.ListRoots != nil; {
	case (o.Answer == nil) != (o.Capabilities == nil):
		return c, errors.New("Options.Answer and Options.Capabilities belong together: set both, or neither")
	case o.Answer != nil && typed:
		return c, errors.New("Options.Answer answers every question: Elicit, VisitURL, Sample, SampleTools, Roots and ListRoots must not be set beside it")
	case o.Answer != nil:
		return *o.Capabilities, nil
	case o.Roots != nil && o.ListRoots != nil:
		return c, errors.New("Options.Roots and Options.ListRoots both say what the roots are: set one of them")
	}
	if o.Roots != nil || o.ListRoots != nil {
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
	return c, nil
}

func declare(extensions *mcp.Meta, name string, settings any) error {
	if !content.IsExtension(name) {
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
