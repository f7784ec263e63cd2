package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// isProtocolError reports whether err may go to the client as it is: an error
// of the protocol, or a request for input.
func isProtocolError(err error) bool {
	var (
		input      *mcp.InputRequired
		coded      *jsonrpc.Error
		params     *mcp.InvalidParamsError
		method     *mcp.MethodNotFoundError
		capability *mcp.MissingCapabilityError
		header     *mcp.HeaderMismatchError
		forbidden  *mcp.ForbiddenError
		mustTask   *mcp.TaskRequiredError
		noTask     *mcp.TaskForbiddenError
		taskEnded  *mcp.TaskEndedError
	)
	return errors.As(err, &input) || errors.As(err, &header) || errors.As(err, &coded) || errors.As(err, &params) ||
		errors.As(err, &method) || errors.As(err, &capability) || errors.As(err, &forbidden) ||
		errors.As(err, &mustTask) || errors.As(err, &noTask) || errors.As(err, &taskEnded)
}

// isEnd reports whether err says that ctx has ended. A deadline that the
// handler set for a part of its work does not count.
func isEnd(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// conceal returns what the client may know of err. The text of an unknown error
// may hold anything, so it is only logged.
func (s *Server) conceal(ctx context.Context, x *mcp.Exchange, err error) error {
	if isProtocolError(err) || isEnd(ctx, err) || errors.Is(err, mcp.ErrResourceNotFound) {
		return err
	}
	var (
		declined *DeclinedError
		misfit   *misfitError
	)
	switch {
	case errors.As(err, &declined):
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", declined)
	case errors.As(err, &misfit):
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", misfit)
	}
	s.log.ErrorContext(ctx, "request failed", "method", x.Method, "id", x.ID.String(), "error", err)
	return errInternal()
}

func errInternal() error {
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
}

// must is for functions that return no error: what goes wrong in them is a
// mistake in the program.
func must(err error) {
	if err != nil {
		panic("server: " + err.Error())
	}
}

func errNoHandler(kind, name string) error { return fmt.Errorf("%s %q has no handler", kind, name) }
