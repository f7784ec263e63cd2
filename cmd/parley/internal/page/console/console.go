// Package console is the pages for those who run a gateway: what it does now, what waits
// for a decision, and what has been. It knows nothing of gateways but what a Gateway shows
// of one.
package console

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

const (
	// idle is how long a visit lasts that nothing is heard of, and life how long any does.
	idle = 30 * time.Minute
	life = 12 * time.Hour
	// gather is how long changes are gathered before the page is told, and look how often
	// the backends are looked at: they do not say when they change.
	gather = 200 * time.Millisecond
	look   = 2 * time.Second
)

// Options configure a Console.
type Options struct {
	Gateway Gateway
	// Entrance says how visitors log in, besides by codes.
	Entrance Entrance
	// Origin is where browsers reach the console, and Hosts are the authorities that it may
	// be reached by.
	Origin string
	Hosts  []string
	// Files are those of the page; see [web.NewFiles].
	Files map[string][]byte
	// Logger logs what goes wrong. Required.
	Logger *slog.Logger
}

// hints say how to come in.
var hints = map[string]string{
	"code":   `open the address that "parley gateway console FILE" prints, on the machine of the gateway`,
	"bearer": "log in with the token of the gateway",
	"issuer": "log in again",
}

// Console is the pages, and what they call. Close ends it.
type Console struct {
	opts    Options
	gateway Gateway
	door    *web.Door
	hub     web.Hub
	flows   flows
	handler http.Handler

	ctx  context.Context //nolint:containedctx // the console's lifetime: ended by Close
	end  context.CancelFunc
	work sync.WaitGroup
	stop []func()

	decided decided

	mu    sync.Mutex
	dirty map[string]bool
}

// New returns a console that nobody has come into yet.
func New(o Options) *Console {
	c := &Console{opts: o, gateway: o.Gateway}
	c.ctx, c.end = context.WithCancel(context.Background())
	c.flows.console = c
	c.door = web.NewDoor(web.DoorOptions{
		Hosts: o.Hosts, Secure: strings.HasPrefix(o.Origin, "https:"), Idle: idle, Life: life, Hint: hints[o.Entrance.kind()], Redeemed: c.redeemed,
	})
	api := web.NewAPI(c.door, &c.hub)
	c.routes(api)
	mux := http.NewServeMux()
	mux.Handle("/", &web.Site{Door: c.door, API: api, Files: web.NewFiles(o.Files, "")})
	c.flows.mount(mux)
	c.handler = mux
	c.stop = []func(){o.Gateway.Watch(c.changed), o.Gateway.WatchDecisions(c.decided.add)}
	c.work.Go(c.tell)  // ends with Close
	c.work.Go(c.watch) // ends with Close
	return c
}

// ServeHTTP serves the pages.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Address is one that lets an operator of this machine in, once.
func (c *Console) Address() string {
	return strings.TrimSuffix(c.opts.Origin, "/") + "/?" + url.Values{"code": {c.door.Code()}}.Encode()
}

// Close ends what is under way.
func (c *Console) Close() {
	for _, stop := range c.stop {
		stop()
	}
	c.end()
	c.work.Wait()
}

// changed notes that the page is to be told.
func (c *Console) changed(topic string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dirty == nil {
		c.dirty = map[string]bool{}
	}
	c.dirty[topic] = true
}

// tell tells the page what has changed, not more often than it can look at.
func (c *Console) tell() {
	ticker := time.NewTicker(gather)
	defer ticker.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
		c.mu.Lock()
		dirty := c.dirty
		c.dirty = nil
		c.mu.Unlock()
		for topic := range dirty {
			c.hub.Publish(topic, struct{}{})
		}
	}
}

// watch looks at what does not say by itself when it changes, while somebody watches.
func (c *Console) watch() {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	last := map[string]string{}
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
		if !c.hub.Watched() {
			continue
		}
		for topic, now := range map[string]any{"backend": c.gateway.Backends(), "overview": c.gateway.Overview()} {
			raw, err := json.Marshal(now)
			if err == nil && last[topic] != string(raw) {
				last[topic] = string(raw)
				c.changed(topic)
			}
		}
	}
}
