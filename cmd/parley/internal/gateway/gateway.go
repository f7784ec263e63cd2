// Package gateway is one server made of many: it shows what all of them have, under names
// that tell them apart, passes what its clients send on to the one it is for, and keeps
// one that is broken from costing more than itself.
//
// Clients and backends may be of any era. What happens between one client and one
// backend is done by package bridge; here are the many.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/reads"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Gateway, for as long as it is there.
type Options struct {
	// Info is what the gateway says it is.
	Info mcp.Implementation
	// Around is what every exchange with a client goes through, besides the guards: also
	// lists, and what no backend was found for. nil means nothing.
	Around func(mcp.ServeFunc) mcp.ServeFunc
	// Grace is how long calls that are under way at a server may still take once another
	// setup is without it, or has it in another way. 0 ends them at once.
	Grace time.Duration
	// Logger logs what goes wrong. nil means slog.Default().
	Logger *slog.Logger
}

// Setup is what a gateway serves. Another one can take its place.
type Setup struct {
	Servers []Server
	// Views are parts of the whole, by their names.
	Views map[string]Part
	// Profile says which clients see tools in the form that their models take, unless
	// their view or Clients say so. "" is none.
	Profile profile.Choice
	// Clients are those that always get the same profile.
	Clients []profile.Client
	// Guards stand between clients and backends, the first closest to the client.
	Guards []guard.Guard
	// ListTimeout is how long a list waits for a server. 0 means 3 seconds.
	ListTimeout time.Duration
	// PageSize is how many entries a page of a list has. 0 means that there is one page.
	PageSize int
	// ReadCache is how many bytes of what resources were read are kept. 0 keeps nothing.
	ReadCache int64
}

// Server is a server behind the gateway.
type Server struct {
	Rules naming.Rules
	// Backend says how it is reached. Its Name is that of the rules, and what Changed
	// is called for goes to the gateway.
	Backend backend.Options
	// Same identifies how the server is reached: in another setup, a server of the same
	// name for which this is the same goes on as it is.
	Same string
	// OnDemand says that nobody connects to the server until it is needed, not even to
	// learn what it offers.
	OnDemand bool
}

// Gateway serves many backends as one. Close ends it.
type Gateway struct {
	opts    Options
	current atomic.Pointer[setup]
	reads   *reads.Cache
	hub     hub
	pace    pace
	owners  owners

	loading sync.Mutex
	closed  bool
	work    sync.WaitGroup

	running context.Context //nolint:containedctx // until Close
	end     context.CancelFunc
}

// setup is a Setup that is in use.
type setup struct {
	names       *naming.Names
	members     []*member
	views       map[string]*part
	defaults    map[string]string // the names of views by the principals who get them where none is named
	guards      []guard.Guard
	recorders   []guard.Recorder // those of the guards that are one, as are the next
	describers  []guard.Describer
	introducers []guard.Introducer
	admitters   []guard.Admitter
	profile     profile.Choice
	clients     []profile.Client
	catalogue   *catalogue.Catalogue
	described   descriptions
}

// member is a backend of a setup.
type member struct {
	backend *backend.Backend
	names   *naming.Backend
	share   bridge.Share
	same    string
	lazy    bool
}

// New returns a gateway without servers; see Load.
func New(o Options) *Gateway {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	g := &Gateway{opts: o, reads: reads.New(0)}
	g.running, g.end = context.WithCancel(context.Background())
	names, _ := naming.New(nil) // no rules cannot be wrong
	g.current.Store(&setup{names: names, views: map[string]*part{"": {}}, catalogue: catalogue.New(catalogue.Options{}, nil)})
	return g
}

var errClosed = errors.New("the gateway is closed")

// Load makes the gateway serve another setup. Servers whose description is the same go on
// as they are, and clients stay connected and learn that lists have changed. If the setup
// is wrong, everything stays as it was.
func (g *Gateway) Load(next Setup) error {
	g.loading.Lock()
	defer g.loading.Unlock()
	if g.closed {
		return errClosed
	}
	old := g.current.Load()
	s, err := g.prepare(old, &next)
	if err != nil {
		return err
	}
	g.current.Store(s)
	g.reads.Resize(next.ReadCache)
	for _, m := range s.left(old) { // what they have said is not what those of the same name say
		g.reads.Changed(m.backend.Name(), "")
	}
	g.work.Go(old.catalogue.Close)     // ends when what waits for it has got what there is
	g.work.Go(func() { g.leave(old) }) // ends when the backends have ended
	g.Announce()
	return nil
}

// leave ends what a setup had that the next one has not, once subscriptions have followed
// to the next, or have had the time for it.
func (g *Gateway) leave(old *setup) {
	next := g.current.Load()
	g.follow(time.Now().Add(waiting))
	var group sync.WaitGroup
	for _, m := range next.left(old) {
		group.Go(func() {
			g.drain(m.backend)
			_ = m.backend.Close()                 // it has nothing to say
			g.reads.Changed(m.backend.Name(), "") // calls that were under way may have read it
		})
	}
	group.Wait()
}

// drain gives calls that are under way their time.
func (g *Gateway) drain(b *backend.Backend) {
	if g.opts.Grace <= 0 {
		return
	}
	ctx, stop := context.WithTimeout(g.running, g.opts.Grace)
	defer stop()
	if err := b.Drain(ctx); err != nil && g.running.Err() == nil {
		g.opts.Logger.Warn("some calls did not finish in time after the configuration has changed, and are cancelled", "backend", b.Name(), "time", g.opts.Grace)
	}
}

// left returns the members of an older setup whose backends this one does not have.
func (s *setup) left(old *setup) (members []*member) {
	kept := map[*backend.Backend]bool{}
	for _, m := range s.members {
		kept[m.backend] = true
	}
	for _, m := range old.members {
		if !kept[m.backend] {
			members = append(members, m)
		}
	}
	return members
}

// prepare makes a setup, with the backends of the old one that stay.
func (g *Gateway) prepare(old *setup, next *Setup) (*setup, error) {
	rules := make([]naming.Rules, len(next.Servers))
	for i := range next.Servers {
		rules[i] = next.Servers[i].Rules
	}
	names, err := naming.New(rules)
	if err != nil {
		return nil, err
	}
	for name, p := range next.Views {
		if err := p.check(names); err != nil {
			return nil, fmt.Errorf("view %q: %w", name, err)
		}
	}
	defaults, err := defaultsOf(next.Views)
	if err != nil {
		return nil, err
	}
	s := &setup{defaults: defaults, names: names, guards: next.Guards, recorders: guard.Recorders(next.Guards), describers: guard.Describers(next.Guards), introducers: guard.Introducers(next.Guards), admitters: guard.Admitters(next.Guards), profile: next.Profile, clients: next.Clients, views: map[string]*part{}}
	for i := range next.Servers { // nothing can fail any more
		s.members = append(s.members, g.join(old, names, &next.Servers[i]))
	}
	s.catalogue = catalogue.New(catalogue.Options{
		Sources: s.sources(), Guards: s.guards, Timeout: next.ListTimeout, PageSize: next.PageSize, Late: g.tell, Logger: g.opts.Logger,
	}, old.catalogue)
	s.views[""] = newPart(s, "", Part{})
	s.views[""].personal = len(defaults) > 0
	for name, p := range next.Views {
		s.views[name] = newPart(s, name, p)
	}
	return s, nil
}

// Announce tells all clients that lists may have changed, because guards let others of
// them be seen, for example.
func (g *Gateway) Announce() {
	g.hub.changed(func(*watcher) bool { return true }, everyList...)
}

// Changed says that the lists of a server may be others for some clients, because a user
// has logged in there, for example.
func (g *Gateway) Changed(name string) {
	for _, kind := range everyList {
		g.listChanged(name, nil, kind)
	}
}

// join returns the backend of a server: the one that there is already, if it is the same.
func (g *Gateway) join(old *setup, names *naming.Names, srv *Server) *member {
	name := srv.Rules.Backend
	m := &member{names: names.Backend(name), share: srv.Backend.Share, same: srv.Same, lazy: srv.OnDemand}
	if had := old.views[""].member(name); had != nil && had.same == srv.Same && srv.Same != "" {
		m.backend = had.backend
		return m
	}
	o := srv.Backend
	o.Name, o.Logger = name, g.opts.Logger
	o.Changed = func(peer *mcp.Peer, kind mcp.ChangeKind) { g.listChanged(name, peer, kind) }
	m.backend = backend.New(o)
	return m
}

// listChanged has a list read again that has changed, and tells of it.
func (g *Gateway) listChanged(name string, peer *mcp.Peer, kind mcp.ChangeKind) {
	if kind == mcp.ResourcesChanged {
		g.reads.Changed(name, "")
	}
	g.current.Load().catalogue.Changed(name, peer, kind)
	g.tell(name, peer, kind)
}

// tell tells those clients of a changed list, before long, who see what the connection of
// peer shows; nil is everybody's.
func (g *Gateway) tell(name string, peer *mcp.Peer, kind mcp.ChangeKind) {
	n := news{backend: name, kind: kind, everybody: peer == nil}
	if peer != nil {
		n.principal, n.session = peer.Principal, peer.SessionID
	}
	g.pace.tell(n, func() { g.tellNow(name, peer, kind) })
}

func (g *Gateway) tellNow(name string, peer *mcp.Peer, kind mcp.ChangeKind) {
	s := g.current.Load()
	m := s.views[""].member(name)
	if m == nil { // it is about to end, or not there yet
		return
	}
	g.hub.changed(func(w *watcher) bool {
		p := s.views[s.viewName(w.view, w.peer.Principal)]
		return p != nil && p.member(name) != nil && m.shows(peer, &w.peer)
	}, kind)
}

// shows reports whether the connection that is for one peer is also that of another.
func (m *member) shows(connected, peer *mcp.Peer) bool {
	switch {
	case connected == nil || m.share == bridge.ShareAll:
		return true
	case m.share == bridge.ShareSession && connected.SessionID != "":
		return connected.SessionID == peer.SessionID
	}
	return connected.Principal == peer.Principal
}

// Look learns what the servers are that are not known yet, for as long as ctx lasts. It
// returns why some could not be reached, by their names.
func (g *Gateway) Look(ctx context.Context) map[string]error {
	var (
		mu     sync.Mutex
		failed = map[string]error{}
		group  errgroup.Group
	)
	group.SetLimit(looking)
	for _, m := range g.current.Load().members {
		if m.lazy {
			continue
		}
		group.Go(func() error {
			if err := m.backend.Look(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[m.backend.Name()] = err
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in failed
	return failed
}

// looking bounds how many servers are started at the same time.
const looking = 16

// Entries returns all that the backends list, as the gateway itself sees it, and the
// instructions of those that have some. Why a backend is missing is by its name.
func (g *Gateway) Entries(ctx context.Context) (entries []catalogue.Entry, instructions map[string]string, missing map[string]error, err error) {
	s := g.current.Load()
	instructions, missing = map[string]string{}, map[string]error{}
	for _, method := range catalogue.Methods() {
		list, absent, err := s.catalogue.Entries(ctx, &mcp.Peer{}, method)
		if err != nil {
			return nil, nil, nil, err
		}
		entries = append(entries, list...)
		maps.Copy(missing, absent)
	}
	for _, m := range s.members {
		if d := m.backend.Describe(); d != nil && d.Instructions != "" { //nolint:contextcheck // it only remembers
			instructions[m.backend.Name()] = d.Instructions
		}
	}
	return entries, instructions, missing, nil
}

// State returns how the backends are, in the order of the setup.
func (g *Gateway) State() []backend.State {
	var states []backend.State
	for _, m := range g.current.Load().members {
		states = append(states, m.backend.State())
	}
	return states
}

// Close ends all backends. The transports that serve the gateway must be closed before.
func (g *Gateway) Close() error {
	g.loading.Lock()
	defer g.loading.Unlock()
	g.closed = true
	g.end()
	g.current.Load().catalogue.Close()
	var group errgroup.Group
	for _, m := range g.current.Load().members {
		group.Go(m.backend.Close)
	}
	err := group.Wait()
	g.work.Wait()
	return err
}
