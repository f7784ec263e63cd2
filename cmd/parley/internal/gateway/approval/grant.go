package approval

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
)

// Grant is an approval for a time. It covers calls of the same principal, of a tool whose
// definition is the same, with the same arguments or with any.
type Grant struct {
	ID        string    `json:"id"`
	Given     time.Time `json:"given"`
	Until     time.Time `json:"until"`
	By        string    `json:"by"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Backend   string    `json:"backend"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	Shown     string    `json:"shown"`
	// Tool says that it covers any arguments. Otherwise Arguments shows those that it
	// covers, cut if they are long, and Digest identifies them.
	Tool      bool   `json:"tool,omitzero"`
	Arguments string `json:"arguments,omitzero"`
	Digest    string `json:"digest,omitzero"`
	// Used is how many calls it has let through.
	Used int `json:"used"`

	who  Ask // the operator, or the person at the client
	key  string
	once bool // for the next call alone: the one before has not done anything
	end  *time.Timer
}

// maxGrants bounds the approvals for a time. Beyond it, the one that ends first ends.
const maxGrants = 1000

// Given returns the approvals for a time, those that end first at first.
func (d *Desk) Given() []Grant {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]Grant, 0, len(d.given))
	for _, g := range d.given {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b Grant) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return list
}

// covers reports whether it is for a request, and from somebody who may decide about it.
func (g *Grant) covers(r *Request) bool {
	return (g.key == r.call || g.Tool && g.key == r.tool) && r.Ask.admits(g.who)
}

// give gives what a request asks for. The caller holds d.mu.
func (d *Desk) give(r *Request, t Terms, by string) *Grant {
	now := time.Now()
	g := &Grant{
		ID: r.ID, Given: now, Until: now.Add(t.For), By: by, Principal: r.Principal, Client: r.Client,
		Backend: r.Backend, Method: r.Method, Subject: r.Subject, Shown: r.Shown, Tool: t.Tool, key: r.tool,
	}
	if !t.Tool {
		g.Arguments, g.Digest, g.key = shown(r.Arguments, brief), r.Digest, r.call
	}
	if len(d.given) >= maxGrants {
		d.endFirst()
	}
	g.end = time.AfterFunc(t.For, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.lapse(g)
	})
	d.given[g.ID] = g
	return g
}

// endFirst ends the approval that would end first. The caller holds d.mu.
func (d *Desk) endFirst() {
	var first *Grant
	for _, g := range d.given {
		if first == nil || g.Until.Before(first.Until) {
			first = g
		}
	}
	d.lapse(first)
}

// lapse is the end of an approval. The caller holds d.mu.
func (d *Desk) lapse(g *Grant) {
	if d.given[g.ID] == g {
		g.end.Stop()
		delete(d.given, g.ID)
		d.tell(g.event(Expired, ""))
	}
}

func (g *Grant) event(kind Kind, by string) Event {
	return Event{
		Kind: kind, Time: time.Now(), ID: g.ID, Principal: g.Principal, Client: g.Client, Backend: g.Backend,
		Method: g.Method, Subject: g.Subject, Shown: g.Shown, Digest: g.Digest, By: by, Until: g.Until,
	}
}

// covered returns the approval that covers a request already, or nil, and counts its use.
func (d *Desk) covered(r *Request) *guard.Approval {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for _, g := range d.given {
		if !g.covers(r) || !now.Before(g.Until) {
			continue
		}
		g.Used++
		note := &guard.Approval{ID: g.ID, Decision: string(Given), By: g.By, Until: g.Until}
		if g.once {
			g.end.Stop()
			delete(d.given, g.ID)
			note.Until = time.Time{}
		}
		return note
	}
	return nil
}

// giveBack keeps an approval for the next call of the same, because this one has come to
// nothing. One that was given for a time is there anyway.
func (d *Desk) giveBack(r *Request, note *guard.Approval) {
	if !note.Until.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	again := *r
	if again.ID = note.ID; d.given[again.ID] != nil {
		return
	}
	g := d.give(&again, Terms{For: keep}, note.By)
	g.once, g.who = true, AskOperator
	if note.By == TheClient {
		g.who = AskClient
	}
}

// Revoke ends an approval that was given for a time. by says who does so.
func (d *Desk) Revoke(id, by string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.given[id]
	if g == nil {
		return ErrUnknown
	}
	g.end.Stop()
	delete(d.given, id)
	d.tell(g.event(Revoked, by))
	return nil
}
