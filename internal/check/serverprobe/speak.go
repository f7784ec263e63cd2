package serverprobe

import (
	"context"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/revision"
)

// Speak begins to speak to a server in a revision, for a judge that has probes of
// its own. The log may be one that others use, too. The caller must call Close.
func Speak(ctx context.Context, t Target, o *Options, f *revision.Facts, log *peer.Log) (*X, error) {
	x := newX(ctx, t, o, f, newCommon(o))
	x.Log = log
	if err := x.begin(); err != nil {
		x.end()
		return nil, err
	}
	return x, nil
}

// Survey lists what the server offers, and uses a part of it; Offer has it then.
func (x *X) Survey() {
	x.offerTools()
	x.survey()
}

// Close ends all conversations.
func (x *X) Close() { x.end() }
