package mcp

import (
	"strconv"
	"sync/atomic"
)

// DropReason says why a message was not sent, or was not passed on to whoever
// it was for. The set is closed; see DropReasons.
type DropReason uint8

// What came in and went nowhere.
const (
	// DropMalformed is a notification or an answer that could not be read.
	DropMalformed DropReason = iota + 1
	// DropTooLong is a message over the limit, which was read past.
	DropTooLong
	// DropTooEarly is a notification that came before initialize.
	DropTooEarly
	// DropUnasked is an answer to a request that was never sent, has its answer
	// already, or was given up.
	DropUnasked
	// DropNotAllowed is a request that a server must not send.
	DropNotAllowed
	// DropTooMany is a request of a server that sends more than can be refused.
	DropTooMany
	// DropNoCall is a notification about a request that is over or never was:
	// progress with an unknown token, a cancellation that came too late.
	DropNoCall
	// DropNoSubscription is a change or an acknowledgement for a subscription
	// that is over or never was.
	DropNoSubscription
	// DropNoTaker is a notification for which nobody has set a handler.
	DropNoTaker
	// DropRefused is a notification or an answer whose HTTP request was refused:
	// the status says why.
	DropRefused
	// DropGivenUp is an answer that did not come, or that is no longer waited
	// for.
	DropGivenUp
)

// What was to go out and did not.
const (
	// DropNotWanted is progress or a log message that the client has not asked
	// for, or not of this level.
	DropNotWanted DropReason = iota + DropGivenUp + 1
	// DropThrottled is progress that followed the last one too soon.
	DropThrottled
	// DropNotIncreasing is progress that was not above the last one.
	DropNotIncreasing
	// DropNoForm is what could not be encoded.
	DropNoForm
	// DropNoWayBack is what was said in answer to a notification, which has
	// none.
	DropNoWayBack
	// DropAnswered is what came after the answer of its request.
	DropAnswered
	// DropCancelled is what belongs to a request that was cancelled, its answer
	// too.
	DropCancelled
	// DropUnsubscribed is a change that the client no longer wants to hear of.
	DropUnsubscribed
	// DropUndelivered is what could not be written: the other side is gone, or
	// did not take it in time.
	DropUndelivered
	// DropNotKept is what nobody listened to, and the EventStore could not keep.
	DropNotKept
	// DropForgotten is what was kept for a client that did not come for it in
	// time.
	DropForgotten
)

// What happens in both directions.
const (
	// DropSuperseded is progress that waited when a newer one came.
	DropSuperseded DropReason = iota + DropForgotten + 1
	// DropRepeated is a change that was waiting to be told already.
	DropRepeated
	// DropClosed is what waited, or was under way, when its connection, session
	// or subscription ended.
	DropClosed

	dropReasons // how many there are, and one
)

// dropWords are the names of the reasons, and explanations for people.
var dropWords = [dropReasons]struct{ name, words string }{
	DropMalformed:      {"malformed", "it could not be read as a message, or its params are not what its method has"},
	DropTooLong:        {"too-long", "it is over MaxMessageBytes"},
	DropTooEarly:       {"too-early", "it came before the session was opened with initialize"},
	DropUnasked:        {"unasked", "it answers a request that was never sent, has its answer already, or was given up"},
	DropNotAllowed:     {"not-allowed", "a server must not send requests here"},
	DropTooMany:        {"too-many", "more requests of the server wait to be refused than are kept"},
	DropNoCall:         {"no-call", "it is about a request that is over, or never was"},
	DropNoSubscription: {"no-subscription", "it belongs to a subscription that is over, or never was"},
	DropNoTaker:        {"no-taker", "nobody has set a handler for it"},
	DropRefused:        {"refused", "the HTTP request that brought it was refused; the status says why"},
	DropGivenUp:        {"given-up", "its answer did not come, or is no longer waited for"},
	DropNotWanted:      {"not-wanted", "the client has not asked for it: progress without a token, or a log message without a level or below it"},
	DropThrottled:      {"throttled", "it followed the last progress too soon; see server.Options.ProgressInterval"},
	DropNotIncreasing:  {"not-increasing", "progress has to be above the last one"},
	DropNoForm:         {"no-form", "it has no JSON form"},
	DropNoWayBack:      {"no-way-back", "it was said about a notification, which has no way back"},
	DropAnswered:       {"answered", "the answer was sent already, and nothing may follow it"},
	DropCancelled:      {"cancelled", "its request was cancelled"},
	DropUnsubscribed:   {"unsubscribed", "the client no longer wants to hear of it"},
	DropUndelivered:    {"undelivered", "it could not be written: the other side is gone, or too slow"},
	DropNotKept:        {"not-kept", "nobody listened, and the event store could not keep it"},
	DropForgotten:      {"forgotten", "the event store no longer has it, and the client had not come for it"},
	DropSuperseded:     {"superseded", "newer progress came while it waited"},
	DropRepeated:       {"repeated", "the same change was waiting to be told already"},
	DropClosed:         {"closed", "the connection, session or subscription ended before it was its turn"},
}

// DropReasons returns all reasons.
func DropReasons() []DropReason {
	all := make([]DropReason, 0, dropReasons-1)
	for r := DropReason(1); r < dropReasons; r++ {
		all = append(all, r)
	}
	return all
}

// String returns the reason's name, such as "throttled".
func (r DropReason) String() string {
	if r == 0 || r >= dropReasons {
		return "DropReason(" + strconv.Itoa(int(r)) + ")"
	}
	return dropWords[r].name
}

// Explain says in words why a message was dropped: "it followed the last
// progress too soon; …".
func (r DropReason) Explain() string {
	if r >= dropReasons {
		return ""
	}
	return dropWords[r].words
}

// MarshalText returns the name.
func (r DropReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Drops counts dropped messages by reason. The zero value is ready; it is safe
// for concurrent use.
type Drops struct{ counts [dropReasons]atomic.Uint64 }

// Add counts n messages.
func (d *Drops) Add(r DropReason, n uint64) {
	if r < dropReasons {
		d.counts[r].Add(n)
	}
}

// Count returns how many messages were dropped for a reason.
func (d *Drops) Count(r DropReason) uint64 {
	if r >= dropReasons {
		return 0
	}
	return d.counts[r].Load()
}

// Snapshot returns the counts that are not zero.
func (d *Drops) Snapshot() map[DropReason]uint64 {
	all := map[DropReason]uint64{}
	for _, r := range DropReasons() {
		if n := d.Count(r); n > 0 {
			all[r] = n
		}
	}
	return all
}

var processDrops Drops

// ProcessDrops returns the counters of all servers and clients of this process
// that were not given others.
func ProcessDrops() *Drops { return &processDrops }
