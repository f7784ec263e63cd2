package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

// What our gateway must reach: processor time as a ratio to the bare proxy,
// median latency as a ratio to no gateway at all, and the time that a list of
// many servers may take.
const (
	cpuOfProxy      = 2.0
	latencyOfDirect = 1.5
	manyListed      = 50.0 // milliseconds
)

// target is something that was to be reached.
type target struct {
	what, wanted, got string
	reached           bool
}

func most(what string, limit, got float64, unit string) target {
	return target{what, fmt.Sprintf("≤ %g %s", limit, unit), report.Number(got) + " " + unit, got <= limit}
}

// with adds the same as a ratio to something else, which is not the target.
func (t target) with(ratio float64, to string) target {
	t.got += fmt.Sprintf("; %s × %s", report.Number(ratio), to)
	return t
}

// verdict says which targets our gateway reaches, and where a peer needs less.
func (r *passed) verdict(b *strings.Builder) {
	ours := r.ours()
	if ours < 0 {
		return
	}
	t := report.Table{Head: []string{"", "wanted", "measured", "reached"}}
	for _, x := range r.targets(ours) {
		reached := "yes"
		if !x.reached {
			reached = "**no**"
		}
		t.Add(x.what, x.wanted, x.got, reached)
	}
	fmt.Fprintf(b, "\n### Gateways: targets\n\nBy medians of the ratios within a round. A peer is ahead in a row if it needs less; lists and small calls in all columns count.\n\n%s", &t)
	if why := r.whyLate(ours); why != "" {
		fmt.Fprintf(b, "\n%s\n", why)
	}
	for _, peer := range r.ahead(ours) {
		fmt.Fprintf(b, "\n- %s", peer)
	}
	b.WriteString("\n")
}

// ours returns where our gateway is, or -1.
func (r *passed) ours() int {
	for i, g := range r.all {
		if g.name == "gateway" {
			return i
		}
	}
	return -1
}

func (r *passed) targets(ours int) []target {
	var all []target
	for _, row := range r.calls {
		mine, name := row.cells[ours], strings.TrimPrefix(row.name, gatewayPrefix)
		if mine.lacks != "" {
			all = append(all, target{what: name, wanted: "an answer", got: mine.lacks})
			continue
		}
		all = append(all,
			most(name+": processor time", cpuOfProxy, stats.Of(stats.Ratios(mine.cpu, row.cells[1].cpu)).Median, "× ReverseProxy"),
			most(name+": median latency", latencyOfDirect, latencies(mine, row.cells[0]).Median, "× no gateway").with(latencies(mine, row.cells[1]).Median, "ReverseProxy"))
	}
	if len(r.many) > 0 {
		c, name := r.many[ours], fmt.Sprintf("%d servers of %d tools listed, once they are known", r.backends(), manyTools)
		if c.lacks != "" {
			all = append(all, target{what: name, wanted: "a list", got: c.lacks})
		} else {
			all = append(all, most(name, manyListed, stats.Of(c.p50).Median/1000, "ms"))
		}
	}
	found := r.ahead(ours)
	return append(all, target{"ahead of every peer", "everywhere", fmt.Sprintf("behind in %d cases", len(found)), len(found) == 0})
}

// whyLate explains latencies that are missed by the bare proxy as well.
func (r *passed) whyLate(ours int) string {
	least, greatest := math.Inf(1), 0.0
	missed := false
	for _, row := range r.calls {
		direct, proxy, mine := row.cells[0], row.cells[1], row.cells[ours]
		if mine.lacks != "" || proxy.lacks != "" {
			continue
		}
		missed = missed || latencies(mine, direct).Median > latencyOfDirect
		least = min(least, latencies(proxy, direct).Median)
		greatest = max(greatest, latencies(proxy, direct).Median)
	}
	if !missed || least <= latencyOfDirect {
		return ""
	}
	return fmt.Sprintf("Median latency: through any gateway a call is two requests instead of one, and here the generator, the gateway and the server share %d cores. ReverseProxy only copies bytes, and its median latency is %s to %s × no gateway: %g × is out of reach for a process between the two. What our gateway adds to such a hop is the ratio to ReverseProxy.",
		runtime.NumCPU(), report.Number(least), report.Number(greatest), latencyOfDirect)
}

// ahead names the cases in which a peer does better.
func (r *passed) ahead(ours int) []string {
	var found []string
	// of returns what was measured of one, round by round.
	compare := func(what string, of func(i int) []float64) {
		for i, g := range r.all {
			if more := stats.Of(stats.Ratios(of(ours), of(i))).Median; !g.basis() && i != ours && more > 1 {
				found = append(found, fmt.Sprintf("%s: %s × that of %s.", what, report.Number(more), g.label))
			}
		}
	}
	for _, row := range append(append([]*row{}, r.calls...), r.lists...) {
		name := strings.TrimPrefix(row.name, gatewayPrefix)
		for _, m := range []struct {
			what string
			of   func(*cell) []float64
		}{
			{"processor time", func(c *cell) []float64 { return c.cpu }},
			{"median latency", func(c *cell) []float64 { return c.p50 }},
			{"latency of the 99th percentile", func(c *cell) []float64 { return c.p99 }},
			{"peak memory", func(c *cell) []float64 { return []float64{float64(c.peak)} }},
		} {
			compare(name+": "+m.what, func(i int) []float64 { return m.of(row.cells[i]) })
		}
	}
	if len(r.starts) > 0 {
		compare("time to the first answer", func(i int) []float64 { return r.starts[i].millis })
		compare("idle memory", func(i int) []float64 { return []float64{float64(r.starts[i].idle)} })
	}
	if len(r.many) > 0 {
		compare("first complete list of many servers", func(i int) []float64 { return []float64{r.many[i].first} })
		compare("list of many servers", func(i int) []float64 { return r.many[i].p50 })
	}
	if len(r.sessions) > 0 {
		compare("memory of a session", func(i int) []float64 { return []float64{r.sessions[i].each} })
	}
	return found
}
