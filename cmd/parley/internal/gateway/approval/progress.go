package approval

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// telling is how often a client is told that its call waits: clients give calls up that
// they have not heard of for a minute or so.
const telling = 10 * time.Second

// news tell a client that has asked for progress that its call waits.
type news struct {
	x      *mcp.Exchange
	ticker *time.Ticker
	due    <-chan time.Time // never, if the client has not asked
	told   int
}

func newNews(x *mcp.Exchange) *news {
	n := &news{x: x}
	if !x.ProgressToken.IsZero() {
		n.ticker = time.NewTicker(telling)
		n.due = n.ticker.C
	}
	return n
}

// tell tells the client. Progress has to grow, also from here to what the backend says
// later, so that these are below all that it can say.
//
// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
func (n *news) tell(ctx context.Context, text string) {
	if n.ticker == nil {
		return
	}
	n.told++
	_ = n.x.Back.Notify(ctx, mcp.NoteProgress, &mcp.ProgressParams{ // the client is gone
		ProgressToken: n.x.ProgressToken, Progress: -1 / float64(n.told), Message: text,
	})
}

func (n *news) stop() {
	if n.ticker != nil {
		n.ticker.Stop()
	}
}
