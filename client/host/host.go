package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/terse"
	"github.com/parley-mcp/parley/internal/toolname"
	"github.com/parley-mcp/parley/mcp"
)

// ErrClosed says that a host was closed.
var ErrClosed = errors.New("host closed")

// Host keeps connections to servers, and has the tools of all of them. It is safe for
// concurrent use.
type Host struct {
	opts    Options
	logger  *slog.Logger
	ctx     context.Context //nolint:containedctx // the host's lifetime: ended by Close
	end     context.CancelCauseFunc
	work    sync.WaitGroup
	servers map[string]*server // by the names in the configuration; never changed
	byLabel map[string]*server // by what the names of their tools begin with

	mu    sync.Mutex
	news  chan struct{}         // closed when anything below, or the state of a server, changes
	tools []*mcp.Tool           // of all, sorted by their names
	index map[string]*candidate // by these names
	tell  []string              // servers that Options.Changed is to be called for
	told  chan struct{}         // has room for one: tell is not empty
}

// candidate is a tool that can be called.
type candidate struct {
	server *server
	client *client.Client
	own    *mcp.Tool
}

// Open opens a host for servers, by the names that people know them by, and returns at
// once: they are connected to in the background, and Host.Ready waits for that. The host
// works until ctx ends, or Close. opts may be nil.
//
// The error is about the names: the names of tools begin with that of their server in
// lower-case letters, digits and hyphens, at most 32 of them, and no two may be the same.
func Open(ctx context.Context, servers map[string]Server, opts *Options) (*Host, error) {
	h := &Host{servers: map[string]*server{}, byLabel: map[string]*server{}, news: make(chan struct{}), told: make(chan struct{}, 1)}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Approve == nil {
		h.opts.Approve = ApproveReadOnly
	}
	h.logger = slog.Default()
	if h.opts.Client != nil && h.opts.Client.Logger != nil {
		h.logger = h.opts.Client.Logger
	}
	h.logger = terse.Logger(h.logger) // what servers say must not fill it
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if config := servers[name]; !config.Disabled {
			if err := h.add(name, config); err != nil {
				return nil, err
			}
		}
	}
	h.ctx, h.end = context.WithCancelCause(ctx)
	for _, s := range h.servers {
		h.work.Go(s.run) // ends with h.ctx
	}
	if h.opts.Changed != nil {
		h.work.Go(h.report) // ends with h.ctx
	}
	return h, nil
}

func (h *Host) add(name string, config Server) error {
	label := toolname.ServerFor(name)
	if other := h.byLabel[label]; other != nil {
		return fmt.Errorf("the names of the tools of both %q and %q would begin with %q: rename one of the two servers", other.name, name, label)
	}
	s := newServer(h, name, label, config)
	h.servers[name], h.byLabel[label] = s, s
	return nil
}

// Close ends the connections, the calls on them, and the processes of servers, and waits
// until all of it has ended. It may be called more than once.
func (h *Host) Close() error {
	h.end(ErrClosed)
	h.work.Wait()
	return nil
}

// Ready waits until each server is up, or has failed. The error names those that have, and
// wraps a *ServerError for each, or is that of ctx; the host works all the same.
func (h *Host) Ready(ctx context.Context) error {
	err := h.wait(ctx, func() bool {
		for _, s := range h.servers {
			if s.state == Connecting {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(h.servers)) {
		if err := h.servers[name].failure(); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Restart connects to a server again at once, whatever its state, and waits until it is up
// or has failed: after a login, or because the user wants it. The error is a *ServerError.
func (h *Host) Restart(ctx context.Context, server string) error {
	s := h.servers[server]
	if s == nil {
		return h.unknown(server)
	}
	h.mu.Lock()
	before := s.attempts
	h.mu.Unlock()
	signal(s.again)
	if err := h.wait(ctx, func() bool { return s.attempts > before && s.state != Connecting }); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.failure()
}

// Tools returns the tools of all servers that are up, sorted by their names, which are
// those for the model. They must not be changed.
func (h *Host) Tools() []*mcp.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tools)
}

// Servers returns how the servers are, sorted by their names.
func (h *Host) Servers() []Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Status, 0, len(h.servers))
	for _, name := range slices.Sorted(maps.Keys(h.servers)) {
		all = append(all, h.servers[name].status())
	}
	return all
}

// Client returns the client of a server that is up, for what a host does besides calling
// tools: resources, prompts, completion, instructions. It ends when the connection does,
// and must not be closed. Tools that are called by it are not approved by anybody. The
// error is a *ServerError if the server is not up.
func (h *Host) Client(server string) (*client.Client, error) {
	s := h.servers[server]
	if s == nil {
		return nil, h.unknown(server)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.client == nil {
		return nil, s.absence()
	}
	return s.client, nil
}

func (h *Host) unknown(server string) error {
	return fmt.Errorf("there is no server %q: Servers lists those that there are", server)
}

// wait waits until done is true, which is called with h.mu held.
func (h *Host) wait(ctx context.Context, done func() bool) error {
	for {
		h.mu.Lock()
		ok, news := done(), h.news
		h.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.ctx.Done():
			return context.Cause(h.ctx) //nolint:contextcheck // the reason for which the host ended
		}
	}
}

// changed tells those who wait, and Options.Changed, of a change. The caller holds h.mu.
func (h *Host) changed(s *server) {
	close(h.news)
	h.news = make(chan struct{})
	if h.opts.Changed == nil || slices.Contains(h.tell, s.name) {
		return
	}
	h.tell = append(h.tell, s.name)
	signal(h.told)
}

// report calls Options.Changed.
func (h *Host) report() {
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-h.told:
		}
		h.mu.Lock()
		names := h.tell
		h.tell = nil
		h.mu.Unlock()
		for _, name := range names {
			h.opts.Changed(name)
		}
	}
}

// merge makes the list of all tools anew. The caller holds h.mu.
func (h *Host) merge() {
	h.tools, h.index = nil, map[string]*candidate{}
	for _, name := range slices.Sorted(maps.Keys(h.servers)) {
		s := h.servers[name]
		for _, own := range s.tools {
			shown := *own
			shown.Name = toolname.Show(s.label, own.Name)
			if h.index[shown.Name] != nil {
				continue // the server has listed it twice
			}
			h.index[shown.Name] = &candidate{s, s.client, own}
			h.tools = append(h.tools, &shown)
		}
	}
	slices.SortFunc(h.tools, func(a, b *mcp.Tool) int { return cmp.Compare(a.Name, b.Name) })
}

// signal puts a signal into a channel that has room for one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
