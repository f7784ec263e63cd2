package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// ErrTimeout says that a call failed because the server took longer than a time
// limit; see Options.Timeout and Options.MaxTimeout.
var ErrTimeout = errors.New("the server did not answer in time")

// ErrClosed says that a call failed because the client was closed.
var ErrClosed = errors.New("client closed")

// ErrKeepAlive says that a call failed because its connection was given up: the
// server had not answered the checks of Options.KeepAlive.
var ErrKeepAlive = errors.New("the server no longer answers")

// ErrNotFound says that a server has no such resource, whichever of the protocol's
// codes it used to say so. For a tool or a prompt, an error matches ErrNotFound only
// if the server has a special code for that: most answer with -32602, which merely
// says that the params are wrong. A task matches it if the server does not know its ID,
// or no longer. errors.As still finds the *jsonrpc.Error.
var ErrNotFound = errors.New("not found")

// ErrTaskRequired says that a tool was not called, because it can only be called as a
// task, and Options.NoTasks is set: see mcp.ToolExecution.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
var ErrTaskRequired = errors.New("the server runs this tool only as a task, and Options.NoTasks does without them")

// NotDeclaredError says that a call was not sent, because the server has not
// declared the capability that the method belongs to.
//
// Spec: 2025-11-25 basic/lifecycle#operation.
type NotDeclaredError struct{ Method, Capability string }

// Error names the method and the capability.
func (e *NotDeclaredError) Error() string {
	return fmt.Sprintf("%s: the server has not declared the capability %q", e.Method, e.Capability)
}

// ResultTypeError says that a server has answered with a result of a type that
// an extension defines, which the types of this package do not describe. Client.Do
// returns such a result as it is. Only a client that declares extensions gets
// one; for any other it is an error without a result.
//
// Spec: 2026-07-28 basic#resulttype.
type ResultTypeError struct {
	Method string
	// Type is the resultType, and Result the result as the server sent it.
	Type   string
	Result json.RawMessage
}

// Error names the method and the type.
func (e *ResultTypeError) Error() string {
	return fmt.Sprintf("%s: the server answered with a result of type %q, which belongs to an extension: see ResultTypeError.Result", e.Method, e.Type)
}

// ToolError is the failure of a tool itself, as Call returns it.
type ToolError struct {
	// Tool is the name of the tool, and Result what it returned.
	Tool   string
	Result *mcp.CallToolResult
}

// Error returns what the tool said.
func (e *ToolError) Error() string {
	var text strings.Builder
	for _, c := range e.Result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	return fmt.Sprintf("tool %q failed: %s", e.Tool, text.String())
}

// OutputError says that the structured result of a tool does not fit the output
// schema that the server has listed for it, or that this schema cannot be used, for
// example because its dialect is not supported. (A schema with a regular expression
// that package regexp cannot match is not applied, and logged.) If the tool has changed since, listing
// the tools again mends that.
//
// Spec: 2026-07-28 server/tools#output-schema.
type OutputError struct {
	// Tool is the name of the tool, and Result what it returned.
	Tool   string
	Result *mcp.CallToolResult
	// Err says what is wrong.
	Err error
}

// Error names the tool and what is wrong with its result.
func (e *OutputError) Error() string {
	return fmt.Sprintf("the result of tool %q is not what its output schema promises: %v", e.Tool, e.Err)
}

// Unwrap returns what is wrong.
func (e *OutputError) Unwrap() error { return e.Err }

// notFound makes an error match ErrNotFound if it has one of the codes with which
// servers say that something does not exist: -32002, those that older servers made
// up, and -32602 if the error's data names the resource.
//
// Spec: 2026-07-28 server/resources#error-handling.
func notFound(method string, err error, session bool) error {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return err
	}
	m := mcp.MethodNamed(method)
	if m == nil || m.Feature == 0 {
		return err
	}
	absent := session && rpc.Code <= -32001 && rpc.Code >= -32003
	if m.Feature == mcp.ResourceFeature {
		absent = absent || rpc.Code == mcp.CodeResourceNotFoundOld || rpc.Code == jsonrpc.CodeInvalidParams && namesURI(rpc.Data)
	}
	if !absent {
		return err
	}
	return &notFoundError{err}
}

func namesURI(data json.RawMessage) bool {
	var d struct {
		URI string `json:"uri"`
	}
	return data != nil && wire.Unmarshal(data, &d) == nil && d.URI != ""
}

type notFoundError struct{ err error }

func (e *notFoundError) Error() string        { return e.err.Error() }
func (e *notFoundError) Unwrap() error        { return e.err }
func (e *notFoundError) Is(target error) bool { return target == ErrNotFound }
