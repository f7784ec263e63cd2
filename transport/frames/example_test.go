package frames_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

func greeter() *server.Server {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		return "Hello, " + call.Exchange().Peer.Principal + ".", nil
	})
	return srv
}

// Both roles over TCP. The server identifies its client, here merely by address; a
// client certificate would be better.
func Example() {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { // ends with the client
		socket, err := listener.Accept()
		if err == nil {
			host, _, _ := net.SplitHostPort(socket.RemoteAddr().String())
			opts := &frames.Options{Principal: "client at " + host}
			err = frames.Serve(context.Background(), greeter(), frames.Lines(socket, socket, 0), opts)
		}
		served <- err
	}()

	ctx := context.Background()
	address := listener.Addr().String()
	c, err := client.Connect(ctx, &frames.Client{
		Label: "tcp://" + address,
		Dial: func(ctx context.Context) (frames.Conn, error) {
			socket, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, err
			}
			return frames.Lines(socket, socket, 0), nil
		},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	words, err := client.Call[string](ctx, c, "greet", nil)
	fmt.Println(words, err)
	fmt.Println(c.Close(), <-served, listener.Close())
	// Output:
	// Hello, client at 127.0.0.1. <nil>
	// <nil> <nil> <nil>
}

// A client of a server in the same process.
func ExampleInProcess() {
	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(greeter(), &frames.Options{Principal: "Ann"}), nil)
	if err != nil {
		log.Fatal(err)
	}
	words, err := client.Call[string](ctx, c, "greet", nil)
	fmt.Println(words, err, c.Close())
	// Output: Hello, Ann. <nil> <nil>
}
