package serverprobe

import (
	"context"
	"errors"
	"strconv"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/revision"
)

// X is what a probe has: a server, in one revision, over one transport.
type X struct {
	Ctx      context.Context //nolint:containedctx // that of the check, which probes run in
	Revision string
	Facts    *revision.Facts
	// Stateless is set for revisions without sessions.
	Stateless bool
	// Transport is stdio, http or http+sse.
	Transport string
	// Log is everything that was said in this revision.
	Log *peer.Log
	// Main is the conversation that all probes share. Whoever may break it opens
	// one of his own.
	Main *Conn
	// Greeting is where the server said what it can do: the answer to initialize
	// or server/discover.
	Greeting *peer.Message
	// Offer is what the server offers, as the survey found it.
	Offer *Offer

	target  Target
	opts    *Options
	claims  claims
	guessed bool  // the server does not say what it can do: see tryLists
	refusal error // why a revision that the server claims could not be begun
	common  *common
	scratch *Conn
	conns   []*Conn
	// excused are the messages that probes which send have blamed: what is said
	// to a wrong message is judged by the rule that speaks of it.
	excused map[*peer.Message]bool
	blamed  map[*peer.Message]bool
	// What several probes share.
	bareConn *Conn
	bares    []Bare
	strange  []*peer.Reply
	old      *peer.Reply

	left   map[int]bool // connections that the checker has ended
	odd    map[int]bool // those whose client lacks something, or answers in its own way
	notes  []string
	ids    int
	lists  map[string]*relisted
	broken []*peer.Reply // calls with wrong arguments, and what is wrong
	ways   []string
	// refusals are the requests that were refused for their headers.
	refusals []*peer.Reply
	// greeting is the answer of a stateless server to initialize.
	greeting *peer.Reply
	unknown  *peer.Reply   // to reading what does not exist
	cursors  []*peer.Reply // to lists by cursors that do not exist
	scenes                 // what several probes of patterns share
}

func newX(ctx context.Context, t Target, o *Options, f *revision.Facts, c *common) *X {
	x := &X{
		Ctx: ctx, Revision: f.Revision.String(), Facts: f, Stateless: f.Stateless,
		Log: peer.NewLog(o.Limits), target: t, opts: o, common: c, claims: c.claims,
		blamed: map[*peer.Message]bool{}, left: map[int]bool{}, odd: map[int]bool{}, Offer: &Offer{}, lists: map[string]*relisted{},
	}
	x.Log.Heard = o.Heard
	switch {
	case t.Lines != nil:
		x.Transport = needsStdio
	case f.StreamableHTTP:
		x.Transport = needsHTTP
	default:
		x.Transport = needsSSE
	}
	return x
}

// begin opens the conversation that all share, and finds out whether the server
// speaks the revision. If it has claimed to, and refuses, the probes of the
// handshake say so.
func (x *X) begin() error {
	var err error
	x.Main, err = x.Open(nil)
	switch {
	case err == nil && x.Stateless:
		return x.discover()
	case err == nil:
		x.claims.add(x.Revision)
		x.learn(x.Main.Hello)
		return nil
	case x.Ctx.Err() == nil && x.Main != nil && x.claims.has(x):
		x.refusal = err
		return nil
	}
	if other := new(otherVersion); errors.As(err, &other) {
		x.claims.add(other.version)
	}
	return err
}

// end closes all conversations.
func (x *X) end() {
	for _, c := range x.conns {
		c.leave()
		_ = c.Close() // what matters has been said
	}
}

// renew opens the shared conversation again if a probe, or the server, has ended
// it.
func (x *X) renew() error {
	if x.Main != nil && !x.Main.Closed() || x.refusal != nil {
		return nil
	}
	var err error
	x.Main, err = x.Open(nil)
	return err
}

// Scratch returns a conversation for whoever may break it. It is used again
// while it lives.
func (x *X) Scratch() (*Conn, error) {
	if x.scratch != nil && !x.scratch.Closed() {
		return x.scratch, nil
	}
	var err error
	x.scratch, err = x.Open(nil)
	return x.scratch, err
}

// Request makes a request of the revision, whole, for the caller to change:
// params may be nil.
func (x *X) Request(method string, params map[string]any) map[string]any {
	return x.Main.Request(method, params)
}

// Call sends a request in the shared conversation and waits for the answer.
func (x *X) Call(method string, params map[string]any) *peer.Reply {
	_ = x.renew() // a conversation that has ended says so again
	return x.Main.Call(method, params)
}

// Do sends a value in the shared conversation, and waits for what comes of it.
func (x *X) Do(v any) *peer.Reply { return x.Main.Do(x.Ctx, peer.Frame(v)) }

// NextID returns an ID that was not used before.
func (x *X) NextID() int {
	x.ids++
	return x.ids
}

// Note adds a sentence to the report, once.
func (x *X) Note(text string) { x.notes = append(x.notes, text) }

// Received returns the messages of the server for which want reports true, without
// those that came again when a stream was resumed. nil wants all.
func (x *X) Received(want func(*peer.Message) bool) []*peer.Message {
	var all []*peer.Message
	for _, m := range x.Log.Messages() {
		if !m.Sent && !m.Replayed && (want == nil || want(m)) {
			all = append(all, m)
		}
	}
	return all
}

// Results returns the results of a method, each with what was asked.
func (x *X) Results(method string) []Answered {
	var all []Answered
	for _, m := range x.Received((*peer.Message).IsResult) {
		if asked := x.answered(m); asked != nil && asked.Method == method && !x.isConfused(m) {
			all = append(all, Answered{asked, m})
		}
	}
	return all
}

// isConfused reports whether a result asks for input, and does not say so: as
// what it is to be judged nobody knows.
func (x *X) isConfused(m *peer.Message) bool {
	_, asks := m.Get("result/inputRequests")
	return x.Stateless && asks && m.Text("result/resultType") != "input_required"
}

// Answers returns the answers to a method, results and errors.
func (x *X) Answers(method string) []Answered {
	var all []Answered
	for _, m := range x.Received((*peer.Message).IsResponse) {
		if asked := x.answered(m); asked != nil && asked.Method == method {
			all = append(all, Answered{asked, m})
		}
	}
	return all
}

// answered returns the request that a response is the first answer to, or nil.
// What comes in an array, where there are none, is judged by other rules.
func (x *X) answered(m *peer.Message) *peer.Message {
	if m.Batch != nil && !x.Facts.Batches {
		return nil
	}
	if asked := x.Log.RequestOf(m); asked != nil && x.Log.ResponseTo(asked) == m {
		return asked
	}
	return nil
}

// Answered is a request with its answer.
type Answered struct{ Request, Response *peer.Message }

// unanswered is the finding for a reply in which nothing came that could be
// judged.
func unanswered(r *peer.Reply) probe.Finding {
	switch {
	case r.Err != nil:
		return probe.Unverified("the message could not be sent, or the response broke off: %v", r.Err).Explained(answersRequests)
	case r.Exchange != nil && r.Exchange.Status != 0:
		return probe.Unverified("the answer was HTTP status %s without a message", strconv.Itoa(r.Exchange.Status)).Explained(answersRequests)
	case r.Closed:
		return probe.Unverified("the server ended the connection instead of answering").Explained(answersRequests)
	default:
		return probe.Unverified("no answer came in time").Explained(answersRequests)
	}
}
