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

// checkTools refuses a conversation in which a message does not hold exactly
// the results of the tools that the message before it uses.
//
// Spec: 2025-11-25 client/sampling#error-handling.
func checkTools(messages []*mcp.SamplingMessage) error {
	open := map[string]bool{}
	for i, m := range messages {
		if m == nil {
			return mcp.InvalidParams("messages[%d] is null", i)
		}
		results, uses := 0, map[string]bool{}
		for _, block := range m.Content {
			switch block := block.(type) {
			case *mcp.ToolResultContent:
				if !open[block.ToolUseID] {
					return mcp.InvalidParams("messages[%d]: nothing asked for the tool result %q", i, block.ToolUseID)
				}
				delete(open, block.ToolUseID)
				results++
			case *mcp.ToolUseContent:
				uses[block.ID] = true
			}
		}
		if results > 0 && results != len(m.Content) {
			return mcp.InvalidParams("messages[%d]: tool results mixed with other content", i)
		}
		if len(open) > 0 {
			return mcp.InvalidParams("messages[%d]: tool result missing in request", i)
		}
		open = uses
	}
	if len(open) > 0 {
		return mcp.InvalidParams("tool result missing in request")
	}
	return nil
}
