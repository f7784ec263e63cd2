package main

import (
	"fmt"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

// workload is one row of the tables: what clients do, over which transport, in
// which era, how many at a time.
type workload struct {
	name string
	era  payload.Era
	// pipe selects standard streams, where width is the number of calls in
	// flight; over HTTP, width is the number of connections.
	pipe  bool
	width int
	tools int
	// loose lets a list have more tools than these, without their schemas.
	loose bool
	needs feature
	// op makes the operation that one of the clients repeats.
	op func(w *workload, c load.Conn) load.Op
	// budget is the most that our server may take, as a ratio to the floor; 0
	// for none.
	budget float64
}

const (
	http1  = "HTTP"
	stdio1 = "stdio"
)

func (w *workload) transport() string {
	if w.pipe {
		return stdio1
	}
	return http1
}

// workloads returns the workloads that measure the server under load.
func workloads() []*workload {
	var all []*workload
	all = append(all, smallCalls()...)
	all = append(all, largeCalls()...)
	all = append(all, lists()...)
	all = append(all, conversations()...)
	for _, w := range all {
		w.name = fmt.Sprintf("%s, %s %s", w.name, w.transport(), w.era.Revision())
		w.tools = max(w.tools, payload.BaseTools)
		w.width = max(w.width, 1)
	}
	return all
}

// eras makes a workload for each era.
func eras(w workload) []*workload {
	a, b := w, w
	a.era, b.era = payload.Stateless, payload.Session
	return []*workload{&a, &b}
}
