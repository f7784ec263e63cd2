package gateway

import (
	"context"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// again returns what finds an operation once more for a guard that has waited: meanwhile
// the setup can be another one, and so can what its backend says.
func (v *View) again(x *mcp.Exchange, m *mcp.Method) func(context.Context) (*guard.Operation, error) {
	return func(ctx context.Context) (*guard.Operation, error) {
		s := v.g.current.Load()
		now := v.of(s, x.Peer.Principal)
		if now.part(s, x.Peer.Principal) == nil {
			return nil, notForYou()
		}
		op, err := now.resolve(ctx, s, x, m)
		if err != nil {
			return nil, err
		}
		_, err = guard.Chain(guard.Deciders(s.guards), allow)(ctx, &op.Operation)
		return &op.Operation, err
	}
}

// notForYou refuses who may not use a view.
func notForYou() error {
	return &mcp.ForbiddenError{Reason: "this view of the gateway is not for you"}
}
