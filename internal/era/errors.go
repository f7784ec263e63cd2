package era

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// wireError translates a handler's error into the error that the client gets.
// Errors that are not meant for the client become "internal error"; their text
// goes only to the log.
//
// Spec: 2026-07-28 basic#error-codes.
func (p *returnPath) wireError(ctx context.Context, err error, method string) *jsonrpc.Error {
	var (
		rpc       *jsonrpc.Error
		invalid   *mcp.InvalidParamsError
		unknown   *mcp.MethodNotFoundError
		missing   *mcp.MissingCapabilityError
		absent    *mcp.ResourceNotFoundError
		denied    *mcp.ForbiddenError
		mismatch  *mcp.HeaderMismatchError
		needsTask *mcp.TaskRequiredError
		noTask    *mcp.TaskForbiddenError
		ended     *mcp.TaskEndedError
	)
	switch {
	case errors.As(err, &mismatch):
		return headerMismatch(mismatch, p.facts)
	case errors.As(err, &denied):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", denied.Error())
	case errors.As(err, &rpc):
		return p.legal(ctx, rpc, method)
	case errors.As(err, &invalid):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%s", invalid.Reason)
	case errors.As(err, &unknown):
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "%s", unknown.Error())
	case errors.As(err, &missing):
		return missingCapability(missing, p.facts)
	case errors.As(err, &needsTask):
		return taskRequired(needsTask, p.facts)
	case errors.As(err, &noTask):
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "%s", noTask.Error())
	case errors.As(err, &ended):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%s", ended.Error())
	case errors.As(err, &absent):
		return withData(jsonrpc.Errorf(p.facts.ResourceNotFound, "Resource not found"), map[string]string{"uri": absent.URI})
	case errors.Is(err, mcp.ErrResourceNotFound):
		return jsonrpc.Errorf(p.facts.ResourceNotFound, "Resource not found")
	case errors.Is(err, context.DeadlineExceeded):
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "the request took too long")
	}
	p.log.ErrorContext(ctx, "handler failed", "method", method, "error", err)
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
}

// The codes from lastReserved to firstReserved belong to the protocol, or to the
// implementations that came before it had codes of its own.
//
// Spec: 2026-07-28 basic#error-codes.
const (
	firstReserved = -32000
	lastReserved  = -32099
)

// legal returns an error that a handler made itself, in a form that may go out. A
// reserved code needs the meaning that the protocol gives it; with another one the
// client gets an internal error with the same words. All revisions have the same
// rule, so that a handler need not know which one is spoken.
//
// Spec: 2026-07-28 basic#error-codes.
func (p *returnPath) legal(ctx context.Context, e *jsonrpc.Error, method string) *jsonrpc.Error {
	if e.Code > firstReserved || e.Code < lastReserved {
		return e
	}
	c := *e
	c.Code = jsonrpc.CodeInternalError
	why := "the code is reserved for the protocol; use one outside of -32768 to -32000"
	switch e.Code {
	case mcp.CodeResourceNotFoundOld: // a newer code says the same
		c.Code = p.facts.ResourceNotFound
		return &c
	case mcp.CodeHeaderMismatch:
		why = "return an *mcp.HeaderMismatchError"
	case mcp.CodeMissingCapability:
		if p.facts.Stateless && isObject(wire.Find(e.Data, "requiredCapabilities")) {
			return e
		}
		why = "return an *mcp.MissingCapabilityError"
	case mcp.CodeUnsupportedVersion:
		if listsVersions(e.Data) {
			return e
		}
		why = "its data must list the supported versions and name the requested one"
	case mcp.CodeURLElicitation:
		if why = p.notVisits(e.Data); why == "" {
			return e
		}
	}
	p.log.ErrorContext(ctx, "handler returned an error code that may not go out", "method", method, "error", e, "reason", why)
	return &c
}

func listsVersions(data json.RawMessage) bool {
	var d struct {
		Supported []string `json:"supported"`
		Requested *string  `json:"requested"`
	}
	return wire.Unmarshal(data, &d) == nil && d.Supported != nil && d.Requested != nil
}

// notVisits says why an error with this data cannot ask its client to visit URLs,
// or "" if it can.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
func (p *returnPath) notVisits(data json.RawMessage) string {
	var list struct {
		Elicitations []*mcp.ElicitParams `json:"elicitations"`
	}
	switch {
	case !p.facts.ElicitationID:
		return "revision " + p.facts.Revision.String() + " does not have the code"
	case p.peer == nil || !p.peer.Capabilities.Elicitation.URLs():
		return "the client cannot visit URLs"
	case !isObject(data) || wire.Unmarshal(data, &list) != nil || len(list.Elicitations) == 0:
		return "its data must list the elicitations"
	}
	for _, v := range list.Elicitations {
		if v == nil || v.Mode != mcp.ElicitURL || v.URL == "" || v.ElicitationID == "" {
			return "each elicitation must have mode url, a url and an elicitationId"
		}
	}
	return ""
}

// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func headerMismatch(e *mcp.HeaderMismatchError, f *revision.Facts) *jsonrpc.Error {
	if !f.Stateless {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", e.Error())
	}
	return jsonrpc.Errorf(mcp.CodeHeaderMismatch, "%s", e.Error())
}

// Spec: 2026-07-28 basic#meta.
func missingCapability(e *mcp.MissingCapabilityError, f *revision.Facts) *jsonrpc.Error {
	if !f.Stateless {
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%s", e.Error())
	}
	return withData(jsonrpc.Errorf(mcp.CodeMissingCapability, "%s", e.Error()),
		map[string]any{"requiredCapabilities": e.Required})
}

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// Spec: ext-tasks/draft tasks#capability-negotiation.
func taskRequired(e *mcp.TaskRequiredError, f *revision.Facts) *jsonrpc.Error {
	if !f.Stateless {
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "%s", e.Error())
	}
	return withData(jsonrpc.Errorf(mcp.CodeMissingCapability, "%s", e.Error()),
		map[string]any{"requiredCapabilities": extensionNeeded(mcp.ExtensionTasks).Required})
}

func withData(e *jsonrpc.Error, data any) *jsonrpc.Error {
	raw, err := wire.Marshal(data)
	if err == nil {
		e.Data = raw
	}
	return e
}
