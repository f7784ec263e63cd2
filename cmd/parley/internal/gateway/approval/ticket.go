package approval

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// ticket is what a call goes on with that comes in several rounds: its client brings its
// name back in the state of the exchange. The state is sealed on its way through the
// client, and a ticket is good for one round, so that an approval is not used twice.
type ticket struct {
	key   string          // of the call
	owner string          // whom it counts for
	asked *pending        // what a human is asked, or
	given *guard.Approval // what was decided before the backend has asked something
	end   *time.Timer
}

const (
	// keep is how long a call that was approved may wait for its client, as long as one can
	// be parked at a bridge.
	keep = 15 * time.Minute
	// maxTickets bounds them, and maxOwned those of one client: what somebody leaves behind
	// must not keep the others from being asked.
	maxTickets = 1000
	maxOwned   = 100
)

// carried is the state of an exchange that waits for its client. That of what stands
// behind is within.
type carried struct {
	Approval string          `json:"approval"`
	State    json.RawMessage `json:"state,omitzero"`
}

// questionKey is the prefix of the keys of questions for approval.
const questionKey = "approval-"

// unwrap returns the name of the ticket that an exchange has brought back, or "", and the
// exchange as those behind get it.
func unwrap(x *mcp.Exchange) (name string, behind *mcp.Exchange) {
	var c carried
	if len(x.State) == 0 || x.State[0] != '{' || wire.Unmarshal(x.State, &c) != nil || c.Approval == "" {
		return "", x
	}
	own := *x
	own.State = c.State
	own.Answers = maps.Clone(x.Answers)
	maps.DeleteFunc(own.Answers, func(key string, _ json.RawMessage) bool { return strings.HasPrefix(key, questionKey) })
	if len(own.Answers) == 0 {
		own.Answers = nil
	}
	return c.Approval, &own
}

// ownerOf says whom a ticket or an approval counts for: a principal, and where nobody logs
// in, everybody at the same address.
func ownerOf(peer *mcp.Peer) string {
	if peer.Principal != "" {
		return "principal " + peer.Principal
	}
	return "source " + peer.Source
}

// roomFor returns why there is no room for another ticket of an owner, or nil. The caller
// holds d.mu.
func (d *Desk) roomFor(owner string) error {
	owned := 0
	for _, t := range d.tickets {
		if t.owner == owner {
			owned++
		}
	}
	switch {
	case owned >= maxOwned:
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%d calls of yours that were approved, or are to be, wait for you already; answer them, or try again later", owned)
	case len(d.tickets) >= maxTickets:
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%d approved calls wait for their clients already; try again later", maxTickets)
	}
	return nil
}

// hand hands a ticket out, and returns the state that carries it.
func (d *Desk) hand(t *ticket, within time.Duration, state json.RawMessage) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.roomFor(t.owner); err != nil {
		return nil, err
	}
	name := rand.Text()
	raw, err := wire.Marshal(carried{name, state})
	if err != nil {
		return nil, err
	}
	t.end = time.AfterFunc(within, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.drop(name)
	})
	d.tickets[name] = t
	return raw, nil
}

// drop forgets a ticket. The caller holds d.mu.
func (d *Desk) drop(name string) {
	if t := d.tickets[name]; t != nil {
		t.end.Stop()
		delete(d.tickets, name)
	}
}

// take returns the ticket of a call, which is not good any more then.
func (d *Desk) take(name string, key string) (*ticket, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tickets[name]
	if t == nil {
		return nil, mcp.InvalidParams("the approval of this call is not waited for any more: it took too long, or was answered already; start again")
	}
	d.drop(name)
	if t.key != key {
		return nil, mcp.InvalidParams("the approval is of another call, or what is called has changed meanwhile; start again")
	}
	return t, nil
}
