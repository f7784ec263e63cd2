package mcptest_test

import (
	"context"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

type addArgs struct {
	A int64 `json:"a" description:"first"`
	B int64 `json:"b" description:"second"`
}

type sum struct {
	Sum int64 `json:"sum"`
}

func adder() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "adder", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), ProgressInterval: -1})
	server.AddTool(s, mcp.Tool{Name: "add"}, func(ctx context.Context, call *server.Call, in addArgs) (sum, error) {
		call.Progress(ctx, 1, 2, "adding")
		return sum{in.A + in.B}, nil
	})
	return s
}
