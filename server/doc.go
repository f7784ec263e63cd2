// Package server makes an mcp.Handler out of tools, resources, prompts and
// completions.
//
//	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
//	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(ctx context.Context, call *server.Call, in greeting) (string, error) {
//		return "Hello, " + in.Name, nil
//	})
//
// A handler is written once and serves every revision of the protocol: it
// asks the user with Elicit, runs a model with Sample, reports with
// Call.Progress and Call.Log, and never sees which revision is spoken.
//
// # Ask before acting
//
// Where a question cannot be asked in place, Elicit and its siblings return an
// *mcp.InputRequired error that the handler must return. The handler runs
// again, from its start, when the answers are there. What must not happen
// twice goes into Once.
//
// # Errors
//
// An error of a tool's handler becomes a result that the model can read. These
// become errors of the protocol instead, also when they are wrapped:
// *jsonrpc.Error, *mcp.InvalidParamsError, *mcp.MethodNotFoundError and
// *mcp.MissingCapabilityError. From all other handlers an error of an unknown
// type is logged and answered with "internal error", without its text.
//
// # Concurrency
//
// All methods of Server and Call may be called concurrently. The package
// starts no goroutines: handlers run on the goroutine that calls Server.Serve.
package server
