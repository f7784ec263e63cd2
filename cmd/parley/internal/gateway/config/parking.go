package config

import (
	"fmt"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
)

// parking is the section that bounds the calls which wait for clients without sessions.
type parking struct {
	calls, each int
	time        time.Duration
}

func (p *parking) keys() []key {
	return []key{
		{name: "calls", value: number{&p.calls, 1000, 1, 100_000}, doc: "How many calls can wait at a time. When it is that many, one that has waited for a minute makes room."},
		{name: "each", value: number{&p.each, 100, 1, 100_000}, doc: "How many of these can be one client's. One more makes its oldest give up. It cannot be more than calls."},
		{
			name: "time", value: period{&p.time, 15 * time.Minute, time.Second, 15 * time.Minute},
			doc: "How long a call waits.",
		},
	}
}

// check is what the bounds must be together.
func (p *parking) check() error {
	if p.each > p.calls {
		return fmt.Errorf("each is %d, more than calls: one client could keep all others from being asked; say less of each, or more of calls", p.each)
	}
	return nil
}

// Parking bounds the calls that wait for clients without sessions to come back with an
// answer.
func (b *Backend) Parking() bridge.Parking {
	p := bridge.Parking{Calls: b.parked.calls, Each: b.parked.each, Time: b.parked.time}
	if b.entry == nil { // another program's file has no such key
		p.Setting = "backends." + b.Name + ".parked"
	}
	return p
}
