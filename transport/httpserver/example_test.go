package httpserver_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/httpserver"
	"github.com/parley-mcp/parley/transport/streamable"
)

func greeter() *server.Server {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(_ context.Context, _ *server.Call, in struct {
		Name string `json:"name"`
	},
	) (string, error) {
		return "Hello, " + in.Name + ".", nil
	})
	return srv
}

// A main calls Serve with the context of signal.NotifyContext, so that Ctrl-C and SIGTERM
// end the server. Server.Close as Finish also waits for tasks and jobs.
func ExampleServe() {
	ctx, stop := context.WithCancel(context.Background())
	stop() // as a signal would, once the server runs
	srv := greeter()
	err := httpserver.Serve(ctx, "127.0.0.1:0", srv, &httpserver.Options{Finish: srv.Close})
	fmt.Println(err)
	// Output: <nil>
}

// With a listener of its own, a program knows the port before the server runs.
func ExampleServeOn() {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- httpserver.ServeOn(ctx, l, greeter(), nil) }() // ends with stop

	c, err := client.Connect(ctx, &streamable.Client{URL: "http://" + l.Addr().String() + "/mcp"}, nil)
	if err != nil {
		log.Print(err)
		stop()
		return
	}
	fmt.Println(client.Call[string](ctx, c, "greet", map[string]string{"name": "Ann"}))
	_ = c.Close()
	stop()
	fmt.Println(<-ended)
	// Output:
	// Hello, Ann. <nil>
	// <nil>
}
