//go:build !race

package streamable_test

import (
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// What one typed call may cost a client over HTTP, whether the answer comes as
// JSON or as an event stream. Nearly all of it is net/http's own share. The
// race detector makes its own allocations.
const (
	maxClientAllocations = 125
	maxClientBytes       = 10 << 10
)

func TestBudgetOfAClientsCall(t *testing.T) {
	for _, r := range []mcp.Revision{mcp.Revision20260728, mcp.Revision20251125} {
		for _, events := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/events=%t", r, events), func(t *testing.T) {
				result := testing.Benchmark(func(b *testing.B) { benchmarkClient(b, r, events) })
				if got := result.AllocsPerOp(); got > maxClientAllocations {
					t.Errorf("a call makes %d allocations; the budget is %d", got, maxClientAllocations)
				}
				if got := result.AllocedBytesPerOp(); got > maxClientBytes {
					t.Errorf("a call takes %d bytes; the budget is %d", got, maxClientBytes)
				}
				t.Logf("%d allocations, %d bytes", result.AllocsPerOp(), result.AllocedBytesPerOp())
			})
		}
	}
}
