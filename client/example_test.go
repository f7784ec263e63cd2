package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

type point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// mirror serves one tool, in this process; a real client would start a
// program with stdio.Command.
func mirror() mcp.Transport {
	s := server.New(mcp.Implementation{Name: "mirror", Version: "1"}, nil)
	server.AddTool(s, mcp.Tool{Name: "mirror"}, func(_ context.Context, _ *server.Call, p point) (point, error) {
		return point{p.Y, p.X}, nil
	})
	return &mcptest.Transport{Handler: s}
}

func ExampleCall() {
	ctx := context.Background()
	c, err := client.Connect(ctx, mirror(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	p, err := client.Call[point](ctx, c, "mirror", point{1, 2})
	fmt.Println(p, err)
	// Output: {2 1} <nil>
}

func ExampleClient_Tools() {
	ctx := context.Background()
	c, err := client.Connect(ctx, mirror(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			log.Print(err)
			break
		}
		fmt.Println(tool.Name)
	}
	// Output: mirror
}
