package reference

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type countArgs struct {
	Steps int64 `json:"steps" description:"How far to count" default:"10" minimum:"1" maximum:"10000"`
	Delay int64 `json:"delay_ms" description:"Milliseconds before each step" default:"100" minimum:"0" maximum:"1000"`
}

type counted struct {
	Steps     int64 `json:"steps" description:"How far it counted"`
	ElapsedMS int64 `json:"elapsed_ms" description:"How long it took, in milliseconds"`
}

func (r *reference) addCount() {
	server.AddTool(r.srv, mcp.Tool{
		Name:        "count_slowly",
		Title:       "Count slowly",
		Description: "Counts up with a pause before each step and reports its progress. It stops when it is cancelled.",
		Annotations: readOnly(),
	}, countSlowly)
}

func countSlowly(ctx context.Context, call *server.Call, in countArgs) (counted, error) {
	begun := time.Now()
	ticks := time.NewTimer(0)
	defer ticks.Stop()
	for step := int64(1); step <= in.Steps; step++ {
		ticks.Reset(time.Duration(in.Delay) * time.Millisecond)
		select {
		case <-ctx.Done():
			return counted{}, ctx.Err()
		case <-ticks.C:
		}
		call.Progress(ctx, float64(step), float64(in.Steps), fmt.Sprintf("Step %d of %d", step, in.Steps))
	}
	return counted{Steps: in.Steps, ElapsedMS: time.Since(begun).Milliseconds()}, nil
}
