package era

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Outgoing is one request of a client.
type Outgoing struct {
	Method string
	// Params is a JSON object without _meta, or nil.
	Params json.RawMessage
	// Meta is what the caller puts into _meta.
	Meta mcp.Meta
	// ProgressToken asks for progress; zero asks for none.
	ProgressToken mcp.ProgressToken
	// LogLevel asks for log messages of this request; "" asks for none.
	// Sessions have one level for all and ignore it.
	LogLevel mcp.LoggingLevel
	// Sent is told the ID before the request goes out; it may be nil.
	Sent func(id jsonrpc.ID)
}

// Answerer answers what a server asks. A method that is not supported returns
// an error; the capabilities that were declared keep servers from asking.
type Answerer interface {
	Elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)
	Sample(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)
	Roots(ctx context.Context) (*mcp.ListRootsResult, error)
	// Visited waits until the server says that a URL elicitation is over.
	Visited(ctx context.Context, elicitationID string) error
}

// Self is what a client says of itself.
type Self struct {
	Info         mcp.Implementation
	Capabilities mcp.ClientCapabilities
}

// IDs hands out request identifiers, each once.
type IDs struct{ last atomic.Int64 }

// Next returns a new identifier.
func (i *IDs) Next() jsonrpc.ID { return jsonrpc.IntID(i.last.Add(1)) }

// errUnsupported answers a question of a kind that was never declared.
var errUnsupported = errors.New("not supported by this client")

// ask answers one question of a server with a value that has a JSON form. What
// the revision lacks was not declared in it, whatever the client can.
func ask(ctx context.Context, a Answerer, method string, params json.RawMessage, f *revision.Facts) (any, error) {
	switch method {
	case mcp.MethodElicit:
		p := new(mcp.ElicitParams)
		if err := wire.Unmarshal(orEmpty(params), p); err != nil {
			return nil, mcp.InvalidParams("params: %v", err)
		}
		if !f.Elicitation {
			break
		}
		if p.Mode == mcp.ElicitURL && !f.ElicitURL {
			return nil, mcp.InvalidParams("revision %s has no elicitation mode %q", f.Revision, p.Mode)
		}
		return a.Elicit(ctx, p)
	case mcp.MethodSample:
		p := new(mcp.CreateMessageParams)
		if err := wire.Unmarshal(orEmpty(params), p); err != nil {
			return nil, mcp.InvalidParams("params: %v", err)
		}
		if slices.Contains(p.Messages, nil) || slices.Contains(p.Tools, nil) {
			return nil, mcp.InvalidParams("params: messages and tools must not hold null")
		}
		if len(p.Tools) > 0 && !f.SamplingTools {
			return nil, mcp.InvalidParams("revision %s has no sampling with tools", f.Revision)
		}
		return a.Sample(ctx, p)
	case mcp.MethodRoots:
		return a.Roots(ctx)
	}
	return nil, fmt.Errorf("%q: %w", method, errUnsupported)
}

// shapeAnswer leaves out of an answer what the revision lacks.
func shapeAnswer(answer any, f *revision.Facts) any {
	switch r := answer.(type) {
	case *mcp.CreateMessageResult:
		c := *r
		c.Content = mcp.OneOrMany(shapeContents(mcp.Contents(r.Content), f))
		if !f.SamplingTools && len(c.Content) > 1 {
			c.Content = joined(c.Content)
		}
		if c.Role == "" {
			c.Role = mcp.RoleAssistant
		}
		// Readers of the early revisions count on a reason.
		// Spec: 2025-03-26 client/sampling#creating-messages.
		if c.StopReason == "" && !f.Stateless {
			c.StopReason = "endTurn"
		}
		return &c
	case *mcp.ListRootsResult:
		c := *r
		c.Meta = sessionMeta(r.Meta, f)
		c.Roots = shapeEach(r.Roots, f, shapeRoot)
		return &c
	case *mcp.ElicitResult:
		c := *r
		c.Meta = sessionMeta(r.Meta, f)
		return &c
	}
	return answer
}

// sessionMeta keeps the _meta of an answer that has none in the stateless era:
// there it is a part of a request.
func sessionMeta(m mcp.Meta, f *revision.Facts) mcp.Meta {
	if f.Stateless {
		return nil
	}
	return m
}

func shapeRoot(r *mcp.Root, f *revision.Facts) *mcp.Root {
	c := *r
	c.Meta = keepMeta(r.Meta, f)
	return &c
}

// joined makes one block of several, for revisions in which an answer has one.
func joined(blocks mcp.OneOrMany) mcp.OneOrMany {
	var text strings.Builder
	for _, b := range blocks {
		t, ok := b.(*mcp.TextContent)
		if !ok {
			return blocks[:1]
		}
		text.WriteString(t.Text)
	}
	return mcp.OneOrMany{mcp.Text(text.String())}
}

// withMeta puts _meta first into params, which has none; nil is no _meta.
func withMeta(params, meta json.RawMessage) json.RawMessage {
	if meta == nil {
		return params
	}
	out := make([]byte, 0, len(`{"_meta":,}`)+len(meta)+len(params))
	out = append(append(out, `{"_meta":`...), meta...)
	if rest := trimObject(params); len(rest) > 0 {
		out = append(append(out, ','), rest...)
	}
	return append(out, '}')
}

// trimObject returns the members of a compact object, without its braces.
func trimObject(doc json.RawMessage) []byte {
	if len(doc) < 2 {
		return nil
	}
	return doc[1 : len(doc)-1]
}

// isPlain reports whether there is nothing that this request alone says in
// _meta, as for nearly all.
func (o *Outgoing) isPlain() bool { return len(o.Meta) == 0 && o.ProgressToken.IsZero() }

// baseMeta is the part of _meta that both eras have.
func (o *Outgoing) baseMeta() mcp.Meta {
	meta := make(mcp.Meta, len(o.Meta)+5)
	maps.Copy(meta, o.Meta)
	if !o.ProgressToken.IsZero() {
		meta[mcp.MetaProgressToken] = json.RawMessage(o.ProgressToken.String())
	}
	return meta
}
