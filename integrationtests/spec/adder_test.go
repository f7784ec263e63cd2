package spec_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type addArgs struct {
	A int64 `json:"a" description:"first"`
	B int64 `json:"b" description:"second"`
}

type sum struct {
	Sum int64 `json:"sum"`
}

func adder() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "adder", Version: "1", Title: "Adder"}, &server.Options{Logging: true, Subscriptions: true})
	server.AddTool(s, mcp.Tool{Name: "add", Title: "Add"}, func(_ context.Context, _ *server.Call, in addArgs) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, "waiting")
		<-ctx.Done()
		return "", ctx.Err()
	})
	return s
}
