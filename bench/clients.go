package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/bench/internal/child"
	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

// measureMemory measures client and server in one process, without a network.
func measureMemory(r *results) error {
	for _, w := range eras(workload{name: "small call, client and server in memory"}) {
		if !r.wants(w, "") {
			continue
		}
		row, err := measureDrivers(r, w, func(s *subject) (*driver, error) {
			if s.clientProgram == "" {
				return nil, errNothing
			}
			return startDriver(s.clientProgram, w.era, nil)
		})
		if err != nil {
			return err
		}
		r.memory = append(r.memory, row)
	}
	return nil
}

// measureClients measures clients: every client against our server, and ours
// against every server.
func measureClients(r *results) error {
	ours := r.indexOf("parley")
	if ours < 0 {
		return nil
	}
	for _, w := range eras(workload{name: "small call of the client, Parley's server"}) {
		if !r.wants(w, http1) {
			continue
		}
		row, err := measureDrivers(r, w, func(s *subject) (*driver, error) {
			return connectDriver(s.clientProgram, r.subjects[ours], w.era)
		})
		if err != nil {
			return err
		}
		r.clients = append(r.clients, row)
	}
	for _, w := range eras(workload{name: "small call of Parley's client, each server"}) {
		if !r.wants(w, http1) {
			continue
		}
		row, err := measureDrivers(r, w, func(s *subject) (*driver, error) {
			if s.name == "floor" { // it does not speak the protocol
				return nil, errNothing
			}
			return connectDriver(r.subjects[ours].clientProgram, s, w.era)
		})
		if err != nil {
			return err
		}
		r.against = append(r.against, row)
	}
	return nil
}

// wants completes the name of a workload and reports whether it was asked for.
func (r *results) wants(w *workload, transport string) bool {
	w.name = strings.Join(strings.Fields(fmt.Sprintf("%s, %s %s", w.name, transport, w.era.Revision())), " ")
	return r.only.MatchString(w.name)
}

// errNothing means that a subject has no cell in a row of clients.
var errNothing = errors.New("there is nothing to measure")

// measureDrivers measures client programs in the same way as servers are
// measured. start returns errNothing where there is nothing to measure.
func measureDrivers(r *results, w *workload, start func(*subject) (*driver, error)) (*row, error) {
	log.Print(w.name)
	row := &row{workload: w}
	var all []*driver
	defer func() {
		for _, d := range all {
			d.stop()
		}
	}()
	for _, s := range r.subjects {
		c := &cell{}
		row.cells = append(row.cells, c)
		d, err := start(s)
		if errors.Is(err, errNothing) {
			c.lacks = err.Error()
			continue
		} else if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", w.name, s.label, err)
		}
		d.cell = c
		all = append(all, d)
	}
	for round := range r.rounds {
		for i := range all {
			d := all[(i+round)%len(all)]
			if err := d.round(r.time); err != nil {
				return nil, d.client.Explain(fmt.Errorf("%s: %w", w.name, err))
			}
		}
	}
	return row, nil
}

// driver is a running client program, and the server that it calls.
type driver struct {
	client *child.Child
	server *process // nil for one in the client's process
	out    *bufio.Reader
	cell   *cell
	calls  int
}

// connectDriver starts a server and a client of it.
func connectDriver(program string, s *subject, era payload.Era) (*driver, error) {
	if program == "" {
		return nil, errNothing
	}
	p, err := s.startHTTP(era, payload.BaseTools)
	if err != nil {
		return nil, err
	}
	d, err := startDriver(program, era, p)
	if err != nil {
		p.Stop()
	}
	return d, err
}

func startDriver(program string, era payload.Era, server *process) (*driver, error) {
	args := []string{program, "-era", string(era)}
	if server != nil {
		args = append(args, "-url", "http://"+server.addr+"/mcp")
	}
	c, err := child.Start(args...)
	if err != nil {
		return nil, err
	}
	d := &driver{client: c, server: server, out: bufio.NewReader(c.Out)}
	if err := d.expect("ready"); err != nil {
		c.Stop()
		return nil, c.Explain(err)
	}
	return d, nil
}

func (d *driver) stop() {
	d.client.Stop()
	if d.server != nil {
		d.server.Stop()
	}
}

func (d *driver) expect(word string) error {
	line, err := d.out.ReadString('\n')
	if err == nil && strings.TrimSpace(line) != word {
		err = fmt.Errorf("the client said %q, not %q", line, word)
	}
	return err
}

func (d *driver) run(calls int) (time.Duration, error) {
	start := time.Now()
	if _, err := d.client.In.Write([]byte(strconv.Itoa(calls) + "\n")); err != nil {
		return 0, err
	}
	err := d.expect("done")
	return time.Since(start), err
}

// round makes as many calls as take about d.
func (d *driver) round(t time.Duration) error {
	if d.calls == 0 {
		const some = 100
		took, err := d.run(some)
		if err != nil {
			return err
		}
		d.calls = max(1, int(some*t/took))
	}
	before, err := d.client.CPU()
	if err != nil {
		return err
	}
	took, err := d.run(d.calls)
	if err != nil {
		return err
	}
	after, err := d.client.CPU()
	if err != nil {
		return err
	}
	m, err := d.client.Memory()
	if err != nil {
		return err
	}
	each := took / time.Duration(d.calls)
	d.cell.add(load.Run{Ops: d.calls, Elapsed: took, Latencies: []time.Duration{each}}, after-before, m.Peak)
	return nil
}
