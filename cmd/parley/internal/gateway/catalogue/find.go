package catalogue

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// listedBy are the lists that features are in.
var listedBy = map[mcp.FeatureKind][]string{
	mcp.ToolFeature:     {mcp.MethodListTools},
	mcp.PromptFeature:   {mcp.MethodListPrompts},
	mcp.ResourceFeature: {mcp.MethodListResources, mcp.MethodListSkills},
	mcp.TemplateFeature: {mcp.MethodListTemplates},
}

const (
	// lookAgain is how long a name that a list lacks keeps it from being fetched for
	// another one: clients that ask for nonsense do not keep backends busy.
	lookAgain = 10 * time.Second
	// lookOften is how long a definition is taken from a list that has changed since it was
	// last fetched for that: some lists change all the time.
	lookOften = time.Second
	// lookOn is how long a definition is taken from a list that has run out.
	lookOn = time.Minute
)

// Find returns what a backend says of a feature, or nil if that is not known. A tool or a
// prompt that is not known is looked for in a new list, but not often. Resources are not:
// most of them are in no list. Where somebody has to be sure, their first list is waited
// for, though.
func (c *Catalogue) Find(ctx context.Context, peer *mcp.Peer, backend string, kind mcp.FeatureKind, shown string, sure bool) *guard.Definition {
	s := c.byName[backend]
	if s == nil {
		return nil
	}
	for _, method := range listedBy[kind] {
		l := s.lists[method]
		searches := kind == mcp.ToolFeature || kind == mcp.PromptFeature
		if !searches && sure {
			if d := l.known(ctx, peer).find(shown); d != nil {
				return d
			}
			continue
		}
		d, p := l.lookup(ctx, peer, shown, searches)
		if p == nil {
			if d != nil {
				return d
			}
			continue
		}
		if h, err := p.await(ctx, peer); err == nil {
			return h.content.find(shown)
		}
	}
	return nil
}

// Templates returns the templates of a backend that a URI can have been made with, as far
// as its list is known; a first one is waited for. uri is the backend's.
func (c *Catalogue) Templates(ctx context.Context, peer *mcp.Peer, backend, uri string) (fit []*guard.Definition) {
	s := c.byName[backend]
	if s == nil {
		return nil
	}
	return s.lists[mcp.MethodListTemplates].known(ctx, peer).fitting(uri)
}

// known returns what a list holds, the first of it if nothing has come yet, and nil if
// nothing comes.
func (l *list) known(ctx context.Context, peer *mcp.Peer) *content {
	held, p := l.first(ctx, peer)
	if p == nil {
		return held
	}
	h, err := p.await(ctx, peer)
	if err != nil {
		return nil
	}
	return h.content
}

// first returns what a list holds, and what has to be waited for if nothing has come yet.
func (l *list) first(ctx context.Context, peer *mcp.Peer) (*content, *pending) {
	whose := l.source.who(peer)
	l.mu.Lock()
	defer l.mu.Unlock()
	k, s := l.share(whose)
	if s.content != nil || time.Since(s.asked) < lookAgain {
		return s.content, nil
	}
	s.asked = time.Now()
	return nil, &pending{list: l, share: s, flight: l.request(ctx, k, s, peer), held: l.hold(s)}
}

// lookup returns a definition, and what has to be waited for if the list must be fetched
// for that. What has not changed, as far as is known, is used for a while longer than
// lists are: that costs the call no time.
func (l *list) lookup(ctx context.Context, peer *mcp.Peer, shown string, searches bool) (*guard.Definition, *pending) {
	whose := l.source.who(peer)
	l.mu.Lock()
	defer l.mu.Unlock()
	k, s := l.share(whose)
	d := s.content.find(shown)
	if !searches {
		return d, nil
	}
	rest := lookAgain
	if d != nil && s.changed {
		rest = lookOften
	}
	switch {
	case d != nil && !s.changed:
		if !s.fresh() && time.Since(s.received) > lookOn {
			l.request(ctx, k, s, peer)
		}
		return d, nil
	case s.content != nil && time.Since(s.asked) < rest:
		return d, nil
	}
	s.asked = time.Now()
	p := &pending{list: l, share: s, flight: l.request(ctx, k, s, peer), held: l.hold(s)}
	if s.slow && s.content != nil {
		return d, nil
	}
	return nil, p
}
