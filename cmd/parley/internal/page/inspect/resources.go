package inspect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// maxWatched bounds the resources of one connection that are watched, and maxUpdates what is
// kept of the updates of each.
const maxWatched, maxUpdates = 256, 100

// maxURI is the length of the longest URI that is subscribed to, in bytes.
const maxURI = 8 << 10

// watch is a subscription to one resource. It lives over reconnects.
type watch struct {
	ID  string `json:"id"`
	URI string `json:"uri"`
	// State is "open", "ended" or "waiting": for the connection.
	State string    `json:"state"`
	Since time.Time `json:"since"`
	// Error says why it has ended, or was not opened again.
	Error *web.Error `json:"error,omitempty"`
	// Count is how many updates came, and Updates the last of them.
	Count   int      `json:"count"`
	Updates []update `json:"updates"`

	sub *client.Subscription
}

// update is what a subscription reported.
type update struct {
	At time.Time `json:"at"`
	// URI is that of what was updated, which may be part of what is watched.
	URI string `json:"uri,omitempty"`
	// Gap says that the subscription was interrupted: anything may have changed.
	Gap bool `json:"gap,omitempty"`
}

// watches are the subscriptions of one connection.
type watches struct {
	turn sync.Mutex // held while one is being opened or closed

	mu   sync.Mutex
	last int
	all  []*watch
}

// subscribe begins to watch a resource.
func (w *watches) subscribe(ctx context.Context, c *Connection, uri string) (watch, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	at, err := w.place(uri)
	if err != nil {
		return watch{}, err
	}
	if err := w.open(ctx, c, at); err != nil {
		return watch{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.ID == "" {
		w.last++
		at.ID = "s" + strconv.Itoa(w.last)
		w.all = append(w.all, at)
	}
	return at.shown(), nil
}

// place returns a watch for a resource that has none that is open. It is not in the list
// if it is new.
func (w *watches) place(uri string) (*watch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.all, func(at *watch) bool { return at.URI == uri })
	switch {
	case i >= 0 && w.all[i].State == watchOpen:
		return nil, &web.Error{Status: http.StatusConflict, Code: "subscribed", Message: fmt.Sprintf("%q is being watched already", uri)}
	case i >= 0:
		return w.all[i], nil
	case uri == "" || len(uri) > maxURI:
		return nil, &web.Error{Status: http.StatusBadRequest, Code: "bad_uri", Field: "uri", Message: fmt.Sprintf("uri: it has to have 1 to %d bytes", maxURI)}
	case len(w.all) >= maxWatched:
		return nil, &web.Error{Status: http.StatusConflict, Code: "too_many", Message: fmt.Sprintf("%d resources are being watched already", maxWatched), Hint: "end the subscriptions that are no longer needed"}
	}
	return &watch{URI: uri}, nil
}

// The states of watches.
const watchOpen, watchEnded, watchWaiting = "open", "ended", "waiting"

// open subscribes to a resource. The caller holds w.turn.
func (w *watches) open(ctx context.Context, c *Connection, at *watch) error {
	cl, err := c.live()
	if err != nil {
		return err
	}
	filter := mcp.SubscriptionFilter{ResourceSubscriptions: []string{at.URI}}
	sub, err := cl.Listen(ctx, filter, func(_ context.Context, e client.Event) { w.hear(c, at, e) })
	if err != nil {
		return refused(err)
	}
	if !slices.Contains(sub.Honoured().ResourceSubscriptions, at.URI) {
		_ = sub.Close() // it is of no use
		return &web.Error{Status: http.StatusBadGateway, Code: "not_honoured", Message: "the server has not agreed to tell of this resource's updates", Hint: "it may not declare the capability resources.subscribe, or have no such resource"}
	}
	w.mu.Lock()
	at.sub, at.State, at.Since, at.Error = sub, watchOpen, time.Now(), nil
	w.mu.Unlock()
	c.spawn(func(ctx context.Context) { w.follow(ctx, c, at, sub) })
	return nil
}

// follow waits for the end of a subscription.
func (w *watches) follow(ctx context.Context, c *Connection, at *watch, sub *client.Subscription) {
	select {
	case <-ctx.Done():
		_ = sub.Close() // nobody is left to tell
		return
	case <-sub.Done():
	}
	w.mu.Lock()
	ended := at.sub == sub
	if ended {
		at.sub, at.State, at.Since, at.Error = nil, watchEnded, time.Now(), endOf(sub)
	}
	w.mu.Unlock()
	if ended {
		c.publish("resource", event(at, "ended"))
	}
}

func endOf(sub *client.Subscription) *web.Error {
	err := sub.Err()
	if err == nil {
		err = errors.New("the connection has ended")
	}
	return refused(err)
}

// hear takes what a subscription reports.
func (w *watches) hear(c *Connection, at *watch, e client.Event) {
	w.mu.Lock()
	at.Count++
	at.Updates = append(at.Updates, update{At: time.Now(), URI: e.Change.URI, Gap: e.Gap})
	if surplus := len(at.Updates) - maxUpdates; surplus > 0 {
		at.Updates = at.Updates[surplus:]
	}
	w.mu.Unlock()
	c.publish("resource", event(at, "updated"))
}

type resourceEvent struct {
	URI  string `json:"uri"`
	What string `json:"what"`
}

func event(at *watch, what string) resourceEvent { return resourceEvent{at.URI, what} }

// unsubscribe ends a subscription and forgets it.
func (w *watches) unsubscribe(id string) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mu.Lock()
	i := slices.IndexFunc(w.all, func(at *watch) bool { return at.ID == id })
	if i < 0 {
		w.mu.Unlock()
		return &web.Error{Status: http.StatusNotFound, Code: "no_subscription", Message: fmt.Sprintf("there is no subscription %q", id)}
	}
	sub := w.all[i].sub
	w.all[i].sub = nil
	w.all = slices.Delete(w.all, i, i+1)
	w.mu.Unlock()
	if sub == nil {
		return nil
	}
	return sub.Close()
}

// again opens all subscriptions anew, over a new connection.
func (w *watches) again(ctx context.Context, c *Connection) {
	w.turn.Lock()
	defer w.turn.Unlock()
	for _, at := range w.unopened() {
		err := w.open(ctx, c, at)
		w.mu.Lock()
		if err != nil {
			at.State, at.Error = watchEnded, refused(err)
		} else {
			at.Updates = append(at.Updates, update{At: time.Now(), Gap: true})
		}
		w.mu.Unlock()
		c.publish("resource", event(at, "opened"))
	}
}

// unopened returns the subscriptions that are not open.
func (w *watches) unopened() []*watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*watch
	for _, at := range w.all {
		if at.State != watchOpen {
			at.State, at.Error = watchWaiting, nil
			list = append(list, at)
		}
	}
	return list
}

// list returns what is watched.
func (w *watches) list() []watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]watch, 0, len(w.all))
	for _, at := range w.all {
		list = append(list, at.shown())
	}
	return list
}

// shown is a copy. The caller holds the lock.
func (at *watch) shown() watch {
	s := *at
	s.sub, s.Updates = nil, slices.Clone(at.Updates)
	if s.Updates == nil {
		s.Updates = []update{}
	}
	return s
}
