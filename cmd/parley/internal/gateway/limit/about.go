package limit

import (
	"errors"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

var errNever = errors.New("the rule can never apply: requests that reach no server count only if they are for lists, where the method is named without backend and subject, and for rate and concurrent alone")

// canApply refuses a rule that nothing can be held to.
func (r *Rule) canApply() error {
	if slices.ContainsFunc(mcp.Methods(), r.isAbout) {
		return nil
	}
	return errNever
}

// isAbout reports whether requests of a method can be held to the rule.
func (r *Rule) isAbout(m *mcp.Method) bool {
	switch {
	case m.Notification || m.FromServer || m.Connection:
		return false
	case m.List || m.Name == mcp.MethodListTasks:
		return r.covers(m) && (r.Rate > 0 || r.Concurrent > 0)
	case m.Feature == 0 && m.Capability != mcp.CapCompletions:
		return false
	}
	return matches(r.Method, m.Name)
}
