package check_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest/check"
	"github.com/parley-mcp/parley/server"
)

// exampleT stands in for the *testing.T of a test, which examples do not have.
type exampleT struct {
	testing.TB
	failed   bool
	cleanups []func()
}

func (*exampleT) Helper()                  {}
func (*exampleT) Context() context.Context { return context.Background() }
func (*exampleT) Name() string             { return "TestConforms" }
func (*exampleT) Logf(string, ...any)      {}
func (t *exampleT) Errorf(string, ...any)  { t.failed = true }
func (t *exampleT) Fatalf(string, ...any)  { t.failed = true }
func (t *exampleT) Cleanup(f func())       { t.cleanups = append(t.cleanups, f) }
func (t *exampleT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

// A server is held against every sentence of the specification that shows from
// outside; what fails is an error of the test.
func ExampleServer() {
	t := new(exampleT) // in a test: its *testing.T
	defer t.end()

	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	server.AddTool(srv, mcp.Tool{Name: "greet", Annotations: reads}, func(context.Context, *server.Call, struct{}) (string, error) { return "Hello.", nil })
	check.Server(t, check.Handler(srv), check.Revision(mcp.Revision20260728))
	fmt.Println("failed:", t.failed)
	// Output: failed: false
}
