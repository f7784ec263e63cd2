package main

import (
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/parley-mcp/parley/bench/internal/report"
)

// part is what is measured and written independently of the rest.
type part struct {
	// block is the name of its markers on the page.
	block string
	// kind is what its peers are.
	kind string
	rows func() []string
	// peers returns the names and labels of what it compares.
	peers func() []named
	// measure measures the rows that were asked for, and returns the results as
	// sections.
	measure func(options) (string, error)
}

type named struct{ name, label string }

var parts = []*part{
	{"results", "peer", serverRows, serverPeers, measureServers},
	{"gateways", "gateway", gatewayRows, gatewayPeers, measureGateways},
}

func serverPeers() []named {
	var all []named
	for _, p := range peers {
		all = append(all, named{p.name, p.label})
	}
	return all
}

// run measures a part of which some rows were asked for, and some peers if any were. Only if all were, its
// tables on the page are replaced.
func (p *part) run(o options) error {
	rows := p.rows()
	wanted := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return !o.only.MatchString(row) })
	if len(wanted) == 0 || len(o.peers) > 0 && !slices.ContainsFunc(p.peers(), func(k named) bool { return slices.Contains(o.peers, k.name) }) {
		return nil
	}
	text, err := p.measure(o)
	if err != nil {
		return err
	}
	if o.out == "" || len(wanted) < len(rows) {
		_, err := fmt.Fprint(os.Stdout, text)
		return err
	}
	page, err := os.ReadFile(o.out)
	if err != nil {
		return err
	}
	if page, err = report.Replace(page, p.block, text); err != nil {
		return fmt.Errorf("%s: %w", o.out, err)
	}
	log.Printf("writing the tables of the %ss to %s", p.kind, o.out)
	return os.WriteFile(o.out, page, 0o644)
}
