package taskstore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/server/taskstore"
	"github.com/parley-mcp/parley/transport/frames"
)

// reporter offers a tool that runs as a task. All servers with the same store know of it.
func reporter(store taskstore.Store) *server.Server {
	srv := server.New(mcp.Implementation{Name: "reporter", Version: "1.0.0"}, &server.Options{Tasks: server.TaskOptions{Store: store}})
	report := mcp.Tool{Name: "report", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
	server.AddTool(srv, report, func(context.Context, *server.Call, struct{}) (string, error) { return "all is well", nil })
	return srv
}

// A task is begun at one server, and its result is fetched from another with the same
// store. For servers in several processes, or after a restart, the store is one that keeps
// its records in a database.
func Example() {
	ctx := context.Background()
	store := taskstore.NewMemory()
	first, second := reporter(store), reporter(store)

	c, err := client.Connect(ctx, frames.InProcess(first, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	task, err := c.StartTask(ctx, "report", nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := task.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	_ = c.Close()
	_ = first.Close(ctx)

	c, err = client.Connect(ctx, frames.InProcess(second, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	result, err := c.Task(task.ID(), "report").Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	_ = c.Close()
	_ = second.Close(ctx)
	// Output: all is well
}
