package policy

import "github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"

var _ guard.Decider = (*Policy)(nil)

// Decides implements guard.Decider.
func (p *Policy) Decides() {}
