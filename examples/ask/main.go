// Ask starts the greeter and calls its tool: a client in a few lines, for a
// server of any revision.
//
//	go run ./examples/ask
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/transport/stdio"
)

func main() {
	ctx := context.Background()
	c, err := client.Connect(ctx, &stdio.Command{Args: []string{"go", "run", "./examples/greeter"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	said, err := client.Call[string](ctx, c, "greet", map[string]any{"name": "Ann", "loud": true})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(said, c.Revision())
}
