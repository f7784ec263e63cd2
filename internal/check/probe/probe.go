// Package probe is what all judges share: what a probe says of itself, what it
// finds, and how findings become verdicts.
package probe

import (
	"fmt"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// Info is what a probe says of itself. A probe is a rule; the rows are the
// places that state it.
type Info struct {
	// ID names the probe: the page it belongs to and what it looks at, such as
	// tools/input-schema-object.
	ID string
	// Rows state the rule. Of those that hold in a revision the first gets the
	// failure; the others restate it.
	Rows []string
	// Does and Accepts are a sentence each: what the probe does, and with what it
	// is content.
	Does, Accepts string
	// Mend is a sentence on what to do about a failure.
	Mend string
	// After are the probes whose failure makes this one say nothing.
	After []string
	// General probes are judged last, and leave out what another failure blames.
	General bool
}

// Finding is what a probe has found.
type Finding struct {
	Outcome verdict.Outcome
	// Why says what is wrong, or why nothing was seen.
	Why string
	// Because is the probe whose failure may explain why nothing was seen.
	Because string
	// Blamed is what contradicts the rule, or shows that it is kept.
	Blamed []Blame
}

// Blame points at what was sent or came.
type Blame struct {
	Message  *peer.Message
	Exchange *peer.Exchange // where no message is to blame, or not only
	Pointer  string         // the JSON pointer of what is wrong in the message
}

// Pass says that the rule was seen to be kept.
func Pass(seen ...Blame) Finding { return Finding{Outcome: verdict.Pass, Blamed: seen} }

// Fail says that the rule was broken.
func Fail(blamed []Blame, format string, args ...any) Finding {
	return Finding{Outcome: verdict.Fail, Why: fmt.Sprintf(format, args...), Blamed: blamed}
}

// Unverified says why nothing was seen.
func Unverified(format string, args ...any) Finding {
	return Finding{Outcome: verdict.Unverified, Why: fmt.Sprintf(format, args...)}
}

// NotApplicable says what the peer does not have.
func NotApplicable(format string, args ...any) Finding {
	return Finding{Outcome: verdict.NotApplicable, Why: fmt.Sprintf(format, args...)}
}

// Explained returns the finding with the probe whose failure may explain it.
func (f Finding) Explained(by string) Finding {
	f.Because = by
	return f
}

// Of points at the whole of some messages.
func Of(messages ...*peer.Message) []Blame {
	var all []Blame
	for _, m := range messages {
		if m != nil {
			all = append(all, Blame{Message: m})
		}
	}
	return all
}

// OfReply points at an answer and what it answers.
func OfReply(r *peer.Reply) []Blame {
	all := Of(r.Sent, r.Response)
	if r.Exchange != nil {
		all = append(all, Blame{Exchange: r.Exchange})
	}
	return all
}

// Watch gathers what a probe sees in a log. It has found nothing until Saw or
// Fault is called.
type Watch struct {
	// Skip reports whether a message is blamed by another failure; it is nil for
	// probes that are not general.
	Skip func(*peer.Message) bool

	seen     int
	first    *peer.Message
	exchange *peer.Exchange // the first that was seen
	faults   []Blame
	why      string
	nothing  Finding
}

// Saw says that a message is one that the rule speaks of.
func (w *Watch) Saw(m *peer.Message) {
	w.seen++
	if w.first == nil {
		w.first = m
	}
}

// Fault says that a message breaks the rule, at a JSON pointer.
func (w *Watch) Fault(m *peer.Message, pointer, format string, args ...any) {
	w.FaultOf([]Blame{{Message: m, Pointer: pointer}}, format, args...)
}

// FaultOf is Fault for several messages, or an exchange. The first one gives the reason.
func (w *Watch) FaultOf(blamed []Blame, format string, args ...any) {
	w.seen++
	for _, b := range blamed {
		if w.Skip != nil && b.Message != nil && w.Skip(b.Message) {
			return
		}
	}
	if w.why == "" {
		w.why = fmt.Sprintf(format, args...)
	}
	if len(w.faults) < mostBlamed {
		w.faults = append(w.faults, blamed...)
	}
}

// mostBlamed is how much of what is to blame for one fault is remembered, so that
// nothing else is said of it.
const mostBlamed = 10_000

// Nothing says what the finding is if nothing was seen.
func (w *Watch) Nothing(f Finding) { w.nothing = f }

// Finding returns what was found.
func (w *Watch) Finding() Finding {
	switch {
	case len(w.faults) > 0:
		return Fail(w.faults, "%s", w.why)
	case w.seen == 0 && w.nothing.Outcome != "":
		return w.nothing
	case w.seen == 0:
		return Unverified("nothing of the kind was seen")
	case w.first == nil && w.exchange != nil:
		return Pass(Blame{Exchange: w.exchange})
	default:
		return Pass(Of(w.first)...)
	}
}

// SawExchange says that an HTTP exchange is one that the rule speaks of.
func (w *Watch) SawExchange(e *peer.Exchange) {
	w.seen++
	if w.exchange == nil {
		w.exchange = e
	}
}
