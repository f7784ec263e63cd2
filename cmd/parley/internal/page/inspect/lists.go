package inspect

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/serverlist"
	"github.com/parley-mcp/parley/mcp"
)

// lists keeps what servers list, and fetches it anew when they say that it has changed.
type lists struct{ server *Server }

// kinds are the lists, and the change that concerns each; skills have none.
func kinds() []serverlist.List {
	return []serverlist.List{serverlist.Tools, serverlist.Resources, serverlist.Templates, serverlist.Prompts, serverlist.Skills}
}

// concerned are the lists that a change concerns.
var concerned = map[mcp.ChangeKind][]serverlist.List{
	mcp.ToolsChanged:     {serverlist.Tools},
	mcp.PromptsChanged:   {serverlist.Prompts},
	mcp.ResourcesChanged: {serverlist.Resources, serverlist.Templates},
}

// listBook has the lists of one connection.
type listBook struct {
	mu   sync.Mutex
	kept map[string]*keptList
}

// keptList is one list. The last items that were known stay when a fetch fails.
type keptList struct {
	turn sync.Mutex // held while it is being fetched

	mu      sync.Mutex
	items   []json.RawMessage
	fetched time.Time
	stale   bool // the server has said that it has changed
	err     *web.Error
}

// shownList is a list as the API shows it.
type shownList struct {
	Items []json.RawMessage `json:"items"`
	// Fetched is when the items came; zero if they never did.
	Fetched time.Time  `json:"fetched,omitzero"`
	Error   *web.Error `json:"error,omitzero"`
}

func (p *lists) routes(api *web.API) {
	api.Handle("GET /connections/{c}/lists/{kind}", p.get)
}

func (p *lists) prepare(*Connection, *client.Options) {}
func (p *lists) ended(*Connection)                    {}

func (p *lists) get(r *web.Request) (any, error) {
	c, err := p.server.connection(r)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(kinds(), func(l serverlist.List) bool { return l.Name == r.PathValue("kind") })
	if i < 0 {
		e := web.Errorf(http.StatusNotFound, "no_list", "there is no list %q", r.PathValue("kind"))
		e.Hint = "there are tools, resources, templates, prompts and skills"
		return nil, e
	}
	fresh := r.URL.Query().Get("fresh") != ""
	return c.list(r.Context(), kinds()[i], fresh), nil
}

// list returns a list as it is kept, or fetches it if it was never fetched, has changed,
// or is wanted fresh. While it is being fetched, others who want it wait for that.
func (c *Connection) list(ctx context.Context, l serverlist.List, fresh bool) *shownList {
	k := partOf[listBook](c).of(l.Name)
	k.turn.Lock()
	defer k.turn.Unlock()
	if fresh || k.outdated() {
		k.fetch(ctx, c, l, fresh)
	}
	return k.shown()
}

func (b *listBook) of(name string) *keptList {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil {
		b.kept = map[string]*keptList{}
	}
	if b.kept[name] == nil {
		b.kept[name] = &keptList{items: []json.RawMessage{}}
	}
	return b.kept[name]
}

// known returns the lists that were fetched.
func (b *listBook) known(among []serverlist.List) []serverlist.List {
	return slices.DeleteFunc(slices.Clone(among), func(l serverlist.List) bool {
		k := b.of(l.Name)
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.fetched.IsZero() && k.err == nil
	})
}

func (k *keptList) outdated() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stale || k.fetched.IsZero()
}

// fetch asks the server. Who calls it holds k.turn.
func (k *keptList) fetch(ctx context.Context, c *Connection, l serverlist.List, fresh bool) {
	k.mark(false) // what changes from now on is another change
	var items []json.RawMessage
	cl, err := c.live()
	if err == nil {
		var opts []client.CallOption
		if fresh {
			opts = append(opts, client.WithFresh())
		}
		items, err = serverlist.Fetch(ctx, cl, l, serverlist.DefaultBounds, opts...)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.stale = true
		k.err = c.explain(err)
		if len(items) > len(k.items) {
			k.items = items
		}
		return
	}
	k.items, k.fetched, k.err = items, time.Now(), nil
}

func (k *keptList) mark(stale bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stale = stale
}

func (k *keptList) shown() *shownList {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &shownList{Items: k.items, Fetched: k.fetched, Error: k.err}
}

// connected listens for changes. What was known belongs to an earlier connection.
func (p *lists) connected(c *Connection) {
	cl, err := c.live()
	if err != nil {
		return // it has ended already
	}
	p.changed(c, kinds())
	c.spawn(func(ctx context.Context) {
		filter := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true}
		_, err := cl.Listen(ctx, filter, func(_ context.Context, e client.Event) { p.heard(c, e) })
		if err != nil && ctx.Err() == nil {
			c.server.opts.Logger.Info("changes of lists are not heard of", "connection", c.ID, "reason", err)
		}
	})
}

// heard takes an event of the subscription, which ends with its client.
func (p *lists) heard(c *Connection, e client.Event) {
	if e.Gap {
		p.changed(c, kinds())
		return
	}
	p.changed(c, concerned[e.Change.Kind])
}

// changed has lists fetched anew by whoever wants them next, and says so.
func (p *lists) changed(c *Connection, which []serverlist.List) {
	book := partOf[listBook](c)
	for _, l := range book.known(which) {
		book.of(l.Name).mark(true)
		c.publish("list", map[string]string{"kind": l.Name})
	}
}
