package inspect

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/revision"
)

// offered is how many events are offered to resume after.
const offered = 50

// Why nothing can be resumed, besides that the connection is not up.
const (
	overPipes = "A command is reached through pipes, which cannot be resumed: what breaks off is lost with the process. Reconnecting starts it anew."
	overOld   = "HTTP+SSE cannot be resumed: its stream is the session, and ends with it."
	ofRequest = "This revision has no streams that can be resumed: there is no session, a request whose stream breaks off is lost, and subscriptions are opened anew."
	noEvents  = "No event with an ID has come in this session. Only a stream whose events have IDs can be resumed, and a server need not give them any: an answer in plain JSON has none."
)

// unresumable says why a server cannot be asked for the rest of a stream, nil if it can.
func (c *Connection) unresumable() *web.Error {
	refused := func(why string) *web.Error { return web.Errorf(http.StatusConflict, "no_resume", "%s", why) }
	if c.wished().URL == "" {
		return refused(overPipes)
	}
	cl, err := c.live()
	if err != nil {
		return refused(err.Error())
	}
	if facts := revision.Of(cl.Revision()); facts == nil || facts.Stateless {
		return refused(ofRequest)
	}
	if transport, _ := c.observed().found(); transport == overSSE {
		return refused(overOld)
	}
	return nil
}

// replayable says after which events the server can be asked to resume, or why there is
// nothing to resume.
func (*traffic) replayable(c *Connection, r *web.Request) (any, error) {
	l, rows, why := lens(c, r), []record.Row{}, ""
	if refused := c.unresumable(); refused != nil {
		why = refused.Message
	} else {
		for _, h := range c.newestEvents(offered) {
			rows = append(rows, l.Row(h))
		}
		if len(rows) == 0 {
			why = noEvents
		}
	}
	return struct {
		Why    string       `json:"why"`
		Events []record.Row `json:"events"`
	}{why, rows}, nil
}

func (c *Connection) newestEvents(most int) []record.Head {
	return c.Frames.Events(c.observed().place().session, most)
}

// replays is the replay of a connection that is under way.
type replays struct {
	mu   sync.Mutex
	stop context.CancelFunc // nil if there was none
}

// begin ends the one before.
func (p *replays) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
	ctx, p.stop = context.WithTimeout(ctx, replayLongest)
	return ctx, p.stop
}

// replay asks the server for what came after an event, as a client does that has lost the
// rest. The client gets none of it, so that it handles nothing twice. Where a server
// takes the stream away from the client for that, the client resumes it for itself.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery (2).
func (t *traffic) replay(c *Connection, r *web.Request) (any, error) {
	var wanted struct {
		Event string `json:"event"`
	}
	if err := r.Read(&wanted); err != nil {
		return nil, err
	}
	if refused := c.unresumable(); refused != nil {
		return nil, refused
	}
	newest := c.newestEvents(1)
	if wanted.Event == "" && len(newest) == 0 {
		return nil, web.Errorf(http.StatusConflict, "no_resume", "%s", noEvents)
	}
	if wanted.Event == "" {
		wanted.Event = newest[0].Event
	}
	after := c.Frames.State().Last
	one := newReplay(c, wanted.Event, t.patience)
	c.spawn(func(ctx context.Context) {
		ctx, stop := partOf[replays](c).begin(ctx)
		defer stop()
		one.run(ctx, stop)
	})
	select {
	case got := <-one.began:
		got.After, got.Said = after, lens(c, r).Text(got.Said)
		return got, got.failed
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// begun is how a replay began.
type begun struct {
	Event  string `json:"event"` // after which
	After  uint64 `json:"after"` // the last frame before
	Status int    `json:"status"`
	Said   string `json:"said,omitzero"` // in a refusal

	failed error // there was no answer
}

// patience is how long a replay waits. A server may go on with a stream for as long as the
// session lives, and while the page reads it, the client may not.
type patience struct {
	answer time.Duration // for the server to begin to answer
	quiet  time.Duration // for the next event
}

// Bounds of a replay.
const (
	replayLongest = 20 * time.Second
	replayEvents  = 20_000
)
