package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/mcp"
)

// Server is a set of tools, resources, prompts and custom methods. Features may
// be added and removed at any time, also while the server serves; clients that
// have subscribed are notified. All methods may be called concurrently.
type Server struct {
	info mcp.Implementation
	opts Options
	log  *slog.Logger

	tools      registry[mcp.Tool, *tool]
	resources  registry[mcp.Resource, *resource]
	templates  registry[mcp.ResourceTemplate, *template]
	prompts    registry[mcp.Prompt, *prompt]
	completers registry[completing, *completer]
	customs    registry[custom, *custom]
	skills     skillState

	extensions, experimental objects
	apps                     appLinks

	hub     Hub
	bounds  bounds
	watches resourceWatches
	tasks   *tasks
	jobs    *jobs
	forms   sync.Map // of *form by reflect.Type
	rules   content.Rules
	embeds  sync.Once // reports that resources are embedded, but not declared

	described atomic.Pointer[described] // the newest description

	chainMu    sync.Mutex // guards middleware, sessions and stores to chain
	middleware []Middleware
	sessions   []func(context.Context, *mcp.Session)
	chain      atomic.Pointer[mcp.ServeFunc]
}

var _ mcp.Handler = (*Server)(nil)

// New returns a server without features. opts is copied; nil means the defaults.
//
// It panics on options that are a mistake in the program, as AddTool does: a
// negative page size, a rate that is not a number, an empty list of revisions, an
// invalid caching hint or one for a method that cannot have any, an unknown panic
// policy, an extension identifier without a prefix, settings that do not encode to
// a JSON object, times of tasks that are negative or contradict each other. The message names the option. It also panics on an icon or a
// website of info that is not valid.
func New(info mcp.Implementation, opts *Options) *Server {
	s := &Server{info: info, opts: opts.withDefaults()}
	must(s.opts.check())
	s.tasks = newTasks(s)
	s.jobs = newJobs(s.opts.MaxJobs)
	s.log = s.opts.Logger
	s.hub = s.opts.Hub
	s.bounds = newBounds(&s.opts)
	s.watches = resourceWatches{start: s.startWatch, uris: map[string]*resourceWatch{}}
	var err error
	s.extensions, err = encodeObjects("Options.Extensions", s.opts.Extensions, true)
	must(err)
	s.rules = content.Rules{Extensions: s.extensions}
	must(checkInfo(&s.info))
	if _, declared := s.extensions[mcp.ExtensionSkills]; declared {
		s.opts.Announce.Skills = true
	}
	s.experimental, err = encodeObjects("Options.Experimental", s.opts.Experimental, false)
	must(err)
	s.Use()
	return s
}

// checkInfo checks what a server says about itself.
func checkInfo(info *mcp.Implementation) error {
	if err := content.Icons(info.Icons); err != nil {
		return fmt.Errorf("Implementation.Icons: %w", err)
	}
	if info.WebsiteURL == "" {
		return nil
	}
	if err := content.URI(info.WebsiteURL); err != nil {
		return fmt.Errorf("Implementation.WebsiteURL: %w", err)
	}
	return nil
}

// Serve answers one exchange. Its errors are errors of the protocol, which may
// go to the client as they are, *mcp.InputRequired, or the error of ctx; any
// other error has been logged and replaced.
func (s *Server) Serve(ctx context.Context, x *mcp.Exchange) (result any, err error) {
	defer s.rescue(ctx, x, &result, &err)
	result, err = (*s.chain.Load())(ctx, x)
	if err != nil {
		return nil, s.conceal(ctx, x, err)
	}
	return result, nil
}

// Describe says what the server is and what it offers, now. A capability that
// was once offered stays: it is not withdrawn from clients that have seen it.
//
// Spec: 2026-07-28 server/discover#response.
func (s *Server) Describe(_ context.Context, peer *mcp.Peer) *mcp.Description {
	offers := s.offers()
	d := s.described.Load()
	if d == nil || d.offers != offers {
		d = s.describe(offers)
		s.described.Store(d)
	}
	// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
	if offers.tasks && (s.opts.Tasks.ListUnowned || peer != nil && peer.Principal != "") {
		return &d.listing
	}
	return &d.Description
}

func (s *Server) describe(offers offers) *described {
	d := &described{offers: offers, Description: mcp.Description{
		Info:         s.info,
		Capabilities: s.capabilities(offers),
		Instructions: s.opts.Instructions,
		Revisions:    s.opts.Revisions,
		Cache:        s.cacheFields(mcp.MethodDiscover),
		CrashOnPanic: s.opts.Panic == CrashOnPanic,
		OnSession:    s.opened,
	}}
	d.listing = d.Description
	if tasks := d.Capabilities.Tasks; tasks != nil {
		listed := *tasks
		listed.List = &mcp.Empty{}
		d.listing.Capabilities.Tasks = &listed
	}
	return d
}

// offers are the features that a server has, or once had.
type offers struct{ tools, resources, prompts, completions, apps, tasks, skills bool }

// described is a description and what it depends on. listing is the one for peers
// that can list their tasks.
type described struct {
	mcp.Description
	listing mcp.Description
	offers  offers
}

func (s *Server) offers() offers {
	skills := s.opts.Announce.Skills || s.skills.used.Load()
	return offers{
		tools:       s.opts.Announce.Tools || s.tools.used(),
		skills:      skills,
		resources:   skills || s.opts.Announce.Resources || s.opts.Subscriptions || s.resources.used() || s.templates.used(),
		prompts:     s.opts.Announce.Prompts || s.prompts.used(),
		completions: s.completers.used(),
		apps:        s.apps.used.Load(),
		tasks:       s.tasks.known.Load(),
	}
}

func (s *Server) capabilities(o offers) mcp.ServerCapabilities {
	caps := mcp.ServerCapabilities{Extensions: s.extensions, Experimental: s.experimental}
	if o.apps {
		caps.Extensions = s.withApps()
	}
	if o.skills {
		caps.Extensions = withSkills(caps.Extensions)
	}
	if o.tools {
		caps.Tools = &mcp.ListCapability{ListChanged: true}
	}
	if o.prompts {
		caps.Prompts = &mcp.ListCapability{ListChanged: true}
	}
	if o.resources {
		caps.Resources = &mcp.ResourcesCapability{ListChanged: true, Subscribe: s.opts.Subscriptions}
	}
	if o.completions {
		caps.Completions = &mcp.Empty{}
	}
	if s.opts.Logging {
		caps.Logging = &mcp.Empty{}
	}
	if o.tasks {
		declareTasks(&caps)
	}
	return caps
}

// methods says how those methods of the protocol are served that concern a
// server's features.
var methods = map[string]func(*Server, context.Context, *mcp.Exchange) (any, error){
	mcp.MethodListTools:     (*Server).listTools,
	mcp.MethodCallTool:      (*Server).callTool,
	mcp.MethodListResources: (*Server).listResources,
	mcp.MethodListTemplates: (*Server).listTemplates,
	mcp.MethodReadResource:  (*Server).readResource,
	mcp.MethodListSkills:    (*Server).listSkills,
	mcp.MethodGetSkill:      (*Server).getSkill,
	mcp.MethodReadDirectory: (*Server).readDirectory,
	mcp.MethodListPrompts:   (*Server).listPrompts,
	mcp.MethodGetPrompt:     (*Server).getPrompt,
	mcp.MethodComplete:      (*Server).complete,
	mcp.MethodGetTask:       (*Server).getTask,
	mcp.MethodTaskResult:    (*Server).taskResult,
	mcp.MethodListTasks:     (*Server).listTasks,
	mcp.MethodCancelTask:    (*Server).cancelTask,
	mcp.MethodUpdateTask:    (*Server).updateTask,
}

// dispatch is the innermost ServeFunc.
func (s *Server) dispatch(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Watch != nil {
		return s.watch(ctx, x)
	}
	serve := methods[x.Method]
	if serve == nil || x.ID.IsZero() {
		return s.serveCustom(ctx, x)
	}
	if !s.Describe(ctx, &x.Peer).Capabilities.Offers(mcp.MethodNamed(x.Method)) {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	return serve(s, ctx, x)
}
