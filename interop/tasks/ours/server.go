package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// brokenCode is the code of an error that no other party uses.
const brokenCode = 4242

type none struct{}

type askArgs struct {
	Text string `json:"text" description:"What to ask"`
}

type nameForm struct {
	Name string `json:"name" description:"Your name"`
}

// serve serves one client on standard input and output, or any number on a free port,
// whose URL it writes to standard output.
func serve(ctx context.Context, s *server.Server, way string, logger *slog.Logger) error {
	serving := mcp.ServeOptions{Logger: logger, AskAsTasks: true}
	if way == "stdio" {
		return stdio.Serve(ctx, s, &serving)
	}
	handler, err := streamable.New(s, &streamable.Options{ServeOptions: serving})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "http://%s/mcp\n", listener.Addr()) //nolint:forbidigo // nobody speaks MCP on it
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() }) // its requests are nobody's any more
	if err := srv.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

func newServer(logger *slog.Logger) *server.Server {
	s := server.New(mcp.Implementation{Name: "ours", Version: "1"}, &server.Options{Logger: logger})
	task := &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}
	server.AddTool(s, mcp.Tool{Name: "ask", Description: "Asks the client's model, as a task.", Execution: task},
		func(ctx context.Context, call *server.Call, in askArgs) (string, error) {
			said, err := server.SampleText(ctx, call, "said", in.Text, 50)
			return "the model said: " + said, err
		})
	server.AddTool(s, mcp.Tool{Name: "broken", Description: "Fails with an error of the protocol, as a task.", Execution: task},
		func(context.Context, *server.Call, none) (string, error) {
			return "", jsonrpc.Errorf(brokenCode, "it is broken")
		})
	server.AddTool(s, mcp.Tool{Name: "hello", Description: "Asks for a name, by a task of the client where it can, and is none itself."},
		func(ctx context.Context, call *server.Call, _ none) (string, error) {
			form, err := server.Elicit[nameForm](ctx, call, "name", "Who are you?")
			return fmt.Sprintf("Hello, %s.", form.Name), err
		})
	return s
}
