package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/mcp"
)

// Server is a set of tools, resources, prompts and custom methods. Features
// may be added and removed at any time, also while the server serves; clients
// that want to know are told. All methods may be called concurrently.
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

	extensions, experimental objects

	hub     Hub
	watches watches
	forms   sync.Map // of *form by reflect.Type

	chainMu    sync.Mutex // guards middleware and stores to chain
	middleware []Middleware
	chain      atomic.Pointer[mcp.ServeFunc]
}

var _ mcp.Handler = (*Server)(nil)

// New returns a server without features. opts may be nil. It panics when opts
// contradict themselves, for example with a negative duration or an extension
// identifier that has no prefix; the message says which.
func New(info mcp.Implementation, opts *Options) *Server {
	s := &Server{info: info, opts: opts.withDefaults()}
	if err := s.opts.check(); err != nil {
		panic("server: " + err.Error())
	}
	s.log = s.opts.Logger
	s.hub = s.opts.Hub
	s.watches = watches{start: s.startWatch, uris: map[string]*watch{}}
	var err error
	if s.extensions, err = encodeObjects("extension", s.opts.Extensions, true); err != nil {
		panic("server: " + err.Error())
	}
	if s.experimental, err = encodeObjects("experimental feature", s.opts.Experimental, false); err != nil {
		panic("server: " + err.Error())
	}
	s.Use()
	return s
}

// Serve answers one exchange. Its errors are errors of the protocol, which
// may go to the client as they are, *mcp.InputRequired, or the error of ctx;
// anything else has been logged and replaced.
func (s *Server) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	result, err := (*s.chain.Load())(ctx, x)
	if err != nil {
		return nil, s.conceal(ctx, x, err)
	}
	return result, nil
}

// Describe says what the server is and offers, now. A capability that was
// once offered stays: it is not withdrawn from clients that have seen it.
//
// Spec: 2026-07-28 server/discover#response.
func (s *Server) Describe() mcp.Description {
	return mcp.Description{
		Info:         s.info,
		Capabilities: s.capabilities(),
		Instructions: s.opts.Instructions,
		Revisions:    s.opts.Revisions,
		Cache:        s.cacheFields(mcp.MethodDiscover),
		CrashOnPanic: s.opts.Panic == CrashOnPanic,
	}
}

func (s *Server) capabilities() mcp.ServerCapabilities {
	caps := mcp.ServerCapabilities{Extensions: s.extensions, Experimental: s.experimental}
	if s.hasTools() {
		caps.Tools = &mcp.ListCapability{ListChanged: true}
	}
	if s.hasPrompts() {
		caps.Prompts = &mcp.ListCapability{ListChanged: true}
	}
	if s.hasResources() {
		caps.Resources = &mcp.ResourcesCapability{ListChanged: true, Subscribe: s.opts.Subscriptions}
	}
	if s.hasCompletions() {
		caps.Completions = &mcp.Empty{}
	}
	if s.opts.Logging {
		caps.Logging = &mcp.Empty{}
	}
	return caps
}

func (s *Server) hasTools() bool { return s.opts.Announce.Tools || s.tools.used() }

func (s *Server) hasPrompts() bool { return s.opts.Announce.Prompts || s.prompts.used() }

func (s *Server) hasResources() bool {
	return s.opts.Announce.Resources || s.opts.Subscriptions || s.resources.used() || s.templates.used()
}

func (s *Server) hasCompletions() bool { return s.completers.used() }

// protocolMethod is a method of the protocol that this package answers.
type protocolMethod struct {
	declared func(*Server) bool
	serve    func(*Server, context.Context, *mcp.Exchange) (any, error)
}

var protocolMethods = map[string]protocolMethod{
	mcp.MethodListTools:     {(*Server).hasTools, (*Server).listTools},
	mcp.MethodCallTool:      {(*Server).hasTools, (*Server).callTool},
	mcp.MethodListResources: {(*Server).hasResources, (*Server).listResources},
	mcp.MethodListTemplates: {(*Server).hasResources, (*Server).listTemplates},
	mcp.MethodReadResource:  {(*Server).hasResources, (*Server).readResource},
	mcp.MethodListPrompts:   {(*Server).hasPrompts, (*Server).listPrompts},
	mcp.MethodGetPrompt:     {(*Server).hasPrompts, (*Server).getPrompt},
	mcp.MethodComplete:      {(*Server).hasCompletions, (*Server).complete},
}

// dispatch is the innermost ServeFunc.
func (s *Server) dispatch(ctx context.Context, x *mcp.Exchange) (any, error) {
	m, ok := protocolMethods[x.Method]
	if !ok || x.ID.IsZero() {
		return s.serveCustom(ctx, x)
	}
	// Two parsers that disagree on which member counts are a smuggling hole.
	if x.CaseVariant != "" {
		return nil, mcp.InvalidParams("params member %q differs only in case from a name of the protocol", x.CaseVariant)
	}
	if !m.declared(s) {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	return m.serve(s, ctx, x)
}
