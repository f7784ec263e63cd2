package main

import (
	"fmt"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

// smallCalls are calls of the typed tool with a payload of a few dozen bytes.
func smallCalls() []*workload {
	var all []*workload
	for _, n := range []int{1, 16, 256} {
		all = append(all, eras(workload{name: fmt.Sprintf("small call, %s", connections(n)), width: n, op: echo(payload.Small()), budget: 1.25})...)
	}
	for _, n := range []int{1, 16} {
		all = append(all, eras(workload{name: fmt.Sprintf("small call, %d in flight", n), pipe: true, width: n, needs: piped, op: echo(payload.Small()), budget: 1.5})...)
	}
	return append(all, eras(workload{name: "small call, 10,000 tools", tools: 10_000, op: echo(payload.Small()), budget: 1.25})...)
}

func connections(n int) string {
	if n == 1 {
		return "1 connection"
	}
	return fmt.Sprintf("%d connections", n)
}

// largeCalls are the same with a long text, which is echoed.
func largeCalls() []*workload {
	k64, m1 := echo(payload.Sized(64<<10)), echo(payload.Sized(1<<20))
	var all []*workload
	all = append(all, eras(workload{name: "64 KiB echoed", op: k64, budget: 0.75})...)
	all = append(all, eras(workload{name: "64 KiB echoed", pipe: true, needs: piped, op: k64})...)
	all = append(all, eras(workload{name: "1 MiB echoed", op: m1})...)
	return append(all, eras(workload{name: "1 MiB echoed", pipe: true, needs: piped, op: m1})...)
}

// echo calls the tool "echo".
func echo(p payload.Echo) func(*workload, load.Conn) load.Op {
	return func(w *workload, c load.Conn) load.Op {
		return repeatCall(c, payload.Call(w.era, "echo", p), load.NewChecker(load.IsEcho(p)))
	}
}

func repeatCall(c load.Conn, r *payload.Request, check *load.Checker) load.Op {
	return func() (time.Duration, error) {
		a, err := c.Call(r)
		if err != nil {
			return 0, err
		}
		return a.Took, check.Check(a)
	}
}
