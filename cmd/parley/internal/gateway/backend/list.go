package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

const (
	// maxPages and maxBytes bound a list, for servers whose lists do not end.
	maxPages = 1000
	maxBytes = 64 << 20
)

// List returns the pages of a list as the server sends them to a peer, in order. There
// are none if the server does not have the list.
func (b *Backend) List(ctx context.Context, peer *mcp.Peer, method string) ([]json.RawMessage, error) {
	var (
		pages  []json.RawMessage
		size   int
		params json.RawMessage
		seen   = map[string]bool{} // cursors
	)
	for {
		page, err := b.page(ctx, peer, method, params)
		if absent, ok := errors.AsType[*mcp.MethodNotFoundError](err); ok && absent.Method == method {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		size += len(page)
		next := wire.Find(page, "nextCursor")
		if len(next) == 0 || next[0] != '"' {
			return pages, nil
		}
		if len(pages) >= maxPages || size >= maxBytes {
			return nil, plain.Errorf(nil, "the server %q: %s goes on after %d pages and %d bytes", b.opts.Name, method, len(pages), size)
		}
		if seen[string(next)] {
			return nil, plain.Errorf(nil, "the server %q: %s has the cursor %.100s again", b.opts.Name, method, next)
		}
		seen[string(next)] = true
		params = json.RawMessage(`{"cursor":` + string(next) + `}`)
	}
}

// page fetches one page. It is asked for as by a client without a session: the server's
// questions cannot be put to somebody who only gets a list.
func (b *Backend) page(ctx context.Context, peer *mcp.Peer, method string, params json.RawMessage) (json.RawMessage, error) {
	x := &mcp.Exchange{ID: jsonrpc.IntID(1), Method: method, Params: params, Peer: *peer, Back: silent{}}
	x.Peer.Revision = newest
	result, err := b.Serve(ctx, x, true)
	if err != nil {
		if ctx.Err() != nil {
			b.life.missed()
		}
		return nil, err
	}
	raw, ok := result.(json.RawMessage)
	if !ok {
		return nil, fmt.Errorf("the server %q: %s has a result of type %T", b.opts.Name, method, result)
	}
	return raw, nil
}

// newest is the newest revision, which has no sessions.
var newest = func() mcp.Revision {
	all := revision.All()
	return all[len(all)-1].Revision
}()

// silent is the way back of a request that the gateway makes by itself: nobody is there.
type silent struct{}

// errNobody answers what cannot be asked.
var errNobody = errors.New("the gateway itself cannot answer questions")

func (silent) Notify(context.Context, string, any) error { return nil }
func (silent) LogEnabled(mcp.LoggingLevel) bool          { return false }

func (silent) Input(context.Context, ...mcp.InputRequest) ([]json.RawMessage, error) {
	return nil, errNobody
}

func (silent) Once(ctx context.Context, _ string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return f(ctx)
}
