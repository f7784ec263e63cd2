// Command peer is what this suite needs of implementations in Go:
//
//	peer server           a server of mcp-go before 0.34, over Streamable HTTP
//	peer client PARLEY REVISION
//	                      a client of the official SDK that offers roots to a
//	                      server that it starts
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "server":
		err = serve()
	case len(args) == 3 && args[0] == "client":
		err = visit(context.Background(), args[1], args[2])
	default:
		err = fmt.Errorf("usage: peer server | peer client PARLEY REVISION")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
