package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Host. The zero value works, asks nobody anything, and calls only
// what ApproveReadOnly permits.
//
// The functions may be called concurrently, except for Changed, and for Approve by
// Host.Answer. Each is told the name of the server that is behind it, which is the one in
// the configuration and not one that the server gives itself.
type Options struct {
	// Approve is called before each call of a tool. An error denies the call: the model
	// reads its text. nil means ApproveReadOnly.
	Approve ApproveFunc

	// Elicit, VisitURL, Sample and Roots answer the questions of servers, as the functions
	// of client.Options do. Servers learn that a question is answered from its function
	// being set.
	Elicit, VisitURL func(ctx context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error)
	// Sample runs a model for a server. Revision 2026-07-28 deprecates sampling
	// (docs/deprecated.md).
	Sample func(ctx context.Context, server string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)
	// Roots returns the folders that a server may work in. Revision 2026-07-28 deprecates
	// roots (docs/deprecated.md).
	Roots func(ctx context.Context, server string) ([]*mcp.Root, error)

	// Changed is called when the tools of a server, or its state, have changed. It is called
	// for one server at a time, and once for changes that happen while it runs. A server's
	// list is fetched at most once a second, however often it changes. Changed must not call
	// Host.Close.
	Changed func(server string)

	// Client is what the clients of all servers have in common, such as Info, Logger and
	// time limits. nil means the defaults. The functions above take the place of its own.
	// Its MaxRestarts, if 0, applies to servers at URLs only: any other connection that ends
	// is made again by the Host.
	Client *client.Options
}

// ApproveFunc decides about a call. It returns nil to permit it.
type ApproveFunc func(ctx context.Context, r *Request) error

// Request is a call that is to be approved.
type Request struct {
	// Server is the name of the server, and Name that of the tool as the model knows it.
	Server, Name string
	// Tool is what the server says of the tool, under its own name. It must not be changed.
	Tool *mcp.Tool
	// Arguments is a JSON object. It must not be changed.
	Arguments json.RawMessage
	// Trusted is Server.TrustAnnotations.
	Trusted bool
}

// ReadOnly reports whether the tool is known only to read: its annotations say so, and are
// trusted.
//
// Spec: 2026-07-28 server/tools#data-types.
func (r *Request) ReadOnly() bool {
	return r.Trusted && r.Tool.Annotations != nil && r.Tool.Annotations.ReadOnlyHint
}

// ApproveReadOnly permits the calls that Request.ReadOnly is true of, and denies others.
func ApproveReadOnly(_ context.Context, r *Request) error {
	if r.ReadOnly() {
		return nil
	}
	if a := r.Tool.Annotations; a != nil && a.ReadOnlyHint {
		return errors.New("nobody is there to approve of it; its server says that it only reads, which Server.TrustAnnotations would believe")
	}
	return errors.New("nobody is there to approve of calls that may do more than read")
}

// ApproveAll permits every call. It is for programs whose servers can do nothing that
// matters, and for tests.
func ApproveAll(context.Context, *Request) error { return nil }

// client returns the options of the client of a server.
func (o *Options) client(server string) *client.Options {
	c := client.Options{}
	if o.Client != nil {
		c = *o.Client
	}
	if o.Elicit != nil {
		c.Elicit = func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return o.Elicit(ctx, server, p)
		}
	}
	if o.VisitURL != nil {
		c.VisitURL = func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return o.VisitURL(ctx, server, p)
		}
	}
	if o.Sample != nil {
		c.Sample = func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return o.Sample(ctx, server, p)
		}
	}
	if o.Roots != nil {
		c.Roots = nil
		c.ListRoots = func(ctx context.Context) ([]*mcp.Root, error) { return o.Roots(ctx, server) }
	}
	c.Eras = cmp.Or(c.Eras, new(client.Eras)) // for the connections to come
	return &c
}
