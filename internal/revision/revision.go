// Package revision describes each released revision of the protocol. It is the only
// place that knows their order. The parts that speak a wire format ask for a
// property by name; nothing compares dates.
package revision

import (
	"slices"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/mcp"
)

// Facts are the properties of one revision: one field for each changelog entry
// that changes behaviour.
type Facts struct {
	Revision mcp.Revision

	methods methods // see Has

	// Since 2025-03-26.

	// StreamableHTTP: Streamable HTTP replaces HTTP+SSE.
	StreamableHTTP bool
	// Batches: a frame may be an array of messages. Only in 2025-03-26.
	Batches bool
	// Audio: content may be audio.
	Audio bool
	// ToolAnnotations: tools carry hints about what they do.
	ToolAnnotations bool
	// ProgressMessage: progress notifications carry a message.
	ProgressMessage bool
	// Completions: completion is a capability that must be declared.
	Completions bool

	// Since 2025-06-18.

	// StructuredContent: tools have output schemas and structured results.
	StructuredContent bool
	// Elicitation: the server may ask the user.
	Elicitation bool
	// ResourceLinks: content may point to a resource.
	ResourceLinks bool
	// Titles: names are accompanied by a title for people.
	Titles bool
	// MetaOnTypes: tools, resources, prompts and content carry _meta, with any key.
	MetaOnTypes bool
	// LastModified: annotations carry the time of the last change.
	LastModified bool
	// ResourceMetadata: authorization servers are found by a document of the
	// server that they protect. Before, they are at its origin.
	ResourceMetadata bool
	// CompletionContext: completion requests carry the other arguments.
	CompletionContext bool

	// Since 2025-11-25.

	// Icons: features and implementations carry icons.
	Icons bool
	// ImplementationDetails: implementations have a description and a website.
	ImplementationDetails bool
	// ElicitURL: the user may be sent to a URL.
	ElicitURL bool
	// ElicitationID: a URL elicitation has an identifier, and there is a
	// notification when it is over. Only in 2025-11-25.
	ElicitationID bool
	// RichForms: forms have defaults on every field, and titled and multiple
	// choices.
	RichForms bool
	// SamplingTools: sampling may offer tools, and content is one block or a list.
	SamplingTools bool
	// Tasks: clients ask for a task instead of a result, capabilities say for what,
	// and tools say whether they can run as tasks. Only in 2025-11-25.
	Tasks bool
	// Polling: a server may end the stream of a request that is still running;
	// streams begin with an event that says how to reconnect.
	Polling bool
	// ErrorWithoutID: an error about an unreadable frame has no id member.
	ErrorWithoutID bool

	// Since 2026-07-28.

	// Stateless: every request carries what is needed to serve it; there are
	// no sessions and no requests from the server.
	Stateless bool
	// AnyStructuredContent: structured content and output schemas need not be
	// objects.
	AnyStructuredContent bool
	// RootsListChanged: clients announce changes of their roots. Only up to
	// 2025-11-25.
	RootsListChanged bool
	// EmptyCursors: an empty cursor is one like any other. Earlier, servers use it
	// to say that a list has ended.
	EmptyCursors bool
	// Extensions: capabilities have an extensions member, for any extension.
	Extensions bool
	// Deprecated are the capabilities, of clients and servers, that the revision
	// deprecates.
	Deprecated []string
	// ResourceNotFound is the code for a resource that does not exist.
	ResourceNotFound int64
}

// Of returns the facts of a revision, or nil if it is unknown.
func Of(r mcp.Revision) *Facts {
	for _, f := range table {
		if f.Revision == r {
			return f
		}
	}
	return nil
}

// Session returns the revisions among allowed that open sessions, newest
// first. nil allows all.
func Session(allowed []mcp.Revision) []mcp.Revision { return pick(allowed, false) }

// Stateless returns the revisions among allowed that are stateless, newest
// first. nil allows all.
func Stateless(allowed []mcp.Revision) []mcp.Revision { return pick(allowed, true) }

// Newest returns the revisions among allowed, newest first. nil allows all.
func Newest(allowed []mcp.Revision) []mcp.Revision {
	return append(Stateless(allowed), Session(allowed)...)
}

func pick(allowed []mcp.Revision, stateless bool) []mcp.Revision {
	var picked []mcp.Revision
	for i := len(table) - 1; i >= 0; i-- {
		if f := table[i]; f.Stateless == stateless && Permits(allowed, f.Revision) {
			picked = append(picked, f.Revision)
		}
	}
	return picked
}

// Default returns the facts to apply to a message that does not say which
// revision it belongs to: those of the newest allowed revision of an era, or, if
// none of that era is allowed, of the newest allowed revision. nil allows all.
func Default(allowed []mcp.Revision, stateless bool) *Facts {
	for _, some := range [][]mcp.Revision{allowed, nil} {
		if rs := pick(some, stateless); len(rs) > 0 {
			return Of(rs[0])
		}
	}
	return table[len(table)-1]
}

// Add registers a made-up revision, for tests: change is applied to a copy of the
// facts of an existing one. It must be called before anything else uses the table.
func Add(date string, like mcp.Revision, change func(*Facts)) mcp.Revision {
	f := *Of(like)
	f.Revision = access.AddRevision(date).(mcp.Revision) //nolint:forcetypeassert // it is what AddRevision returns
	if change != nil {
		change(&f)
	}
	table = append(table, &f)
	return f.Revision
}

// Oldest returns the facts of the first revision. It requires the least of a peer,
// so it suits messages to a peer whose revision is not known yet.
func Oldest() *Facts { return table[0] }

// AllContent reports whether the revision has every kind and member of content
// that this module knows: then nothing has to be cleared.
func (f *Facts) AllContent() bool {
	return f.Audio && f.ResourceLinks && f.MetaOnTypes && f.LastModified && f.Titles && f.Icons
}

// All returns the facts of every revision, oldest first. They are shared and
// must not be changed.
func All() []*Facts { return table }

// Permits reports whether allowed contains a revision; nil allows all.
func Permits(allowed []mcp.Revision, r mcp.Revision) bool {
	if allowed == nil {
		return true
	}
	return slices.Contains(allowed, r)
}

// HasSession reports whether allowed contains a revision with sessions; nil allows
// all.
func HasSession(allowed []mcp.Revision) bool {
	return allowed == nil || slices.ContainsFunc(allowed, func(r mcp.Revision) bool {
		f := Of(r)
		return f != nil && !f.Stateless
	})
}

// Common returns the newest revision that both lists name, or the zero
// Revision.
func Common(ours []mcp.Revision, theirs []string) mcp.Revision {
	for _, r := range Newest(ours) {
		for _, t := range theirs {
			if r.String() == t {
				return r
			}
		}
	}
	return mcp.Revision{}
}
