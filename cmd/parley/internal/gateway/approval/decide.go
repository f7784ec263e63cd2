package approval

import "github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"

// Allow approves a request on terms, as an operator. by says who that is. Everything else
// that waits and is covered by an approval for a time is approved with it.
func (d *Desk) Allow(id string, t Terms, by string) error { return d.allowAs(AskOperator, id, t, by) }

// allowAs is Allow for the operator or for the person at the client.
func (d *Desk) allowAs(who Ask, id string, t Terms, by string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.waiting[id]
	if p == nil || p.isDecided() {
		return ErrUnknown
	}
	if !p.Ask.admits(who) {
		return errWho
	}
	if err := d.bounds.check(t); err != nil {
		return err
	}
	if t.For == 0 {
		d.allow(p, verdict{allowed: true, by: by})
		return nil
	}
	g := d.give(&p.Request, t, by)
	g.who = who
	d.allow(p, verdict{allowed: true, by: by, until: g.Until})
	for _, other := range d.waiting {
		if !other.isDecided() && g.covers(&other.Request) {
			d.allow(other, verdict{allowed: true, by: by, until: g.Until})
		}
	}
	return nil
}

func (d *Desk) allow(p *pending, v verdict) {
	p.decide(v)
	e := about(Given, &p.Request)
	e.By, e.Until = v.by, v.until
	d.tell(e)
}

// check refuses terms beyond the bounds.
func (b *Bounds) check(t Terms) error {
	switch {
	case t.For < 0 || t.For > b.MaxTime:
		return &tooLongError{b.MaxTime}
	case t.Tool && t.For == 0:
		return errToolFor
	case t.Tool && !b.ToolWide:
		return errTool
	}
	return nil
}

// Deny refuses a request. by says who does so, and reason why; it may be "".
func (d *Desk) Deny(id, reason, by string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.waiting[id]
	if p == nil || p.isDecided() {
		return ErrUnknown
	}
	p.decide(verdict{by: by, reason: reason})
	e := about(Refused, &p.Request)
	e.By, e.Reason = by, reason
	d.tell(e)
	return nil
}

// overrule refuses, for the person at the client, what the operator has approved.
func (d *Desk) overrule(p *pending) *guard.Approval {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(p)
	e := about(Refused, &p.Request)
	e.By = TheClient
	d.tell(e)
	return &guard.Approval{ID: p.ID, Decision: string(Refused), By: TheClient}
}

// turnAway says that nobody can be asked about a request.
func (d *Desk) turnAway(r *Request, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := about(Refused, r)
	e.Reason = why
	d.tell(e)
}

// note says what was decided about a request, for those who look at its operation.
func (p *pending) note() *guard.Approval {
	if !p.isDecided() { // before, nobody but the desk may look at the verdict
		return &guard.Approval{ID: p.ID, Decision: string(Asked)}
	}
	n := &guard.Approval{ID: p.ID, Decision: string(Refused), By: p.verdict.by, Until: p.verdict.until}
	switch {
	case p.verdict.allowed:
		n.Decision = string(Given)
	case p.verdict.by == "":
		n.Decision = string(Expired)
	}
	return n
}
