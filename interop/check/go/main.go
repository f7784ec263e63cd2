// Command peer has what parley check judges of implementations in Go:
//
//	peer SDK server stdio|http|sse        over HTTP it prints its URL
//	peer go-sdk server stateless          over HTTP without sessions
//	peer SDK client REVISION|auto URL
//	peer SDK client REVISION|auto -- COMMAND...
//
// SDK is go-sdk or mcp-go. A server listens at the port of the environment's PORT, or
// at a free one.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// whole is how long a client may take: it then ends as if it were done.
const whole = 25 * time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	usage := fmt.Errorf("usage: peer go-sdk|mcp-go server stdio|http|sse, or peer go-sdk|mcp-go client REVISION|auto URL|-- COMMAND")
	if len(args) < 3 {
		return usage
	}
	serve, connect := serveOfficial, connectOfficial
	if args[0] == "mcp-go" {
		serve, connect = serveMark3labs, connectMark3labs
	}
	switch args[1] {
	case "server":
		return serve(args[2])
	case "client":
		ctx, stop := context.WithTimeout(context.Background(), whole)
		defer stop()
		drive(ctx, func() (client, error) { return connect(ctx, args[2], placeOf(args[3:])) })
		return nil
	}
	return usage
}

// listen serves until the process ends, and prints the URL.
func listen(path string, handler http.Handler) error {
	port := os.Getenv("PORT")
	if port == "" {
		port = "0"
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s%s\n", l.Addr(), path)
	return http.Serve(l, handler) //nolint:gosec // it lives as long as the suite
}

// place is where a client goes: a URL, or a command that it starts.
type place struct {
	url     string
	command []string
}

func placeOf(args []string) place {
	if len(args) > 1 && args[0] == "--" {
		return place{command: args[1:]}
	}
	return place{url: args[0]}
}
