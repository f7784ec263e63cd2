// Package catalogue knows what all backends have. It lists each of them for those who
// see the same there, keeps that for as long as the backend allows, and makes one list of
// many. What a backend has said last stands in for what it does not say in time, so a
// backend that is broken or slow keeps nobody from the others.
package catalogue

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
)

// Lister lists what a backend has.
type Lister interface {
	// List returns the pages of a list as the backend sends them to a peer, in order. There
	// are none if the backend does not have the list. It may be called concurrently.
	List(ctx context.Context, peer *mcp.Peer, method string) ([]json.RawMessage, error)
}

// Source is a backend.
type Source struct {
	Names  *naming.Backend
	Lister Lister
	// Key identifies those who see the same there, unless the backend says that everybody
	// does. nil means that each principal sees something of its own.
	Key func(peer *mcp.Peer) string
	// Notifies reports whether the backend says when a list changes, as far as is known by
	// now. nil means that it does not.
	Notifies func(kind mcp.ChangeKind) bool
}

// Options configure a Catalogue.
type Options struct {
	// Sources are the backends, in the order of the merged lists. Their names differ.
	Sources []Source
	// Guards say who sees what.
	Guards []guard.Guard
	// Timeout is how long a list waits for a backend. 0 means 3 seconds.
	Timeout time.Duration
	// Patience is how long a backend may take to list something before that has failed. 0
	// means a minute.
	Patience time.Duration
	// Default is how long a list is kept whose backend neither says how long it can be nor
	// when it changes. 0 means a minute.
	Default time.Duration
	// PageSize is the number of entries in a page. 0 means that there are no pages, since
	// many clients look at the first one only.
	PageSize int
	// Late is called when a backend has listed something else than what went into a list
	// that did not wait for it any longer, for those who see what peer does. nil is nobody.
	// It must not block.
	Late func(backend string, peer *mcp.Peer, kind mcp.ChangeKind)
	// Logger logs what backends list that cannot be shown. nil means slog.Default().
	Logger *slog.Logger
}

// Catalogue knows what all backends have. Its methods may be called concurrently.
type Catalogue struct {
	opts    Options
	editors []guard.Editor
	sources []*source
	byName  map[string]*source
	ctx     context.Context //nolint:containedctx // the catalogue's lifetime: ended by Close
	end     context.CancelFunc
	work    sync.WaitGroup // requests

	mu     sync.Mutex
	closed bool
}

// source has the lists of a backend.
type source struct {
	Source

	lists map[string]*list // by the method
}

// methods are the lists that there are, with what makes entries of them.
var methods = map[string]func() any{
	mcp.MethodListTools:     func() any { return new(mcp.Tool) },
	mcp.MethodListPrompts:   func() any { return new(mcp.Prompt) },
	mcp.MethodListResources: func() any { return new(mcp.Resource) },
	mcp.MethodListTemplates: func() any { return new(mcp.ResourceTemplate) },
	mcp.MethodListSkills:    func() any { return new(mcp.Skill) },
}

// Methods returns the lists that there are, in a fixed order.
func Methods() []string { return slices.Clone(numbers) }

// New returns a catalogue. What old knows of backends whose Lister is the same, and whose
// names follow the same rules, is kept. old may be nil.
func New(o Options, old *Catalogue) *Catalogue {
	defaults(&o)
	c := &Catalogue{opts: o, editors: guard.Editors(o.Guards), byName: map[string]*source{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	for _, src := range o.Sources {
		s := &source{Source: src, lists: map[string]*list{}}
		var had *source
		if old != nil {
			had = old.byName[src.Names.Name()]
		}
		for method := range methods {
			l := &list{catalogue: c, source: s, method: mcp.MethodNamed(method), shares: map[shareKey]*share{}}
			if had != nil && had.Lister == src.Lister && had.Names.Same(src.Names) {
				l.inherit(had.lists[method])
			}
			s.lists[method] = l
		}
		c.sources = append(c.sources, s)
		c.byName[src.Names.Name()] = s
	}
	return c
}

func defaults(o *Options) {
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Default == 0 {
		o.Default = time.Minute
	}
	if o.Late == nil {
		o.Late = func(string, *mcp.Peer, mcp.ChangeKind) {}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// Close ends all requests. Lists that wait for one go on with what there is, and so do
// those that come later.
func (c *Catalogue) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.work.Wait()
}

// start runs a request, unless the catalogue is closed. It ends when the backend has
// answered, with its patience, or with the catalogue.
func (c *Catalogue) start(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(run)
	}
	return !c.closed
}

// Changed says that lists of a backend have changed for those who see what peer does; nil
// is for everybody.
func (c *Catalogue) Changed(backend string, peer *mcp.Peer, kind mcp.ChangeKind) {
	s := c.byName[backend]
	if s == nil {
		return
	}
	for _, l := range s.lists {
		if l.method.Change == kind {
			l.changed(peer)
		}
	}
}

// Forget forgets what a backend has listed for those who see what peer does, because nobody
// does any more, and ends their requests. What it lists for everybody stays.
func (c *Catalogue) Forget(backend string, peer *mcp.Peer) {
	s := c.byName[backend]
	if s == nil {
		return
	}
	key := s.key(peer)
	for _, l := range s.lists {
		l.forget(key)
	}
}

// who says who sees what a peer does. A backend may get the access token that the peer came
// with, or one that was exchanged for it, and one token may be worth less than another of
// the same user.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func (s *source) who(peer *mcp.Peer) who {
	return who{s.key(peer), guard.TokenDigest(peer.Authorization)}
}

// key identifies those who share a connection with a peer.
func (s *source) key(peer *mcp.Peer) string {
	if s.Key == nil {
		return peer.Principal
	}
	return s.Key(peer)
}

func (s *source) notifies(kind mcp.ChangeKind) bool { return s.Notifies != nil && s.Notifies(kind) }
