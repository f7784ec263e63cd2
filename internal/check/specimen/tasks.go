package specimen

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// addTasks adds tools that can run as tasks.
func addTasks(s *server.Server) {
	server.AddTool(s, taskTool("task_quick", "Ends at once.", mcp.TaskOptional), func(context.Context, *server.Call, struct{}) (string, error) {
		return "quick", nil
	})
	server.AddTool(s, taskTool("task_slow", "Takes a second.", mcp.TaskOptional), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		return "slow", wait(ctx, call)
	})
	server.AddTool(s, taskTool("task_asks", "Asks the user who it is for.", mcp.TaskOptional), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		p, err := server.Elicit[Person](ctx, call, "person", "Who are you?")
		if err != nil {
			return "", err
		}
		return p.Name, nil
	})
	server.AddTool(s, taskTool("task_fails", "Fails.", mcp.TaskOptional), func(context.Context, *server.Call, struct{}) (string, error) {
		return "", errors.New("it always fails")
	})
	server.AddTool(s, taskTool("task_only", "Runs as a task only.", mcp.TaskRequired), func(context.Context, *server.Call, struct{}) (string, error) {
		return "done", nil
	})
}

func taskTool(name, description string, support mcp.TaskSupport) mcp.Tool {
	t := tool(name, description)
	t.Execution = &mcp.ToolExecution{TaskSupport: support}
	return t
}
