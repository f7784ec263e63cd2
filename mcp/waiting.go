package mcp

import (
	"context"

	"github.com/parley-mcp/parley/internal/waiting"
)

// Waiting says that the call that ctx belongs to waits for the user of this
// side, for example to log in, until end is called. That time does not count
// towards the time limits of the call. Transports call it; where ctx belongs to
// no call, it does nothing.
func Waiting(ctx context.Context) (end func()) { return waiting.Begin(ctx) }
