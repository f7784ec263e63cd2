package inspect

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-mcp/parley/cmd/parley/internal/serverlist"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/internal/wire"
)

// outputCheck says whether the result of a tool fits the tool's output schema.
type outputCheck struct {
	Fits bool `json:"fits"`
	// Schema is the output schema that was applied.
	Schema json.RawMessage `json:"schema"`
	// Problems are the first things that do not fit, and More is how many others there are.
	Problems []misfit `json:"problems,omitzero"`
	More     int      `json:"more,omitzero"`
}

// misfit is what does not fit, and where.
type misfit struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

func failedTool(result json.RawMessage) bool { return result != nil && toolresult.Failed(result) }

// checkOutput applies the output schema that the server has listed for a tool. It
// returns nil if there is none, or if the tool has failed.
//
// Spec: 2026-07-28 server/tools#output-schema.
func (c *Connection) checkOutput(ctx context.Context, tool string, result json.RawMessage) *outputCheck {
	output := c.outputSchema(ctx, tool)
	if output == nil || failedTool(result) {
		return nil
	}
	check := &outputCheck{Schema: output}
	check.Problems, check.More = misfits(output, wire.Find(result, "structuredContent"))
	check.Fits = len(check.Problems) == 0
	return check
}

// outputSchema returns the output schema of a tool, or nil.
func (c *Connection) outputSchema(ctx context.Context, tool string) json.RawMessage {
	for _, item := range c.list(ctx, serverlist.Tools, false).Items {
		if wire.Is(wire.Find(item, "name"), tool) {
			return wire.Find(item, "outputSchema")
		}
	}
	return nil
}

func misfits(output, structured json.RawMessage) (found []misfit, more int) {
	s, err := schema.Compile(output)
	var unfit *schema.ValidationError
	switch {
	case err != nil:
		return []misfit{{Message: "the tool's output schema cannot be used: " + err.Error()}}, 0
	case structured == nil:
		return []misfit{{Message: "the tool has an output schema, but its result has no structuredContent"}}, 0
	}
	if err = s.Validate(structured); err == nil {
		return nil, 0
	}
	if !errors.As(err, &unfit) {
		return []misfit{{Message: err.Error()}}, 0
	}
	for _, p := range unfit.Problems {
		found = append(found, misfit{p.Pointer, p.Message})
	}
	return found, unfit.More
}
