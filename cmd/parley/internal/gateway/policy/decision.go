package policy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
)

// Decision is what the policies say about a question, and which of them say so.
type Decision struct {
	Allowed bool
	// Reasons are the policies that decided; none if nothing permits.
	Reasons []Reason
	// Demands are why a human has to approve what is allowed: what the annotations
	// @approval say of the policies that permit it, and of those that could not be
	// evaluated. That others permit it, too, makes no difference.
	Demands []string
	// Mistakes are policies that could not be evaluated, what came of it, and why.
	Mistakes []string
}

// Reason is a policy that decided.
type Reason struct {
	// ID is the policy's annotation @id, or FILE:LINE:COLUMN.
	ID string
	// Text is the policy's annotation @reason: what the one who asked is told.
	Text string
	// File and Line are where the policy stands; "" is the default.
	File string
	Line int
	// Mistake is why the policy could not be evaluated, and forbids because of that.
	Mistake string
}

// Mend is what to do about policies that cannot be evaluated.
const Mend = `a policy asks with "has" for what can be absent, and compares a value with one of the same type`

// Decide answers a question.
func (p *Policy) Decide(q *Question) Decision {
	var context types.Record
	if p.inContext != nil { // somebody will look at it
		context = q.context()
	}
	world, request := request(p.askers.of(q.Peer), action(q.Method), p.things.of(q.about()), q.Backend, context)
	decided, diagnostic := cedar.Authorize(p.set, world, request)
	d := Decision{Allowed: bool(decided)}
	var heard []types.PolicyID
	for _, r := range diagnostic.Reasons {
		heard = append(heard, r.PolicyID)
		d.Reasons = append(d.Reasons, p.reason(r.PolicyID))
	}
	for _, e := range diagnostic.Errors {
		heard = append(heard, e.PolicyID)
		d.Mistakes = append(d.Mistakes, p.mistake(e))
	}
	if unsure := p.unsure(diagnostic.Errors); len(unsure) > 0 && (d.Allowed || len(d.Reasons) == 0) {
		d.Allowed, d.Reasons = false, unsure
	}
	slices.SortFunc(d.Reasons, func(a, b Reason) int { return strings.Compare(a.ID, b.ID) })
	slices.Sort(d.Mistakes)
	if d.Allowed {
		d.Demands = p.demands(heard)
	}
	return d
}

// unsure returns those policies that cannot be evaluated, and forbid because of that.
func (p *Policy) unsure(errs []types.DiagnosticError) (reasons []Reason) {
	for _, e := range errs {
		if p.mayForbid(e) {
			r := p.reason(e.PolicyID)
			r.Mistake = e.Message
			reasons = append(reasons, r)
		}
	}
	return reasons
}

// mistake says what comes of it that a policy cannot be evaluated.
func (p *Policy) mistake(e types.DiagnosticError) string {
	effect := "does not permit it"
	if p.mayForbid(e) {
		effect = "forbids it"
	}
	return p.reason(e.PolicyID).ID + " cannot be evaluated, and so " + effect + ": " + e.Message
}

// mayForbid reports whether a policy that cannot be evaluated is one that forbids. It does
// so until it can be: whoever asks could otherwise choose arguments that it is not made for.
func (p *Policy) mayForbid(e types.DiagnosticError) bool {
	return p.set.Get(e.PolicyID).Effect() == types.Forbid
}

// forbidden reports whether policies forbid what others could permit.
func (p *Policy) forbidden(decided types.Decision, d types.Diagnostic) bool {
	return !bool(decided) && len(d.Reasons) > 0 || slices.ContainsFunc(d.Errors, p.mayForbid)
}

// demands returns why the policies of these IDs want a human to approve what they permit.
func (p *Policy) demands(ids []types.PolicyID) (why []string) {
	for _, id := range ids {
		text, ok := p.set.Get(id).Annotations()[demand]
		if !ok {
			continue
		}
		why = append(why, cmp.Or(string(text), "the policy "+string(id)+" wants it"))
	}
	slices.Sort(why)
	return slices.Compact(why)
}

// Demands reports whether there are policies that want a human's approval.
func (p *Policy) Demands() bool {
	for _, policy := range p.set.All() {
		if _, ok := policy.Annotations()[demand]; ok {
			return true
		}
	}
	return false
}

func (p *Policy) reason(id types.PolicyID) Reason {
	policy := p.set.Get(id)
	if id == byDefault {
		return Reason{ID: string(id)}
	}
	at := policy.Position()
	return Reason{ID: string(id), Text: string(policy.Annotations()["reason"]), File: at.Filename, Line: at.Line}
}

// String says why, for whoever asked.
func (d Decision) String() string {
	var texts []string
	for i := range d.Reasons {
		if text := d.Reasons[i].said(); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	switch {
	case len(texts) > 0:
		return strings.Join(texts, "; ")
	case d.Allowed:
		return "a policy permits it"
	case len(d.Reasons) > 0:
		return "a policy forbids it"
	}
	return "no policy permits it"
}

// explained says why, and which policies decided, for whoever has written them.
func (d Decision) explained() string {
	if len(d.Reasons) == 0 {
		return d.String()
	}
	return d.String() + " (" + strings.Join(names(d.Reasons), ", ") + ")"
}

// said is what the one who asked is told. Where the file is that a policy stands in is none of
// their business.
func (r *Reason) said() string {
	if r.Mistake == "" {
		return r.Text
	}
	name := r.ID
	if strings.HasPrefix(name, r.File+":") {
		name = filepath.Base(name)
	}
	return "the policy " + name + " cannot be evaluated, and so forbids it: " + r.Mistake
}
