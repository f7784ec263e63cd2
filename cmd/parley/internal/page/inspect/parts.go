package inspect

import (
	"reflect"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// part is one field of the page's work, such as calls or questions. A part has one
// value in a Server, for all connections. What it keeps for a connection is in partOf.
type part interface {
	// routes adds the part's routes.
	routes(api *web.API)
	// prepare is called before each attempt to connect. It adds to the options what
	// the part wants to hear or to answer; what others have set there it calls, too. What
	// wants to see frames calls c.observe.
	prepare(c *Connection, o *client.Options)
	// connected is called after each attempt that succeeded. It must return soon: what takes
	// longer runs in c.spawn.
	connected(c *Connection)
	// ended is called when the connection is closed for good.
	ended(c *Connection)
}

// counter is a part that counts something of a connection, for the connection's
// "counts".
type counter interface {
	counts(c *Connection) map[string]int
}

// newParts lists the parts, a line each.
func newParts(s *Server) []part {
	return []part{
		s.logins,
		&traffic{s, patience{5 * time.Second, 2 * time.Second}},
		&lists{s},
		&calls{s},
		&tasks{s},
		&appsPart{s, s.opts.Frames},
		questionPart{s},
		resourcePart{s},
		rootPart{s},
		logPart{s},
		skillPart{s},
		&judgements{server: s},
	}
}

// partOf returns what a part keeps for a connection: the one value of a type, which is
// zero at first and lives as long as the connection, over reconnects. The value is shared
// by all who ask for it, so it needs a lock of its own.
func partOf[T any](c *Connection) *T {
	c.keepMu.Lock()
	defer c.keepMu.Unlock()
	key := reflect.TypeFor[T]()
	if kept, ok := c.kept[key].(*T); ok {
		return kept
	}
	fresh := new(T)
	c.kept[key] = fresh
	return fresh
}
