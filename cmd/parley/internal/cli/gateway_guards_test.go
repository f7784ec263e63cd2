package cli

import (
	"context"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A configuration that is read again does not give back what limits have counted.
func TestLimitsStay(t *testing.T) {
	guards := new(posts)
	read := func(rules ...limit.Rule) func() error {
		t.Helper()
		c := new(config.Config)
		c.Limits = rules
		now, err := post(c, guards, nil, func() {}, mcptest.Quiet())
		if err != nil {
			t.Fatal(err)
		}
		guards = now
		chain, err := now.chain(c, nil, nil, mcptest.Quiet())
		if err != nil {
			t.Fatal(err)
		}
		return func() error {
			op := &guard.Operation{Exchange: new(mcp.Exchange), Method: mcp.MethodNamed(mcp.MethodCallTool), Backend: "shop", Subject: "pay"}
			_, err := guard.Chain(chain, func(context.Context, *guard.Operation) (any, error) { return nil, nil })(t.Context(), op)
			return err
		}
	}
	twice, other := limit.Rule{Rate: 0.001, Burst: 2}, limit.Rule{Subject: "list", Rate: 1}
	for i, rules := range [][]limit.Rule{{twice}, {twice}, {other, twice}} {
		if err := read(rules...)(); (err != nil) != (i == 2) {
			t.Errorf("after reading it for the %d. time: %v", i+1, err)
		}
	}
	for i := range 3 {
		if err := read()(); err != nil {
			t.Errorf("without limits: %d. call: %v", i+1, err)
		}
	}
}
