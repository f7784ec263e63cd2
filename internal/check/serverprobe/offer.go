package serverprobe

import (
	"fmt"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// Offer is what a server offers: the members of the lists as they came.
type Offer struct {
	Name, Version string
	Capabilities  map[string]any

	Tools     []map[string]any
	Callable  []Callable // the tools that may be called
	Resources []map[string]any
	Templates []map[string]any
	Prompts   []map[string]any

	// Did are the calls of tools that the survey made, in order.
	Did []*Doing
	// Changed are the lists that changed meanwhile, each with an answer that shows
	// it.
	Changed   map[string]*peer.Message
	Completed []Completed
}

// Callable is a tool that may be called, with arguments for it.
type Callable struct {
	Tool      map[string]any
	Name      string
	Arguments map[string]any
}

func (o *Offer) tool(name string) map[string]any {
	for _, t := range o.Tools {
		if t["name"] == name {
			return t
		}
	}
	return nil
}

// Has reports whether the server declares a capability, such as
// resources/subscribe.
func (o *Offer) Has(path string) bool {
	v, ok := peer.Get(o.Capabilities, path)
	return ok && v != false
}

// learn takes what the server says of itself out of its greeting.
func (x *X) learn(hello *peer.Reply) {
	m := hello.Response
	x.Greeting = m
	if x.Offer.Capabilities = m.Object("result/capabilities"); x.Offer.Capabilities == nil {
		x.tryLists()
	}
	info := m.Object("result/serverInfo")
	if x.Stateless {
		info = m.Object("result/_meta/" + pointer(mcp.MetaServerInfo))
	}
	x.Offer.Name, _ = info["name"].(string)
	x.Offer.Version, _ = info["version"].(string)
}

// outline says in a few words what came.
func outline(r *peer.Reply) string {
	switch {
	case r.Response != nil && r.Response.IsError():
		return "the error " + string(peer.Encode(r.Response.Object("error")))
	case r.Response != nil:
		return string(r.Response.Raw[:min(len(r.Response.Raw), 200)])
	case r.Err != nil:
		return "nothing: " + r.Err.Error()
	case r.Exchange != nil && r.Exchange.Status != 0:
		return fmt.Sprintf("HTTP status %d", r.Exchange.Status)
	case r.Closed:
		return "the end of the connection"
	default:
		return "nothing in time"
	}
}
