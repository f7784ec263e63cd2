package backend

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Watch serves an exchange that subscribes, whose filter names things as the server does.
// If the server cannot be reached before ctx reaches its deadline, it is subscribed to when
// it is there again.
func (b *Backend) Watch(ctx context.Context, x *mcp.Exchange) (*mcp.Watching, error) {
	result, err := b.Serve(ctx, x, true)
	_, down := errors.AsType[*UnavailableError](err)
	_, refused := errors.AsType[*jsonrpc.Error](err)
	// A connection that could not be written to until then is an error of its own.
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded)
	if down || err != nil && late && !refused {
		b.life.missed()
		return b.bridge.Await(x), nil //nolint:contextcheck // the subscription outlives the exchange that opens it
	}
	if err != nil {
		return nil, err
	}
	w, ok := result.(*mcp.Watching)
	if !ok {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	return w, nil
}
