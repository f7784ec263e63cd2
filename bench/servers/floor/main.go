// Floor is what the servers are measured against: bare net/http, or bare pipes,
// and encoding/json. It does the same work on the same payloads, one decode and
// one encode, and knows nothing about the protocol: no validation, no
// revisions, no checks.
package main

import (
	"log"
	"os"

	"github.com/parley-mcp/parley/bench/servers/config"
)

func main() {
	c := config.Parse()
	f := newFloor(c)
	if c.HTTP != "" {
		c.Serve(f)
	}
	if err := f.servePipe(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
