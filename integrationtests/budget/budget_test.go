//go:build !race

package budget_test

import "testing"

// What one validated typed call may cost a server on a stream of lines, from
// the incoming frame to the outgoing one. The race detector adds its own
// allocations.
const (
	maxAllocations = 40
	maxBytes       = 4 << 10
)

func TestBudgetOfACall(t *testing.T) {
	for name, f := range callFrames {
		t.Run(name, func(t *testing.T) {
			result := testing.Benchmark(func(b *testing.B) { benchmarkCall(b, f) })
			if got := result.AllocsPerOp(); got > maxAllocations {
				t.Errorf("a call makes %d allocations; the budget is %d", got, maxAllocations)
			}
			if got := result.AllocedBytesPerOp(); got > maxBytes {
				t.Errorf("a call takes %d bytes; the budget is %d", got, maxBytes)
			}
			t.Logf("%d allocations, %d bytes", result.AllocsPerOp(), result.AllocedBytesPerOp())
		})
	}
}
