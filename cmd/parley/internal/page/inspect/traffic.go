package inspect

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// traffic is the part that shows what travels.
type traffic struct {
	server   *Server
	patience patience
}

func (t *traffic) routes(api *web.API) {
	on := t.server.on
	api.Handle("GET /connections/{c}/traffic", on(t.summary))
	api.Handle("GET /connections/{c}/frames", on(t.frames))
	api.Handle("DELETE /connections/{c}/frames", on(t.clear))
	api.Handle("GET /connections/{c}/frames/numbers", on(t.numbers))
	api.Handle("GET /connections/{c}/frames/{n}", on(t.frame))
	api.Raw("GET /connections/{c}/frames/{n}/raw", t.raw)
	api.Handle("GET /connections/{c}/exchanges", on(t.exchanges))
	api.Handle("GET /connections/{c}/exchanges/{n}", on(t.exchange))
	api.Handle("GET /connections/{c}/exchanges/{n}/as/{form}", on(t.copied))
	api.Raw("GET /connections/{c}/export/{form}", t.export)
	api.Handle("GET /connections/{c}/resume", on(t.resumed))
	api.Handle("POST /connections/{c}/resume", on(t.cut))
	api.Handle("GET /connections/{c}/replay", on(t.replayable))
	api.Handle("POST /connections/{c}/replay", on(t.replay))
	api.Handle("GET /connections/{c}/lines", on(t.lines))
}

func (t *traffic) prepare(c *Connection, _ *client.Options) {
	b := partOf[bell](c)
	c.observe(func(mcp.TapEvent) { b.ring(c) })
}

func (*traffic) connected(*Connection) {}

func (*traffic) ended(c *Connection) {
	partOf[bell](c).end()
	partOf[cable](c).end()
}

// bellEvery is how often at most whoever watches is told of new frames.
const bellEvery = 100 * time.Millisecond

// bell tells whoever watches that there are new frames.
type bell struct {
	mu    sync.Mutex
	timer *time.Timer // set while somebody is going to be told
	over  bool
}

func (b *bell) ring(c *Connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil || b.over {
		return
	}
	b.timer = time.AfterFunc(bellEvery, func() { // ends at once; the connection's end stops it
		b.mu.Lock()
		b.timer = nil
		over := b.over
		b.mu.Unlock()
		if !over {
			c.publish("frames", newFrames{c.Frames.State().Last})
		}
	})
}

func (b *bell) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.timer != nil {
		b.timer.Stop()
	}
}

type newFrames struct {
	Last uint64 `json:"last"`
}

// recordError is what the page is told when the recording does not have something.
func recordError(err error) error {
	switch {
	case errors.Is(err, record.ErrGone):
		return web.Errorf(http.StatusNotFound, "not_recorded", "%v", err)
	case errors.Is(err, record.ErrNoForm):
		return web.Errorf(http.StatusUnprocessableEntity, "no_form", "%v", err)
	}
	return err
}
