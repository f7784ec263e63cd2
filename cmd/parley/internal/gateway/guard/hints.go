package guard

import "github.com/parley-mcp/parley/mcp"

// Hints are what a tool says that it does to the world.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// HintsOf returns the hints of annotations, nil for none, with the defaults of the
// specification for those that are not given.
//
// Spec: 2026-07-28 server/tools#data-types.
func HintsOf(a *mcp.ToolAnnotations) Hints {
	if a == nil {
		a = &mcp.ToolAnnotations{}
	}
	unless := func(hint *bool) bool { return hint == nil || *hint }
	return Hints{
		ReadOnly:    a.ReadOnlyHint,
		Destructive: !a.ReadOnlyHint && unless(a.DestructiveHint),
		Idempotent:  a.ReadOnlyHint || a.IdempotentHint,
		OpenWorld:   unless(a.OpenWorldHint),
	}
}
