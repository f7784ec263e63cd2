package cli

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// connect connects over the transport that the card names, and no other; nil revisions are
// those of the flags.
func (r *reality) connect(ctx context.Context, kind, endpoint string, header http.Header, revisions []mcp.Revision) (*client.Client, error) {
	t := target.Target{URL: endpoint, Header: r.target.Header.Clone(), Revision: r.target.Revision}
	if t.Header == nil {
		t.Header = http.Header{}
	}
	maps.Copy(t.Header, header)
	transport, err := r.transport(ctx, t, header)
	if err != nil {
		return nil, err
	}
	if kind == card.SSE {
		return r.app.connectOver(ctx, t, &sse.Client{URL: endpoint, HTTP: transport.HTTP, Header: transport.Header}, revisions)
	}
	transport.NoSSEFallback = true
	return r.app.connectOver(ctx, t, transport, revisions)
}

// transport returns how an endpoint is reached: as the user has said, if it is of the origin
// that the user has named, and otherwise without credentials, encrypted, and outside of
// private networks.
//
// Spec: extensions/server-card docs/discovery#consistency-with-runtime-behavior.
func (r *reality) transport(ctx context.Context, t target.Target, header http.Header) (*streamable.Client, error) {
	u, err := httpcall.ParseURL(t.URL)
	if err != nil {
		return nil, err
	}
	if httpcall.SameOrigin(u, r.finder.at) {
		transport, err := r.app.transport(ctx, t)
		if err != nil {
			return nil, err
		}
		if c, ok := transport.(*streamable.Client); ok {
			return c, nil
		}
		return nil, fmt.Errorf("%s is not reached over HTTP", t.URL)
	}
	policy := safehttp.Options{NamedBy: r.finder.at, MaxBytes: 16 * maxCard, Timeout: 4 * cardTimeout}
	if err := policy.Check(u); err != nil {
		return nil, &failure{code: codeFailed, err: fmt.Errorf("the card names an endpoint elsewhere: %w", err), hint: `"parley info" connects to any URL that you name yourself`}
	}
	return &streamable.Client{URL: t.URL, HTTP: safehttp.New(policy), Header: header, Logger: r.app.logger()}, nil
}
