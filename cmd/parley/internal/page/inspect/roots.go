package inspect

import (
	"context"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// maxRoots bounds the roots of a connection.
const maxRoots = 256

// rootPart says in which folders servers may work.
type rootPart struct{ s *Server }

// roots are those of one connection. They outlive reconnects. They are declared only when
// somebody wants that: a server that gets an empty list may take it for "nowhere".
type roots struct {
	turn sync.Mutex // held while they are being changed

	mu   sync.Mutex
	list []*mcp.Root
	// declare says whether they are declared from the next connecting on, and declared
	// whether they were in the last.
	declare, declared bool
}

func (rootPart) connected(*Connection) {}
func (rootPart) ended(*Connection)     {}

func (rootPart) prepare(c *Connection, o *client.Options) {
	r := partOf[roots](c)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.declared = r.declare; r.declare {
		o.Roots = append([]*mcp.Root{}, r.list...)
	}
}

func (p rootPart) routes(api *web.API) {
	api.Handle("GET /connections/{c}/roots", onConnection(p.s, p.get))
	api.Handle("PUT /connections/{c}/roots", onConnection(p.s, p.put))
}

// wantedRoots are roots as somebody sets them.
type wantedRoots struct {
	Declare bool        `json:"declare"`
	Roots   []*mcp.Root `json:"roots"`
}

type shownRoots struct {
	wantedRoots

	// Declared says whether the server was told, when it was connected to, that there
	// are roots.
	Declared   bool `json:"declared"`
	Deprecated bool `json:"deprecated"`
}

func (rootPart) get(c *Connection, _ *web.Request) (any, error) {
	r := partOf[roots](c)
	deprecated := deprecates(c, "roots")
	r.mu.Lock()
	defer r.mu.Unlock()
	return shownRoots{wantedRoots{r.declare, append([]*mcp.Root{}, r.list...)}, r.declared, deprecated}, nil
}

// put replaces the roots. A server that knows that there are some is told.
func (p rootPart) put(c *Connection, req *web.Request) (any, error) {
	var w wantedRoots
	if err := req.Read(&w); err != nil {
		return nil, err
	}
	if len(w.Roots) > maxRoots {
		return nil, web.Errorf(http.StatusUnprocessableEntity, "too_many", "%d roots: there can be %d", len(w.Roots), maxRoots)
	}
	if err := client.CheckRoots(w.Roots); err != nil {
		return nil, &web.Error{Status: http.StatusUnprocessableEntity, Code: "bad_roots", Field: "roots", Message: err.Error(), Hint: "a root is a folder, as a URI such as file:///home/me/project"}
	}
	if err := partOf[roots](c).set(req.Context(), c, &w); err != nil {
		return nil, err
	}
	return p.get(c, req)
}

func (r *roots) set(ctx context.Context, c *Connection, w *wantedRoots) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.mu.Lock()
	r.list, r.declare = w.Roots, w.Declare
	declared := r.declared
	r.mu.Unlock()
	cl, err := c.live()
	if err != nil || !declared {
		return nil //nolint:nilerr // the next connection has them
	}
	if err := cl.SetRoots(ctx, w.Roots); err != nil {
		return refused(err)
	}
	return nil
}
