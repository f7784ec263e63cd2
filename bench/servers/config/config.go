// Package config is the command line that all servers of the comparison share.
package config

import (
	"flag"
	"log"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/bench/payload"
)

// Config says what a server is to do.
type Config struct {
	// HTTP is the address to listen on; "" means standard input and output.
	HTTP string
	// Tools is the number of tools, including those that every server has.
	Tools int
	// Era is the only era that will be spoken, for servers that need to know
	// it.
	Era payload.Era
}

// Parse reads the command line.
func Parse() Config {
	var c Config
	flag.StringVar(&c.HTTP, "http", "", "address to listen on; empty for standard input and output")
	flag.IntVar(&c.Tools, "tools", payload.BaseTools, "number of tools")
	flag.StringVar((*string)(&c.Era), "era", string(payload.Stateless), "the era that will be spoken: stateless or session")
	flag.Parse()
	profile()
	return c
}

// Padding returns the names of the tools that only fill the list.
func (c Config) Padding() []string {
	var names []string
	for i := payload.BaseTools; i < c.Tools; i++ {
		names = append(names, payload.PaddingName(i))
	}
	return names
}

// Changing returns a new description for the tool that "change" replaces.
func Changing() string { return "Change " + strconv.FormatInt(changes.Add(1), 10) }

var changes atomic.Int64

// Serve serves HTTP until the process is killed, at /mcp and everywhere below
// it: what is in front of many servers takes each path for another one.
func (c Config) Serve(h http.Handler) {
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	mux.Handle("/mcp/", h)
	s := &http.Server{Addr: c.HTTP, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(s.ListenAndServe())
}
