package era

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/revision"
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
	// Rounds says which part of a call's rounds the caller handles itself; nil
	// means none. Sessions have no rounds and ignore it.
	Rounds *Rounds
	// TakesTask declares tasks for this request, whatever Self does. Sessions ignore it.
	TakesTask bool
	// Sent is called with the ID before each request goes out; it may be nil.
	Sent func(id jsonrpc.ID)
}

// Answerer answers the questions of a server. A method that is not supported
// returns an error; the declared capabilities keep servers from asking at all.
type Answerer interface {
	// Raw answers any question in its raw form. It is called only for questions
	// that the declared capabilities cover. ok is false when the other methods
	// answer instead.
	Raw(ctx context.Context, method string, params json.RawMessage) (answer json.RawMessage, ok bool, err error)
	Elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)
	Sample(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)
	Roots(ctx context.Context) (*mcp.ListRootsResult, error)
	// Visited waits until the server says that a URL elicitation is over.
	Visited(ctx context.Context, elicitationID string) error
}

// Self is what a client declares about itself.
type Self struct {
	Info         mcp.Implementation
	Capabilities mcp.ClientCapabilities
}

// IDs hands out request identifiers, each once. It is safe for concurrent use.
type IDs struct{ last atomic.Int64 }

// Next returns a new identifier.
func (i *IDs) Next() jsonrpc.ID { return jsonrpc.IntID(i.last.Add(1)) }

// errUnsupported answers a question of a kind that was never declared.
var errUnsupported = errors.New("not supported by this client")

// ask answers one question of a server with a value that has a JSON form, in
// the shape of the revision. A question of a kind that the revision lacks is
// refused, unless the server was told that it can be asked.
func ask(ctx context.Context, a Answerer, declared *mcp.ClientCapabilities, method string, params json.RawMessage, f *revision.Facts) (any, error) {
	q, err := readAsked(method, params, declared, f)
	if err != nil {
		return nil, err
	}
	if question.Missing(q, declared) == nil {
		if answer, ok, err := a.Raw(ctx, method, params); ok {
			if err != nil {
				return nil, err
			}
			return shapeRawAnswer(method, answer, f)
		}
	}
	var answer any
	switch p := q.Params.(type) {
	case *mcp.ElicitParams:
		answer, err = a.Elicit(ctx, p)
	case *mcp.CreateMessageParams:
		answer, err = a.Sample(ctx, p)
	default:
		answer, err = a.Roots(ctx)
	}
	if err != nil {
		return nil, err
	}
	return shapeAnswer(answer, f), nil
}

// readAsked decodes a question, and refuses what the revision lacks. A client
// declares elicitation before it knows the revision, and over stdio, all servers of
// the official Java SDK before 2.0.0 agree on 2024-11-05 and ask all the same.
func readAsked(method string, params json.RawMessage, declared *mcp.ClientCapabilities, f *revision.Facts) (mcp.InputRequest, error) {
	q, err := question.Decode(mcp.InputRequest{Method: method, Params: json.RawMessage(orEmpty(params))})
	if err != nil {
		return q, mcp.InvalidParams("params: %v", err)
	}
	switch p := q.Params.(type) {
	case *mcp.ElicitParams:
		if !f.Elicitation && declared.Elicitation == nil {
			return q, fmt.Errorf("%q: %w", method, errUnsupported)
		}
		if p.Mode == mcp.ElicitURL && !f.ElicitURL {
			return q, mcp.InvalidParams("revision %s has no elicitation mode %q", f.Revision, p.Mode)
		}
	case *mcp.CreateMessageParams:
		if slices.Contains(p.Messages, nil) || slices.Contains(p.Tools, nil) {
			return q, mcp.InvalidParams("params: messages and tools must not hold null")
		}
		if len(p.Tools) > 0 && !f.SamplingTools {
			return q, mcp.InvalidParams("revision %s has no sampling with tools", f.Revision)
		}
	default:
		if method != mcp.MethodRoots {
			return q, fmt.Errorf("%q: %w", method, errUnsupported)
		}
	}
	return q, nil
}

// shapeAnswer returns an answer without what the revision lacks.
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
		// Readers of the early revisions rely on a reason.
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

// sessionMeta returns the _meta of an answer, in a session. In the stateless era
// an answer is part of a request and has none.
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

// joined merges several blocks into one, for revisions in which an answer has only one.
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

// withMeta adds _meta to params, which have none, as the first member; a nil meta adds nothing.
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

// isPlain reports whether the request adds nothing of its own to _meta, as nearly
// all do not.
func (o *Outgoing) isPlain() bool { return len(o.Meta) == 0 && o.ProgressToken.IsZero() }

func notify(ctx context.Context, conn mcp.Conn, o *Outgoing, meta json.RawMessage) error {
	m := &jsonrpc.Message{Kind: jsonrpc.Notification, Method: o.Method, Params: withMeta(o.Params, meta)}
	return conn.Send(ctx, m)
}
