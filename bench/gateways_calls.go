package main

import (
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/internal/stats"
	"github.com/parley-mcp/parley/bench/payload"
)

// passed are the measurements of gateways.
type passed struct {
	options
	all     []*installed
	skipped []string
	// server is behind all of them.
	server *subject
	// loadBefore is how busy the machine was at the beginning.
	loadBefore string

	starts   []*started
	calls    []*row
	lists    []*row
	many     []*manyCell
	sessions []*kept
}

const gatewayPrefix = "gateways: "

// mayKeep is how long the servers let gateways keep their lists: longer than a
// row takes.
const mayKeep = 10 * time.Minute

const (
	gatewayStart    = gatewayPrefix + "start"
	gatewayMany     = gatewayPrefix + "tools/list, 500 servers of 20 tools"
	gatewaySessions = gatewayPrefix + "sessions"
)

// gatewayCalls are the rows in which every gateway passes requests on.
func gatewayCalls() []*workload {
	var all []*workload
	for _, n := range []int{1, 16} {
		all = append(all, eras(workload{name: "small call, " + connections(n), width: n, tools: payload.BaseTools, budget: cpuOfProxy})...)
	}
	return nameGateways(all)
}

const listedTools = 500

func gatewayLists() []*workload {
	return nameGateways(eras(workload{name: fmt.Sprintf("tools/list, %d tools", listedTools), width: 1, tools: listedTools, loose: true, op: listTools}))
}

func nameGateways(all []*workload) []*workload {
	for _, w := range all {
		w.name = gatewayPrefix + w.name + ", " + w.era.Revision()
	}
	return all
}

func gatewayRows() []string {
	rows := []string{gatewayStart}
	for _, w := range append(gatewayCalls(), gatewayLists()...) {
		rows = append(rows, w.name)
	}
	return append(rows, gatewayMany, gatewaySessions)
}

// measureGateways measures all gateways, and returns the results as sections.
func measureGateways(o options) (string, error) {
	r := &passed{options: o, loadBefore: loadAverage()}
	program, err := goProgram("servers", "parley")
	if err != nil {
		return "", err
	}
	r.server = &subject{peer: &peer{name: "parley", label: "Parley"}, server: []string{program, "-keep", mayKeep.String()}}
	if r.all, r.skipped, err = installGateways(o.peers); err != nil {
		return "", err
	}
	for _, family := range []func() error{r.measureStarts, r.measureCalls, r.measureLists, r.measureMany, r.measureSessions} {
		if err := family(); err != nil {
			return "", err
		}
	}
	return r.markdown(), nil
}

func (r *passed) measureCalls() error {
	var err error
	r.calls, err = r.measureRows(gatewayCalls())
	return err
}

func (r *passed) measureLists() error {
	var err error
	r.lists, err = r.measureRows(gatewayLists())
	return err
}

// measureRows starts all gateways in front of one server with so many tools,
// and measures them in some rows.
func (r *passed) measureRows(all []*workload) ([]*row, error) {
	all = slices.DeleteFunc(all, func(w *workload) bool { return !r.only.MatchString(w.name) })
	if len(all) == 0 {
		return nil, nil
	}
	server, err := r.backend(all[0].tools)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	fronts := make([]*front, len(r.all))
	why := make([]string, len(r.all))
	for i, g := range r.all {
		f, _, err := r.start(g, all[0].tools, "http://"+server.addr+"/mcp")
		if err != nil {
			log.Printf("%s: %v", g.label, err)
			why[i] = firstLine(err)
			continue
		}
		defer f.stop()
		fronts[i] = f
	}
	var rows []*row
	for _, w := range all {
		log.Print(w.name)
		rows = append(rows, r.measureRow(w, fronts, why))
	}
	return rows, nil
}

// passage is a gateway under load.
type passage struct {
	*front
	cell  *cell
	conns []*load.HTTP
	ops   []load.Op
}

// measureRow has them take turns. What fails has no numbers, and says why.
func (r *passed) measureRow(w *workload, fronts []*front, why []string) *row {
	row := &row{workload: w}
	var all []*passage
	for i, f := range fronts {
		c := &cell{lacks: why[i]}
		row.cells = append(row.cells, c)
		if f != nil && w.era == payload.Stateless && !f.stateless {
			c.lacks = "it wants a session"
		}
		if c.lacks == "" {
			all = append(all, &passage{front: f, cell: c})
		}
	}
	for _, p := range all {
		defer p.leave()
		p.try(func() error { return p.join(w, r.time) })
	}
	for round := range r.rounds * r.factor(w) {
		if round == r.rounds {
			all = slices.DeleteFunc(all, func(p *passage) bool { return !p.basis() && p.name != "gateway" })
		}
		for i := range all {
			p := all[(i+round)%len(all)]
			p.try(func() error { return p.round(r.time) })
		}
	}
	return row
}

func (r *passed) factor(w *workload) int {
	if w.budget > 0 && !r.quick {
		return moreRounds
	}
	return 1
}

// basis reports whether others are compared with this one.
func (g *gateway) basis() bool { return g == gateways[0] || g == gateways[1] }

// try does something unless something has failed before.
func (p *passage) try(do func() error) {
	if p.cell.lacks != "" {
		return
	}
	if err := do(); err != nil {
		err = p.explain(err)
		log.Printf("%s: %v", p.label, err)
		*p.cell = cell{lacks: firstLine(err)}
	}
}

// join connects the clients, and warms everything up.
func (p *passage) join(w *workload, d time.Duration) error {
	for range w.width {
		c, err := p.dial(w.era, "")
		if err != nil {
			return err
		}
		p.conns = append(p.conns, c)
		if w.op != nil {
			p.ops = append(p.ops, w.op(w, c))
		} else {
			p.ops = append(p.ops, p.call(w, c))
		}
	}
	_, err := load.Loop(2*d, p.ops)
	return err
}

func (p *passage) leave() {
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// round runs with fresh connections, which have been used once: between two
// rounds of one gateway those of all others pass.
func (p *passage) round(d time.Duration) error {
	for _, c := range p.conns {
		if err := c.Reconnect(); err != nil {
			return err
		}
		if err := c.Limit(longest); err != nil {
			return err
		}
	}
	if _, err := load.Loop(0, p.ops); err != nil { // each once, all at the same time
		return err
	}
	return p.cell.round(d, p.ops, p.front)
}

// latencies returns the medians of rounds as ratios to those of another.
func latencies(c, basis *cell) stats.Spread { return stats.Of(stats.Ratios(c.p50, basis.p50)) }
