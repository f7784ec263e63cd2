package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/toolname"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// The reasons of a CallError for which a call was not made. A *ServerError is another.
var (
	// ErrNoTool says that the server has no such tool, or no longer, or that there is no
	// such server.
	ErrNoTool = errors.New("there is no such tool")
	// ErrDenied says that Options.Approve has denied the call.
	ErrDenied = errors.New("the call was not approved")
	// ErrChanged says that the tool has changed while the call was being approved: what was
	// approved is not what would be called.
	ErrChanged = errors.New("the tool has changed while its call was being approved")
	// ErrArguments says that the arguments are not a JSON object.
	ErrArguments = errors.New("the arguments are not a JSON object")
)

// CallError says why a call has no result.
type CallError struct {
	// Name is that of the tool as the model knows it.
	Name string
	// Err is the reason.
	Err error
}

// Error names the tool and the reason.
func (e *CallError) Error() string { return fmt.Sprintf("tool %q: %v", e.Name, e.Err) }

// Unwrap returns the reason.
func (e *CallError) Unwrap() error { return e.Err }

// Call is a call that a model wants.
type Call struct {
	// ID is how the model's API tells calls apart.
	ID string
	// Name is that of the tool, as in Host.Tools.
	Name string
	// Arguments is what the model has written, which need not be JSON; nil is for none.
	Arguments json.RawMessage
}

// Answer is what has become of a call.
type Answer struct {
	Call

	// Result is what the model reads: the tool's result, or what ForModel makes of Err.
	Result *mcp.CallToolResult
	// Err is a *CallError; nil if the tool has answered, even with a failure of its own.
	Err error
}

// parallel is how many calls of a turn are made at a time.
const parallel = 16

// Answer makes the calls of one turn of a model, and returns an answer for each, in their
// order. The calls are first approved one by one, and those that are permitted are then
// made at the same time.
func (h *Host) Answer(ctx context.Context, calls []Call, opts ...client.CallOption) []Answer {
	answers, approved := make([]Answer, len(calls)), make([]*permit, len(calls))
	for i, call := range calls {
		answers[i].Call = call
		approved[i], answers[i].Err = h.approve(ctx, call.Name, call.Arguments)
	}
	var work sync.WaitGroup
	room := make(chan struct{}, parallel)
	for i, p := range approved {
		if p == nil {
			continue
		}
		room <- struct{}{}
		work.Go(func() { // ends with the call
			answers[i].Result, answers[i].Err = p.call(ctx, opts)
			<-room
		})
	}
	work.Wait()
	for i := range answers {
		answers[i].Result = ForModel(answers[i].Result, answers[i].Err)
	}
	return answers
}

// Call calls a tool by its name in Tools, if that is approved. A failure of the tool itself
// is a result with IsError set; the error is a *CallError. ForModel makes a result of
// either.
func (h *Host) Call(ctx context.Context, name string, arguments json.RawMessage, opts ...client.CallOption) (*mcp.CallToolResult, error) {
	p, err := h.approve(ctx, name, arguments)
	if err != nil {
		return nil, err
	}
	return p.call(ctx, opts)
}

// permit is a call that was approved.
type permit struct {
	*candidate

	name      string
	arguments json.RawMessage
}

// approve finds the tool of a call, and has the call approved.
func (h *Host) approve(ctx context.Context, name string, arguments json.RawMessage) (*permit, error) {
	found, err := h.find(name)
	if err != nil {
		return nil, &CallError{name, err}
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if err := wire.Unmarshal(arguments, new(map[string]json.RawMessage)); err != nil || string(arguments) == "null" {
		return nil, &CallError{name, ErrArguments}
	}
	r := &Request{Server: found.server.name, Name: name, Tool: found.own, Arguments: arguments, Trusted: found.server.config.TrustAnnotations}
	if err := h.opts.Approve(ctx, r); err != nil {
		return nil, &CallError{name, fmt.Errorf("%w: %w", ErrDenied, err)}
	}
	now, err := h.find(name)
	switch {
	case err != nil:
		return nil, &CallError{name, err}
	case now.own != found.own && !reflect.DeepEqual(now.own, found.own):
		return nil, &CallError{name, ErrChanged}
	}
	return &permit{now, name, arguments}, nil
}

// find finds a tool by its whole name.
func (h *Host) find(name string) (*candidate, error) {
	if h.ctx.Err() != nil {
		return nil, context.Cause(h.ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.index[name]; found != nil {
		return found, nil
	}
	s := h.byLabel[toolname.Server(name)]
	switch {
	case s == nil:
		return nil, ErrNoTool
	case s.client == nil:
		return nil, s.absence()
	}
	return nil, fmt.Errorf("%w at the server %q, or no longer", ErrNoTool, s.name)
}

// call makes the call. What has failed without an answer of the server may say that the
// server is gone.
func (p *permit) call(ctx context.Context, opts []client.CallOption) (*mcp.CallToolResult, error) {
	result, err := p.client.CallTool(ctx, p.own.Name, p.arguments, opts...)
	if err == nil {
		return result, nil
	}
	if _, answered := errors.AsType[*jsonrpc.Error](err); !answered && ctx.Err() == nil {
		signal(p.server.suspect)
	}
	return nil, &CallError{p.name, err}
}

// ForModel returns what a model reads of a call: the result, or if there is none a result
// that says why, in words that a model can act on. It has none of the details of an error
// that are about this machine.
func ForModel(result *mcp.CallToolResult, err error) *mcp.CallToolResult {
	if err == nil {
		return result
	}
	name := "The tool"
	if c, ok := errors.AsType[*CallError](err); ok {
		name = fmt.Sprintf("The tool %q", c.Name)
		err = c.Err
	}
	if wrong, ok := errors.AsType[*client.OutputError](err); ok {
		said := *wrong.Result
		said.Content = append(mcp.Contents{mcp.Textf("%s has returned what does not fit its own description:", name)}, said.Content...)
		return &said
	}
	return mcp.ToolError("%s %s", name, reason(err))
}

// reason says why a call has no result.
func reason(err error) string {
	if down, ok := errors.AsType[*ServerError](err); ok {
		return fmt.Sprintf("cannot be called now, because the server %q is down.", down.Server)
	}
	if answer, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return "has failed. Its server says: " + answer.Message
	}
	switch {
	case errors.Is(err, ErrNoTool):
		return "does not exist, or no longer."
	case errors.Is(err, ErrDenied):
		return "was not called: " + err.Error() + "."
	case errors.Is(err, ErrChanged):
		return "was not called, because it has changed in the meantime."
	case errors.Is(err, ErrArguments):
		return "was not called, because the arguments are not a JSON object."
	case errors.Is(err, mcp.ErrUnauthorized):
		return "was not called, because the user has to log in at its server first."
	case errors.Is(err, client.ErrTaskCancelled):
		return "was cancelled."
	case errors.Is(err, client.ErrTimeout):
		return "has not answered in time. It is not known whether it has done its work."
	}
	return "has not answered. It is not known whether it has done its work."
}
