package approval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/mcp"
)

// Ask says who may decide.
type Ask string

// Those who may decide. The person at the client is asked by elicitation, the operator by
// the desk.
const (
	AskClient   Ask = "client"
	AskOperator Ask = "operator"
	AskBoth     Ask = "both" // who decides first
)

func (a Ask) client() bool   { return a != AskOperator }
func (a Ask) operator() bool { return a != AskClient }

// admits reports whether the operator, or the person at the client, may decide.
func (a Ask) admits(who Ask) bool { return a == AskBoth || a == who }

// stricter returns who may decide where two rules are held: those who may by both, and the
// operator where that is nobody.
func (a Ask) stricter(b Ask) Ask {
	switch {
	case a == AskOperator || b == AskOperator:
		return AskOperator
	case a == AskClient || b == AskClient:
		return AskClient
	}
	return AskBoth
}

// Rule demands a human for the operations that it is about.
type Rule struct {
	// Backend, Subject, Method and Principal are patterns, in which * stands for any
	// characters and ? for one; "" is everything, but of methods only tools/call. One of
	// principals fits any name that package who has for somebody.
	Backend, Subject, Method, Principal string
	// ReadOnly, Destructive, Idempotent and OpenWorld are what a tool must say of
	// itself; nil is anything. Nothing but tools has these.
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
	// Why is what the human is told.
	Why string
	// Ask says who may decide; "" is up to the options.
	Ask Ask
}

// demandable reports whether a human can be asked about operations of a method: those
// that begin something. To ask at each look at a task would be too much.
func demandable(m *mcp.Method) bool { return m.MayAsk && m.Feature != mcp.TaskFeature }

// unaskable refuses an operation that only a human could approve, of a method that none
// can be asked about.
func unaskable(op *guard.Operation) error {
	return &mcp.ForbiddenError{Reason: op.Method.Name + " of " + cmp.Or(op.Shown, op.Backend) +
		" is permitted only with the approval of a human, who can be asked about " + strings.Join(Methods(), ", ") + ", and about nothing else"}
}

// Methods are those that a human can be asked about.
func Methods() (names []string) {
	for _, m := range mcp.Methods() {
		if demandable(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Check refuses a rule that can be about nothing.
func (r *Rule) Check() error {
	if !slices.ContainsFunc(Methods(), r.isAbout) {
		return &methodError{r.Method}
	}
	return nil
}

func (r *Rule) isAbout(method string) bool {
	if r.Method == "" {
		return method == mcp.MethodCallTool
	}
	return matches(r.Method, method)
}

// matches reports whether a text fits a pattern, as those of names do.
func matches(pattern, text string) bool {
	return pattern == "" || naming.Selection{Include: []string{pattern}}.Has(text)
}

func (r *Rule) matches(op *guard.Operation) bool {
	return r.isAbout(op.Method.Name) && matches(r.Backend, op.Backend) && matches(r.Subject, op.Subject) &&
		(r.Principal == "" || who.Fits(r.Principal, op.Exchange.Peer.Principal)) && r.hints(op)
}

// hints reports whether a tool says of itself what the rule is about.
func (r *Rule) hints(op *guard.Operation) bool {
	var annotations *mcp.ToolAnnotations
	if op.Definition != nil {
		annotations = op.Definition.Annotations
	}
	said := guard.HintsOf(annotations)
	for _, hint := range []struct {
		wanted *bool
		said   bool
	}{{r.ReadOnly, said.ReadOnly}, {r.Destructive, said.Destructive}, {r.Idempotent, said.Idempotent}, {r.OpenWorld, said.OpenWorld}} {
		if hint.wanted != nil && (op.Method.Feature != mcp.ToolFeature || *hint.wanted != hint.said) {
			return false
		}
	}
	return true
}
