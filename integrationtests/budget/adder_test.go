package budget_test

import (
	"context"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type addArgs struct {
	A int64 `json:"a" description:"first"`
	B int64 `json:"b" description:"second"`
}

type sum struct {
	Sum int64 `json:"sum"`
}

// boundless is a rate that is kept and never reached.
var boundless = mcp.Rate{PerSecond: 1e9}

func adder() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "adder", Version: "1", Title: "Adder"}, &server.Options{Logging: true, Subscriptions: true, ToolRate: boundless})
	server.AddTool(s, mcp.Tool{Name: "add", Title: "Add"}, func(_ context.Context, _ *server.Call, in addArgs) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	return s
}
