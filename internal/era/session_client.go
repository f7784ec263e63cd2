package era

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/marked"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// SessionClient speaks to servers of revisions up to 2025-11-25: once the session
// is open, both sides send requests.
type SessionClient struct {
	Conn    mcp.Conn
	IDs     *IDs
	Self    Self
	Answers Answerer
	// Refused is called when the server has refused to open a session in one
	// revision and opens it in another. It may be nil.
	Refused func(refused, instead mcp.Revision, reason error)
	// Go starts a goroutine for a question that is answered as a task; it ends with
	// the connection at the latest. It reports false when no more can be started.
	// nil means a plain one.
	Go func(f func()) bool

	facts atomic.Pointer[revision.Facts] // nil until Initialize
	tasks bool                           // the server calls tools as tasks; set by Initialize
	// told is what the client declared in initialize, in the form of the revision
	// that it proposed; set before facts.
	told mcp.ClientCapabilities
	own  ownTasks
}

// RunsTasks reports whether the server has declared that tools can be called as
// tasks. It must be called after Initialize.
//
// Spec: 2025-11-25 basic/utilities/tasks#capabilities.
func (c *SessionClient) RunsTasks() bool { return c.tasks && c.Facts().Tasks }

// Initialize opens the session, proposing a revision and accepting any of ours.
// It must be called once, before Call.
//
// Spec: 2025-11-25 basic/lifecycle#initialization.
func (c *SessionClient) Initialize(ctx context.Context, propose mcp.Revision, ours []mcp.Revision) (*mcp.InitializeResult, error) {
	result, err := c.handshake(ctx, propose)
	if r, ok := Renegotiate(ours, propose, err); ok {
		result, err = c.handshake(ctx, r)
	} else if r, ok := Older(ours, propose, err); ok {
		result, err = c.older(ctx, propose, r, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mcp.MethodInitialize, err)
	}
	agreed, ok := mcp.ParseRevision(result.ProtocolVersion)
	if !ok || !contains(revision.Session(ours), agreed) {
		return nil, marked.As(mcp.ErrNoRevision, fmt.Errorf("initialize: the server speaks revision %q, this client is limited to %s", result.ProtocolVersion, list(ours)))
	}
	c.facts.Store(revision.Of(agreed))
	m, err := jsonrpc.NewNotification(mcp.NoteInitialized, nil)
	if err != nil {
		return nil, err
	}
	return result, c.Conn.Send(ctx, m)
}

// older opens the session in another revision than the refused one. If the server
// refuses that as well, the first refusal is the reason.
func (c *SessionClient) older(ctx context.Context, refused, r mcp.Revision, why error) (*mcp.InitializeResult, error) {
	result, err := c.handshake(ctx, r)
	if err != nil {
		return nil, why
	}
	if c.Refused != nil {
		c.Refused(refused, r, why)
	}
	return result, nil
}

func (c *SessionClient) handshake(ctx context.Context, propose mcp.Revision) (*mcp.InitializeResult, error) {
	f := revision.Of(propose)
	c.told = shapeClientCapabilities(c.Self.Capabilities, f)
	m, err := jsonrpc.NewRequest(c.IDs.Next(), mcp.MethodInitialize, &mcp.InitializeParams{
		ProtocolVersion: propose.String(),
		Capabilities:    c.told,
		ClientInfo:      shapeImplementation(c.Self.Info, f),
	})
	if err != nil {
		return nil, err
	}
	response, err := c.Conn.RoundTrip(ctx, m)
	if err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, response.Error
	}
	result := new(mcp.InitializeResult)
	if err := wire.Unmarshal(response.Result, result); err != nil {
		return nil, fmt.Errorf("the server sent a malformed result: %w", err)
	}
	declared := wire.Find(response.Result, "capabilities")
	for _, member := range []string{"tasks", "requests", "tools", "call"} {
		declared = wire.Find(declared, member)
	}
	c.tasks = declared != nil
	return result, nil
}

// Facts returns the facts of the agreed revision.
func (c *SessionClient) Facts() *revision.Facts { return c.facts.Load() }

// Call sends a request and returns its result. If the server requires the user to
// visit URLs first, Call has the Answerer do that and sends the request again, unless
// the caller handles questions itself.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
func (c *SessionClient) Call(ctx context.Context, o *Outgoing) (json.RawMessage, error) {
	result, err := c.once(ctx, o)
	visits := RequiredVisits(err)
	if visits == nil || o.Rounds != nil && o.Rounds.HandOver || !c.Facts().ElicitationID || !c.Self.Capabilities.Elicitation.URLs() {
		return result, err
	}
	for _, v := range visits {
		answer, failed := c.Answers.Elicit(ctx, v)
		if failed != nil {
			return nil, local(failed)
		}
		if answer.Action != mcp.ActionAccept {
			return nil, err
		}
		if failed := c.Answers.Visited(ctx, v.ElicitationID); failed != nil {
			return nil, errors.Join(local(failed), err)
		}
	}
	return c.once(ctx, o)
}

// RequiredVisits returns the visits without which a server of a session does not serve a
// request, or nil if its error says something else, or does not conform.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
func RequiredVisits(err error) []*mcp.ElicitParams {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || rpc.Code != mcp.CodeURLElicitation {
		return nil
	}
	var data struct {
		Elicitations []*mcp.ElicitParams `json:"elicitations"`
	}
	if wire.Unmarshal(rpc.Data, &data) != nil || len(data.Elicitations) == 0 {
		return nil
	}
	for _, v := range data.Elicitations {
		if v == nil || v.Mode != mcp.ElicitURL || v.ElicitationID == "" || v.URL == "" {
			return nil // the error does not conform, and is returned as it is
		}
	}
	return data.Elicitations
}

func (c *SessionClient) once(ctx context.Context, o *Outgoing) (json.RawMessage, error) {
	meta, err := c.meta(o)
	if err != nil {
		return nil, err
	}
	m := &jsonrpc.Message{Kind: jsonrpc.Request, ID: c.IDs.Next(), Method: o.Method, Params: withMeta(orEmpty(o.Params), meta)}
	if o.Sent != nil {
		o.Sent(m.ID)
	}
	response, err := c.Conn.RoundTrip(ctx, m)
	if err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, response.Error
	}
	return c.raise(o, response.Result), nil
}

// meta returns the _meta of a request, or nil if it has none.
func (c *SessionClient) meta(o *Outgoing) (json.RawMessage, error) {
	if o.isPlain() {
		return nil, nil
	}
	return o.stamped(nil)
}

// Notify sends a notification.
func (c *SessionClient) Notify(ctx context.Context, o *Outgoing) error {
	meta, err := c.meta(o)
	if err != nil {
		return err
	}
	return notify(ctx, c.Conn, o, meta)
}

// Answer answers a request of the server.
func (c *SessionClient) Answer(ctx context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error) {
	if m.Method == mcp.MethodPing {
		return struct{}{}, nil
	}
	facts := c.Facts()
	if facts == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session is not initialized")
	}
	value, ok, err := c.answerTask(ctx, m)
	if !ok {
		value, err = ask(ctx, c.Answers, &c.told, m.Method, m.Params, facts)
	}
	if id := relatedTo(m, facts); id != "" && err == nil {
		value, err = withRelated(value, id)
	}
	if err != nil {
		return nil, refusalOf(err, m.Method)
	}
	return value, nil
}

// refusalOf returns the error that answers a request of the server.
func refusalOf(err error, method string) *jsonrpc.Error {
	var (
		rpc     *jsonrpc.Error
		invalid *mcp.InvalidParamsError
	)
	switch {
	case errors.As(err, &rpc):
		return rpc
	case errors.As(err, &invalid):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%s", invalid.Reason)
	case errors.Is(err, errUnsupported):
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found: %s", method)
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", err)
}
