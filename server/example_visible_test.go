package server_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// A list depends on who asks: a tool for operators is shown to nobody else. For others it
// does not exist, in lists and in calls. Where tokens have scopes, Visible can be
// auth.Guard.Visible.
func ExampleOptions_visible() {
	operators := map[string]bool{"ann": true}
	srv := server.New(mcp.Implementation{Name: "cluster", Version: "1.0.0"}, &server.Options{
		Visible: func(_ context.Context, x *mcp.Exchange, kind mcp.FeatureKind, name string) bool {
			return kind != mcp.ToolFeature || name != "restart" || operators[x.Peer.Principal]
		},
	})
	for _, name := range []string{"status", "restart"} {
		server.AddTool(srv, mcp.Tool{Name: name}, func(context.Context, *server.Call, struct{}) (string, error) {
			return name + ": done", nil
		})
	}
	ctx := context.Background()
	for _, who := range []string{"ann", "bob"} {
		c, err := client.Connect(ctx, frames.InProcess(srv, &frames.Options{Principal: who}), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(who)
		for tool, err := range c.Tools(ctx) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("  sees", tool.Name)
		}
		fmt.Println(client.Call[string](ctx, c, "restart", struct{}{}))
		_ = c.Close()
	}
	// Output:
	// ann
	//   sees status
	//   sees restart
	// restart: done <nil>
	// bob
	//   sees status
	//  tools/call: unknown tool: "restart" (-32602)
}
