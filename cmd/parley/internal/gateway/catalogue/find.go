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
// most of them are in no list.
func (c *Catalogue) Find(ctx context.Context, peer *mcp.Peer, backend string, kind mcp.FeatureKind, shown string) *guard.Definition {
	s := c.byName[backend]
	if s == nil {
		return nil
	}
	for _, method := range listedBy[kind] {
		l := s.lists[method]
		searches := kind == mcp.ToolFeature || kind == mcp.PromptFeature
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
