//go:build unix

package stdio_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

// The frames of stdio work over any stream of bytes: here, a socket.
func ExampleServeOn() {
	srv := server.New(mcp.Implementation{Name: "quiet", Version: "1"}, nil)
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- stdio.ServeOn(context.Background(), srv, far, far, nil) }()
	_, err := fmt.Fprintln(near, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err != nil {
		log.Fatal(err)
	}
	answer := make([]byte, 64)
	n, err := near.Read(answer)
	fmt.Print(string(answer[:n]))
	_ = near.Close()
	fmt.Println(err, <-ended)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{}}
	// <nil> <nil>
}

// A client starts the server it talks to. Here that is this program itself.
func ExampleCommand() {
	ctx := context.Background()
	c, err := client.Connect(ctx, &stdio.Command{
		Args: []string{os.Args[0]}, // such as "parley", "serve", "--stdio"
		Env:  []string{"STDIO_TEST_SERVER=good"},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	fmt.Println(c.ServerInfo().Name, c.Revision())
	// Output: child 2026-07-28
}
