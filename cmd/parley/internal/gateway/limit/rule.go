package limit

import (
	"crypto/sha256"
	"errors"
	"math"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
)

// Dimension is something that operations are told apart by.
type Dimension string

// The dimensions.
const (
	ByPrincipal Dimension = "principal" // without one, where the client comes from
	ByBackend   Dimension = "backend"
	BySubject   Dimension = "subject" // a tool, prompt or resource
	ByMethod    Dimension = "method"
)

// Dimensions are all dimensions.
func Dimensions() []Dimension { return []Dimension{ByPrincipal, ByBackend, BySubject, ByMethod} }

// of appends an operation's value in a dimension.
func (d Dimension) of(op *guard.Operation, text []byte) []byte {
	switch d {
	case ByPrincipal:
		if p := op.Exchange.Peer.Principal; p != "" {
			return append(text, p...)
		}
		return append(append(text, "from "...), op.Exchange.Peer.Source...)
	case ByBackend:
		return append(text, op.Backend...)
	case BySubject:
		return append(append(append(text, op.Backend...), '/'), op.Subject...)
	case ByMethod:
		return append(text, op.Method.Name...)
	}
	return text
}

// Rule bounds the operations that it is about. Operations count together that are equal
// in all of its dimensions; without dimensions, all do.
type Rule struct {
	// By are the dimensions.
	By []Dimension
	// Backend, Subject and Method are patterns, in which * stands for any characters and ?
	// for one; "" is everything.
	Backend, Subject, Method string
	// Rate is how many operations there may be in a second, on average, and Burst how
	// many at once; 0 means no limit, and a burst of a second's worth.
	Rate  float64
	Burst int
	// Concurrent is how many may be served at a time; 0 means no limit. A call that goes on
	// as a task is one of them until that has ended.
	Concurrent int
	// Time is how long an operation may take; 0 means no limit. A call that goes on as a
	// task is cancelled then.
	Time time.Duration
	// ResultBytes is how large a result or an error may be; 0 means no limit. With Cut, the
	// texts of a larger result of a tool are cut, with a note; otherwise it is refused.
	ResultBytes int64
	Cut         bool
}

func (r *Rule) matches(op *guard.Operation) bool {
	return matches(r.Backend, op.Backend) && matches(r.Subject, op.Subject) && matches(r.Method, op.Method.Name)
}

// covers reports whether the rule is about a method where it is about no backend: a rule has
// to name the method, because what such requests cost is not what rules for operations are
// made for.
func (r *Rule) covers(m *mcp.Method) bool {
	return r.Backend == "" && r.Subject == "" && r.Method != "" && matches(r.Method, m.Name)
}

// matches reports whether a text fits a pattern, as those of names do.
func matches(pattern, text string) bool {
	return pattern == "" || naming.Selection{Include: []string{pattern}}.Has(text)
}

// Check refuses a rule that makes no sense.
func (r *Rule) Check() error {
	if r.Rate == 0 && r.Concurrent == 0 && r.Time == 0 && r.ResultBytes == 0 {
		return errors.New("the rule bounds nothing")
	}
	return r.canApply()
}

// key tells operations apart that do not count together, in a few bytes: clients make up
// what they ask for.
type key [sha256.Size]byte

func (r *Rule) key(op *guard.Operation) key {
	var room [128]byte
	text := room[:0]
	for _, d := range r.By {
		text = append(d.of(op, text), 0)
	}
	return sha256.Sum256(text)
}

// burst is how many operations there may be at once.
func (r *Rule) burst() int {
	if r.Burst > 0 {
		return r.Burst
	}
	return max(1, int(math.Ceil(r.Rate)))
}
