// Rest makes a REST API into a server. Each operation that the API lists, at
// /operations, is a tool, and tools come and go with it. An operation that the API
// answers with "accepted" (202) is followed to its end, as a task where the client
// can take one.
//
//	go run ./examples/rest/library/serve &
//	go run ./examples/rest -api http://127.0.0.1:7330 &      # and API_TOKEN=... if it wants one
//	parley list http://127.0.0.1:7331/mcp tools
//	parley call http://127.0.0.1:7331/mcp make_index
//	parley call http://127.0.0.1:7331/mcp search word=emma
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/parley-mcp/parley/transport/httpserver"
)

func main() {
	api := flag.String("api", "http://127.0.0.1:7330", "`URL` of the API")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := newProxy(http.DefaultClient, *api, os.Getenv("API_TOKEN"))
	go p.follow(ctx) // ends with ctx
	if err := httpserver.Serve(ctx, ":7331", p, &httpserver.Options{Finish: p.Close}); err != nil {
		log.Print(err)
	}
}
