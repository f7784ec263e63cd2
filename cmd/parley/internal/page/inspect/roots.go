package inspect

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// maxRoots bounds the roots of a connection.
const maxRoots = 256

// rootPart says in which folders servers may work.
type rootPart struct{ s *Server }

// roots are those of one connection. They outlive reconnects.
type roots struct {
	turn sync.Mutex // held while they are being changed

	mu   sync.Mutex
	list []*mcp.Root
	// changed is when somebody last changed them.
	changed time.Time
}

func (rootPart) connected(*Connection) {}
func (rootPart) ended(*Connection)     {}

// prepare declares roots, even if there are none yet.
func (rootPart) prepare(c *Connection, o *client.Options) {
	r := partOf[roots](c)
	r.mu.Lock()
	defer r.mu.Unlock()
	o.Roots = append([]*mcp.Root{}, r.list...)
}

func (p rootPart) routes(api *web.API) {
	api.Handle("GET /connections/{c}/roots", onConnection(p.s, p.get))
	api.Handle("PUT /connections/{c}/roots", onConnection(p.s, p.put))
}

type shownRoots struct {
	Roots      []*mcp.Root `json:"roots"`
	Changed    time.Time   `json:"changed,omitzero"`
	Deprecated bool        `json:"deprecated"`
}

func (rootPart) get(c *Connection, _ *web.Request) (any, error) {
	r := partOf[roots](c)
	r.mu.Lock()
	defer r.mu.Unlock()
	return shownRoots{append([]*mcp.Root{}, r.list...), r.changed, deprecates(c, "roots")}, nil
}

// put replaces the roots, and has the server know where it wants to.
func (p rootPart) put(c *Connection, req *web.Request) (any, error) {
	var body struct {
		Roots []*mcp.Root `json:"roots"`
	}
	if err := req.Read(&body); err != nil {
		return nil, err
	}
	if len(body.Roots) > maxRoots {
		return nil, web.Errorf(http.StatusUnprocessableEntity, "too_many", "%d roots: there can be %d", len(body.Roots), maxRoots)
	}
	if err := partOf[roots](c).set(req.Context(), c, body.Roots); err != nil {
		return nil, err
	}
	return p.get(c, req)
}

func (r *roots) set(ctx context.Context, c *Connection, list []*mcp.Root) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	cl, err := c.live()
	if err != nil {
		return err
	}
	if err := cl.SetRoots(ctx, list); err != nil {
		return &web.Error{Status: http.StatusUnprocessableEntity, Code: "bad_roots", Field: "roots", Message: err.Error(), Hint: "a root is a folder, as a URI such as file:///home/me/project"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.changed = list, time.Now()
	return nil
}
