package mcp

import (
	"context"

	"github.com/parley-mcp/parley/internal/waiting"
)

// Waiting says that, until end is called, the call that ctx belongs to waits
// for the user of this side, for example to log in: that time does not count
// against the server. Transports call it. If ctx belongs to no call, it does
// nothing.
func Waiting(ctx context.Context) (end func()) { return waiting.Begin(ctx) }
