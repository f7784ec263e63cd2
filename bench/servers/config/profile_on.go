//go:build profile

package config

import (
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
)

// profile serves profiles at the address in BENCH_PPROF, if there is one.
func profile() {
	if addr := os.Getenv("BENCH_PPROF"); addr != "" {
		go func() { log.Print(http.ListenAndServe(addr, nil)) }() // ends with the process
	}
}
