package clientprobe

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// X is what a probe has: a scenario that was played.
type X struct {
	*Stage
	// Base is the scenario without a twist, as far as it was played before; of
	// that one it is X itself.
	Base *X
	// All are all scenarios that were played in this revision, this one included.
	All []*X
	// ByHand is set if a person drives the client: it proves nothing then that
	// something was not done.
	ByHand bool
	// Ending says how the client ended.
	Ending Ending

	blamed map[*peer.Message]bool
}

// Ending is how a client ended.
type Ending struct {
	// Late is set if it had not ended when its time was over.
	Late bool
	// Err is why it ended, as far as that is known.
	Err error
	// After is how long it took.
	After time.Duration
}

// Received returns the messages of the client for which want reports true, but
// for those of the other era, by which it found out what the server speaks. nil
// wants all.
func (x *X) Received(want func(*peer.Message) bool) []*peer.Message {
	var all []*peer.Message
	for _, m := range x.Log.Messages() {
		if !m.Sent && (want == nil || want(m)) && !x.foreign(m) {
			all = append(all, m)
		}
	}
	return all
}

// Answers returns what the client answered to requests of the server with a
// method, each with what was asked.
func (x *X) Answers(method string) []Answered {
	var all []Answered
	for _, m := range x.Received((*peer.Message).IsResponse) {
		if asked := x.Log.RequestOf(m); asked != nil && asked.Method == method {
			all = append(all, Answered{asked, m})
		}
	}
	return all
}

// Sent returns what the server sent, as far as want reports true. nil wants all.
func (x *X) Sent(want func(*peer.Message) bool) []*peer.Message {
	var all []*peer.Message
	for _, m := range x.Log.Messages() {
		if m.Sent && (want == nil || want(m)) {
			all = append(all, m)
		}
	}
	return all
}

// Requests returns the client's requests with one of some methods; none means
// all. A notification that has an ID is none.
func (x *X) Requests(methods ...string) []*peer.Message {
	return x.Received(func(m *peer.Message) bool {
		return m.IsRequest() && !strings.HasPrefix(m.Method, "notifications/") && (len(methods) == 0 || slices.Contains(methods, m.Method))
	})
}

// After returns the client's messages that came after another one, as far as
// want reports true.
func (x *X) After(first *peer.Message, want func(*peer.Message) bool) []*peer.Message {
	if first == nil {
		return nil
	}
	return x.Received(func(m *peer.Message) bool {
		return m.Number > first.Number && (want == nil || want(m))
	})
}

// Posts returns the messages that came by POST over Streamable HTTP.
func (x *X) Posts() []*peer.Message {
	return x.Received(func(m *peer.Message) bool {
		return m.Exchange != nil && m.Exchange.Method == "POST" && m.Batch == nil && strings.HasPrefix(m.Exchange.URL, x.Origin+pathMCP)
	})
}

// Exchanges returns the HTTP requests of the client, but for those of the other
// era.
func (x *X) Exchanges() []*peer.Exchange {
	return slices.DeleteFunc(x.Log.Exchanges(), func(e *peer.Exchange) bool {
		return e.Message != nil && x.foreign(e.Message)
	})
}

// Answered is a request with its answer.
type Answered struct{ Request, Response *peer.Message }

func (x *X) isBlamed(m *peer.Message) bool {
	return x.blamed[m] || m.Batch != nil && x.blamed[m.Batch]
}

// is returns a function that knows messages of a method.
func is(methods ...string) func(*peer.Message) bool {
	return func(m *peer.Message) bool { return slices.Contains(methods, m.Method) }
}

// carriesOn says that the rule is kept if the client goes on after a message
// that it must not mind, and broken if it then makes no request any more
// although it does so otherwise.
func (x *X) carriesOn(w *probe.Watch, odd *peer.Message, what string) {
	if odd == nil {
		return
	}
	if len(x.After(odd, (*peer.Message).IsRequest)) > 0 {
		w.Saw(odd)
		return
	}
	before := 0
	for _, m := range x.Requests() {
		if m.Number < odd.Number {
			before++
		}
	}
	if !x.ByHand && len(x.Base.Requests()) > before {
		w.Fault(odd, "", "after %s the client made no request any more", what)
	}
}

// firstAnswer is the first that the server has answered, or nil.
func (x *X) firstAnswer() *peer.Message {
	for _, m := range x.Requests() {
		if answer := x.Log.ResponseTo(m); answer != nil {
			return answer
		}
	}
	return nil
}

// methodRow is what the table of methods says of a message, or nil.
func methodRow(m *peer.Message) *mcp.Method { return mcp.MethodNamed(m.Method) }

// declares reports whether the server has declared an extension.
func (x *X) declares(extension string) bool {
	for _, m := range x.Sent((*peer.Message).IsResult) {
		if m.Object("result/capabilities/extensions/"+pointer(extension)) != nil {
			return true
		}
	}
	return false
}
