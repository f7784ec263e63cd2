package mcptest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcptest"
)

// A server and a client in one process, with a look at what travels.
func ExampleTransport() {
	transport := &mcptest.Transport{Handler: adder(), Tap: func(fromClient bool, frame []byte) {
		if fromClient {
			fmt.Println(string(frame[:46]), "…")
		}
	}}
	c, err := client.Connect(context.Background(), transport, nil)
	if err != nil {
		log.Fatal(err)
	}
	got, err := client.Call[sum](context.Background(), c, "add", addArgs{2, 3})
	fmt.Println(got.Sum, err)
	_ = c.Close()
	transport.Wait()
	// Output:
	// {"jsonrpc":"2.0","id":1,"method":"server/disco …
	// {"jsonrpc":"2.0","id":2,"method":"tools/call", …
	// 5 <nil>
}
