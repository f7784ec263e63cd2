package era

import (
	"context"
	"errors"
	"log/slog"

	"github.com/parley-mcp/parley/mcp"
)

// described asks a handler what it offers to a peer. If that panics, the request
// fails, as it does when Serve panics.
func described(ctx context.Context, h mcp.Handler, peer *mcp.Peer, log *slog.Logger) (d *mcp.Description, err error) {
	var result any // rescue wants one; there is none yet
	defer rescue(ctx, h, "Describe", log, &result, &err)
	if d = h.Describe(ctx, peer); d == nil {
		return nil, errUndescribed
	}
	return d, nil
}

var errUndescribed = errors.New("the handler's Describe returned nil; it must return an *mcp.Description")

// Revisions returns the revisions that a handler speaks. If it fails to say, that
// is nil, which stands for all: the requests that follow fail with the reason.
func Revisions(ctx context.Context, h mcp.Handler, log *slog.Logger) []mcp.Revision {
	d, err := described(ctx, h, nil, log)
	if err != nil {
		return nil
	}
	return d.Revisions
}

// crashes reports whether a handler wants a panic to end the process.
func crashes(ctx context.Context, h mcp.Handler) (yes bool) {
	defer func() { _ = recover() }() // it may be Describe that panics: no
	d := h.Describe(ctx, nil)
	return d != nil && d.CrashOnPanic
}
