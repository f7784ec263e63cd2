package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type computeArgs struct {
	Seconds float64 `json:"seconds" description:"How long it takes" minimum:"0" maximum:"3600"`
	Label   string  `json:"label,omitempty" description:"What to call it"`
}

type fileArgs struct {
	Filename string `json:"filename" description:"What to delete"`
}

type greetArgs struct {
	Name string `json:"name" description:"Whom to greet"`
}

type confirmForm struct {
	Confirm bool `json:"confirm" description:"Whether to go on"`
}

// addTasks adds the tools with which the suite tests tasks.
//
// Spec: ext-tasks/draft tasks#task-creation.
func addTasks(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "greet", Description: "Says hello, at once."},
		func(_ context.Context, _ *server.Call, in greetArgs) (string, error) {
			return "Hello, " + in.Name + "!", nil
		})
	addTask(s, "slow_compute", "Takes as long as it is told to.", mcp.TaskOptional,
		func(ctx context.Context, _ *server.Call, in computeArgs) (string, error) {
			err := pause(ctx, time.Duration(in.Seconds*float64(time.Second)))
			return fmt.Sprintf("Computed %q in %g seconds.", in.Label, in.Seconds), err
		})
	addTask(s, "failing_job", "Fails after a second.", mcp.TaskRequired,
		func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
			if err := pause(ctx, time.Second); err != nil {
				return "", err
			}
			return "", errors.New("the job failed, as it always does")
		})
	addTask(s, "protocol_error_job", "Ends with an error of the protocol.", mcp.TaskOptional,
		func(context.Context, *server.Call, struct{}) (string, error) {
			return "", jsonrpc.Errorf(jsonrpc.CodeInternalError, "the job ended with an error of the protocol, as it always does")
		})
	addTask(s, "confirm_delete", "Asks before it pretends to delete something.", mcp.TaskOptional, confirmDelete)
	addTask(s, "multi_input", "Asks two things at once.", mcp.TaskOptional, askTwoThings)
	addTask(s, "test_tool_with_task", "Asks first, and then becomes a task.", mcp.TaskRequired, askThenStart, server.TaskAfter(-1))
}

func addTask[In any](s *server.Server, name, description string, support mcp.TaskSupport, h func(context.Context, *server.Call, In) (string, error), opts ...server.ToolOption) {
	server.AddTool(s, mcp.Tool{Name: name, Description: description, Execution: &mcp.ToolExecution{TaskSupport: support}}, h, opts...)
}

func confirmDelete(ctx context.Context, call *server.Call, in fileArgs) (string, error) {
	answer, err := server.Elicit[confirmForm](ctx, call, "confirm", "Delete "+in.Filename+"?")
	if err != nil {
		return "", err
	}
	if !answer.Confirm {
		return in.Filename + " was kept.", nil
	}
	return in.Filename + " was deleted.", nil
}

func askTwoThings(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
	answers, err := call.Ask(ctx, server.Form[nameForm]("name", "What is your name?"), server.Form[colorForm]("color", "What is your favorite color?"))
	if err != nil {
		return "", err
	}
	user, err := server.Answer[nameForm](answers, "name")
	if err != nil {
		return "", err
	}
	favorite, err := server.Answer[colorForm](answers, "color")
	return user.Name + " likes " + favorite.Color + ".", err
}

func askThenStart(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
	user, err := server.Elicit[nameForm](ctx, call, "user_name", "What is your name?")
	if err != nil {
		return "", err
	}
	if err := call.StartTask(ctx); err != nil {
		return "", err
	}
	return "Hello, " + user.Name + "!", nil
}
