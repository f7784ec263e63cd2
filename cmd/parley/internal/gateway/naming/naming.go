// Package naming turns the names, URIs and task IDs of many backends into those that
// the clients of a gateway see, and back. What is shown depends on nothing but the rules
// of its own backend, so a name that a client has stored stays what it is when others
// come and go.
//
//	a tool or prompt NAME       BACKEND__NAME, or as it was renamed
//	ui://X and skill://X        ui://BACKEND/X and skill://BACKEND/X
//	any other URI, or template  mcp:BACKEND:URI
//	the ID of a task            BACKEND:ID
//
// No two things of a kind are shown alike, and a name, a URI or an ID says which backend
// it belongs to. All of them but shortened names say what they are called there, too.
package naming

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/toolname"
	"github.com/parley-mcp/parley/mcp"
)

// Rules are how the features of a backend are named, and which of them there are.
type Rules struct {
	// Backend is the backend's name. toolname.ValidServer says what it can be.
	Backend string
	// Tools and Prompts select by name, and Resources by URI or template.
	Tools, Prompts, Resources Selection
	// RenameTools and RenamePrompts are what names of the backend are replaced with,
	// without the backend's name before them.
	RenameTools, RenamePrompts map[string]string
	// OverrideTools, OverridePrompts and OverrideResources replace what features say of
	// themselves, by the backend's name of the tool or the prompt, and by the URI of the
	// resource or template.
	OverrideTools, OverridePrompts, OverrideResources map[string]Override
}

// Names are the rules of all backends. They do not change, and may be used concurrently.
type Names struct {
	backends map[string]*Backend
	tools    map[string]renamed // by the name that is shown
	prompts  map[string]renamed
}

// renamed is what has a name of its own.
type renamed struct {
	backend *Backend
	own     string
}

// Backend shows what one backend has.
type Backend struct {
	name  string
	rules Rules
}

// New checks rules.
func New(rules []Rules) (*Names, error) {
	n := &Names{backends: map[string]*Backend{}, tools: map[string]renamed{}, prompts: map[string]renamed{}}
	for i := range rules {
		b := &Backend{name: rules[i].Backend, rules: rules[i]}
		if !toolname.ValidServer(b.name) {
			return nil, fmt.Errorf("backend %q: a name has up to 32 of a-z, 0-9 and -, and does not begin with -", b.name)
		}
		if n.backends[b.name] != nil {
			return nil, fmt.Errorf("there are two backends %q", b.name)
		}
		n.backends[b.name] = b
	}
	for i := range rules {
		b := n.backends[rules[i].Backend]
		if own, err := n.rename(n.tools, b, b.rules.RenameTools); err != nil {
			return nil, &RenameError{b.name, own, false, err}
		}
		if own, err := n.rename(n.prompts, b, b.rules.RenamePrompts); err != nil {
			return nil, &RenameError{b.name, own, true, err}
		}
	}
	return n, nil
}

// rename checks the names that a backend's features get. None can be one that the rule
// makes: whose it is would depend on what else there is.
func (n *Names) rename(taken map[string]renamed, b *Backend, names map[string]string) (own string, err error) {
	for _, own := range slices.Sorted(maps.Keys(names)) {
		shown := names[own]
		if !toolname.Fits(shown) {
			return own, fmt.Errorf("%q is not 1 to %d of A-Z, a-z, 0-9, _ and -", shown, toolname.MaxLength)
		}
		if other := n.byPrefix(shown); other != nil {
			return own, fmt.Errorf("%q begins like the names of backend %q", shown, other.name)
		}
		if other, ok := taken[shown]; ok {
			return own, fmt.Errorf("%q of backend %q is %q already", other.own, other.backend.name, shown)
		}
		taken[shown] = renamed{b, own}
	}
	return "", nil
}

// RenameError says that a tool or a prompt cannot be called what it should be called.
type RenameError struct {
	// Backend has what it calls Own, a prompt or a tool.
	Backend, Own string
	Prompt       bool
	Err          error
}

// Error says what cannot be renamed, and why.
func (e *RenameError) Error() string {
	kind := "tools"
	if e.Prompt {
		kind = "prompts"
	}
	return fmt.Sprintf("backend %q: %s: rename %q: %v", e.Backend, kind, e.Own, e.Err)
}

// Unwrap returns Err.
func (e *RenameError) Unwrap() error { return e.Err }

// Backend returns the backend of this name, or nil.
func (n *Names) Backend(name string) *Backend { return n.backends[name] }

// Name is the backend's name.
func (b *Backend) Name() string { return b.name }

// Same reports whether another backend has the same rules, and so shows the same.
func (b *Backend) Same(other *Backend) bool { return reflect.DeepEqual(b.rules, other.rules) }

// Own finds what a client has named: its backend, which is nil if there is none, and the
// backend's own name for it. known is false if only a list of the backend tells that.
func (n *Names) Own(kind mcp.FeatureKind, shown string) (b *Backend, own string, known bool) {
	switch kind {
	case mcp.ToolFeature:
		return n.ownName(n.tools, shown, func(b *Backend) map[string]string { return b.rules.RenameTools })
	case mcp.PromptFeature:
		return n.ownName(n.prompts, shown, func(b *Backend) map[string]string { return b.rules.RenamePrompts })
	case mcp.ResourceFeature, mcp.TemplateFeature:
		b, own = n.ownURI(shown)
	case mcp.TaskFeature:
		b, own = n.ownTask(shown)
	}
	return b, own, b != nil
}

// Shown returns how clients see a feature of the backend.
func (b *Backend) Shown(kind mcp.FeatureKind, own string) string {
	switch kind {
	case mcp.ToolFeature:
		return b.showName(b.rules.RenameTools, own)
	case mcp.PromptFeature:
		return b.showName(b.rules.RenamePrompts, own)
	case mcp.ResourceFeature, mcp.TemplateFeature:
		return b.showURI(own)
	case mcp.TaskFeature:
		return b.name + ":" + own
	}
	return own
}

// ownTask splits the ID of a task.
func (n *Names) ownTask(shown string) (*Backend, string) {
	name, own, ok := strings.Cut(shown, ":")
	if !ok || n.backends[name] == nil {
		return nil, ""
	}
	return n.backends[name], own
}
