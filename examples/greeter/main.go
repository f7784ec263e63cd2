// Greeter is a server with one typed tool, over standard input and output.
//
//	parley call greet name=Ann -- go run ./examples/greeter
package main

import (
	"context"
	"log"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

type greeting struct {
	Name string `json:"name" description:"who to greet" minLength:"1"`
	Loud bool   `json:"loud,omitempty" description:"whether to shout"`
}

func greet(_ context.Context, _ *server.Call, in greeting) (string, error) {
	if in.Loud {
		return "HELLO, " + in.Name + "!", nil
	}
	return "Hello, " + in.Name + ".", nil
}

func main() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet", Description: "Greets a person"}, greet)
	if err := stdio.Serve(context.Background(), srv, nil); err != nil {
		log.Fatal(err)
	}
}
