// Websocket speaks MCP over WebSocket, in both roles. Everything about the
// transport is in websocket.go.
//
//	go run . -serve localhost:8080
//	go run . -call ws://localhost:8080 Ann
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

func main() {
	address := flag.String("serve", "", "serve at this `address`")
	url := flag.String("call", "", "call the server at this `URL`")
	flag.Parse()
	if err := run(context.Background(), *address, *url, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address, url, name string) error {
	switch {
	case address != "":
		web := &http.Server{Addr: address, Handler: handler(greeter()), ReadHeaderTimeout: 10 * time.Second}
		return web.ListenAndServe()
	case url != "":
		words, err := greet(ctx, url, name)
		if err == nil {
			fmt.Println(words)
		}
		return err
	}
	return errors.New("give -serve ADDRESS, or -call URL and a NAME")
}

type greeting struct {
	Name string `json:"name" description:"who to greet" minLength:"1"`
}

func greeter() *server.Server {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet", Description: "Greets a person"}, func(_ context.Context, _ *server.Call, in greeting) (string, error) {
		return "Hello, " + in.Name + ".", nil
	})
	return srv
}

func greet(ctx context.Context, url, name string) (string, error) {
	c, err := client.Connect(ctx, transport(url), nil)
	if err != nil {
		return "", err
	}
	words, err := client.Call[string](ctx, c, "greet", greeting{name})
	return words, errors.Join(err, c.Close())
}
