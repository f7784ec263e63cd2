package era

import (
	"log/slog"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// WithDefaults returns a copy of opts, which may be nil, in which every field
// that was not set has its default, except StateKeys.
func WithDefaults(opts *mcp.ServeOptions) mcp.ServeOptions {
	var d mcp.ServeOptions
	if opts != nil {
		d = *opts
	}
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	setDefault(&d.MaxMessageBytes, jsonrpc.DefaultMaxBytes)
	setDefault(&d.MaxDepth, jsonrpc.DefaultMaxDepth)
	setDefault(&d.MaxInFlight, 1024)
	setDefault(&d.StateTTL, 15*time.Minute)
	setDefault(&d.AnswerTimeout, 15*time.Minute)
	setDefault(&d.MaxRounds, 16)
	setDefault(&d.ChangeWindow, 10*time.Millisecond)
	setDefault(&d.DrainTimeout, time.Second)
	if d.Drops == nil {
		d.Drops = mcp.ProcessDrops()
	}
	return d
}

func setDefault[T int | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}
