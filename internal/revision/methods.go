package revision

import (
	"maps"

	"github.com/parley-mcp/parley/mcp"
)

// methods are the names of the methods and notifications that a revision has.
type methods map[string]bool

// Has reports whether the revision has a method or a notification of the
// protocol.
func (f *Facts) Has(method string) bool { return f.methods[method] }

// changed returns the methods of the next revision: those of m with some added
// and some dropped.
func (m methods) changed(added, dropped []string) methods {
	next := maps.Clone(m)
	for _, name := range added {
		next[name] = true
	}
	for _, name := range dropped {
		delete(next, name)
	}
	return next
}

// first are the methods of 2024-11-05.
var first = methods{}.changed([]string{
	mcp.MethodInitialize, mcp.NoteInitialized, mcp.MethodPing, mcp.NoteCancelled, mcp.NoteProgress,
	mcp.MethodListTools, mcp.MethodCallTool, mcp.NoteToolsChanged,
	mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodReadResource, mcp.NoteResourcesChanged,
	mcp.MethodSubscribe, mcp.MethodUnsubscribe, mcp.NoteResourceUpdated,
	mcp.MethodListPrompts, mcp.MethodGetPrompt, mcp.NotePromptsChanged, mcp.MethodComplete,
	mcp.MethodSetLevel, mcp.NoteMessage,
	mcp.MethodSample, mcp.MethodRoots, mcp.NoteRootsChanged,
}, nil)

// Drop removes a method from the revision, for tests: see Add.
func (f *Facts) Drop(method string) { f.methods = f.methods.changed(nil, []string{method}) }
