package client

import (
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/rates"
	"github.com/parley-mcp/parley/mcp"
)

// The defaults of the rates in Options. Both allow one round with as many questions as
// a server may ask at once.
var (
	defaultElicitRate = mcp.Rate{PerSecond: 2, Burst: 256}
	defaultSampleRate = mcp.Rate{PerSecond: 5, Burst: 256}
)

// underRate counts a question, and returns the error for one that is over the rate.
//
// Spec: 2025-11-25 client/sampling#security-considerations.
// Spec: 2025-11-25 client/elicitation#security-considerations.
func underRate(bound *rates.Keyed[struct{}], what string) error {
	wait := bound.Take(struct{}{})
	if wait == 0 {
		return nil
	}
	return fmt.Errorf("too many %s: this client answers %g a second; the next in %v", what, bound.PerSecond(), (wait + time.Millisecond - 1).Truncate(time.Millisecond))
}
