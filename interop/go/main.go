// Command peer is what this suite needs of implementations in Go:
//
//	peer server           a server of mcp-go before 0.34, over Streamable HTTP
//	peer client PARLEY REVISION
//	                      a client of the official SDK that offers roots to a
//	                      server that it starts
//	peer tour EXPECTED    a client of the official SDK that uses what EXPECTED
//	                      says, and prints a line of JSON for each check
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "server":
		err = serve()
	case len(args) == 2 && args[0] == "tour":
		var e expected
		if err = json.Unmarshal([]byte(args[1]), &e); err == nil {
			tour(context.Background(), &e)
		}
	case len(args) == 3 && args[0] == "client":
		err = visit(context.Background(), args[1], args[2])
	default:
		err = fmt.Errorf("usage: peer server | peer client PARLEY REVISION | peer tour EXPECTED")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
