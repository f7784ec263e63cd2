// Bench compares MCP servers and clients, our own and those of other
// implementations, with a bare program that does the same work on the same
// payloads; and gateways with a bare proxy.
//
//	go run . [flags]
//
// Each server is a process of its own. All of them take turns in each round, so
// that other load on the machine affects all of them equally; what counts is
// the ratio to the bare program in the same round.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

type options struct {
	only   *regexp.Regexp
	peers  []string
	rounds int
	time   time.Duration
	// scale is how many sessions and streams are held open, and how many tasks wait.
	scale   int
	out     string
	list    bool
	quick   bool
	profile string
}

// quickTools is the most tools that a quick run has: with more, some servers
// take long to start.
const quickTools = 1_000

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	o, err := parse()
	if err != nil {
		log.Fatal(err)
	}
	if err := run(o); err != nil {
		log.Fatal(err)
	}
}

func parse() (options, error) {
	var o options
	only := flag.String("only", "", "measure only the workloads that this pattern matches; see -list")
	peers := flag.String("peers", "", "measure only these, separated by commas; the floor is always there")
	flag.BoolVar(&o.quick, "quick", false, "one short round, at most 1,000 tools, and a tenth of the sessions, streams and tasks: to see that everything works")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each workload")
	flag.DurationVar(&o.time, "time", 250*time.Millisecond, "how long one server runs in one round")
	flag.IntVar(&o.scale, "scale", 10_000, "number of idle sessions, of open streams, and of waiting tasks")
	flag.StringVar(&o.out, "out", "", "file to put the results of each part that is measured completely into, between its markers; all others go to standard output")
	flag.StringVar(&o.profile, "profile", "", "folder to write profiles of our server into, instead of measuring")
	flag.BoolVar(&o.list, "list", false, "list the workloads and the peers")
	flag.Parse()
	if o.quick {
		o.rounds, o.time, o.scale = 1, 30*time.Millisecond, o.scale/10
	}
	if *peers != "" {
		o.peers = strings.Split(*peers, ",")
	}
	if o.quick || *peers != "" {
		o.out = ""
	}
	var err error
	o.only, err = regexp.Compile(*only)
	if err == nil && o.rounds < 1 {
		err = errors.New("-rounds must be at least 1")
	}
	return o, errors.Join(err, o.checkPeers())
}

func (o options) checkPeers() error {
	var known []string
	for _, p := range parts {
		for _, k := range p.peers() {
			known = append(known, k.name)
		}
	}
	for _, name := range o.peers {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no peer %q; -list shows all", name)
		}
	}
	return nil
}

func run(o options) error {
	if o.list {
		list()
		return nil
	}
	if o.profile != "" {
		return profile(o)
	}
	start := time.Now()
	for _, p := range parts {
		if err := p.run(o); err != nil {
			return err
		}
	}
	log.Printf("measured for %s", time.Since(start).Round(time.Second))
	return nil
}

// families measure one kind of workload each.
var families = []func(*results) error{measureCalls, measureMemory, measureClients, measureSessions, measureListeners, measureTasks, measureFootprint}

func list() {
	for _, p := range parts {
		for _, row := range p.rows() {
			fmt.Fprintln(os.Stdout, row)
		}
	}
	for _, p := range parts {
		for _, k := range p.peers() {
			fmt.Fprintf(os.Stdout, "%s %s: %s\n", p.kind, k.name, k.label)
		}
	}
}
