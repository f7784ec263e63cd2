package policy

import "github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"

var _ guard.Keeper = (*Policy)(nil)

// Keeps implements guard.Keeper: what policies do not permit is not there for a client.
func (p *Policy) Keeps() bool { return !p.opts.DryRun }
