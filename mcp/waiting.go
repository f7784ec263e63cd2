package mcp

import (
	"context"

	"github.com/parley-mcp/parley/internal/waiting"
)

// Waiting says that the call of ctx waits for the user of this side, for
// example to log in, until end is called: that time does not count as the
// server's. A transport calls it. Without a call in ctx it does nothing.
func Waiting(ctx context.Context) (end func()) { return waiting.Begin(ctx) }
