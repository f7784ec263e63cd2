// Serve serves the library at http://127.0.0.1:7330.
package main

import (
	"log"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/examples/rest/library"
)

func main() {
	web := &http.Server{Addr: "127.0.0.1:7330", Handler: library.NewAPI(), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(web.ListenAndServe())
}
