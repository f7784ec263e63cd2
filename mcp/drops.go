package mcp

import (
	"strconv"
	"sync/atomic"
)

// DropReason says why a message was not sent, or not passed on to its receiver.
// The set is closed; see DropReasons.
type DropReason uint8

// Reasons for dropping received messages.
const (
	// DropMalformed is a notification or a response that could not be read.
	DropMalformed DropReason = iota + 1
	// DropTooLong is a message over the limit, which was skipped.
	DropTooLong
	// DropTooEarly is a notification that arrived before initialize.
	DropTooEarly
	// DropUnasked is a response to a request that was never sent, has already
	// been answered, or was given up.
	DropUnasked
	// DropNotAllowed is a request that a server must not send.
	DropNotAllowed
	// DropTooMany is a request of a server that sends more than can be refused.
	DropTooMany
	// DropNoCall is a notification about a request that has ended or never
	// existed: progress with an unknown token, or a late cancellation.
	DropNoCall
	// DropNoSubscription is a change or an acknowledgement for a subscription
	// that has ended or never existed.
	DropNoSubscription
	// DropNoTaker is a notification that has no handler.
	DropNoTaker
	// DropRefused is a notification or a response whose HTTP request was
	// refused: the status says why.
	DropRefused
	// DropGivenUp is the response to a request that was given up: it did not
	// come, or nobody waits for it any longer.
	DropGivenUp
)

// Reasons for not sending messages.
const (
	// DropNotWanted is progress that the client has not asked for, or a log
	// message that it has not asked for at this level.
	DropNotWanted DropReason = iota + DropGivenUp + 1
	// DropThrottled is progress that followed the previous one too soon, or a
	// log message over the server's rate.
	DropThrottled
	// DropNotIncreasing is progress that did not exceed the previous one.
	DropNotIncreasing
	// DropNoForm is a message that could not be encoded.
	DropNoForm
	// DropNoWayBack is a message that was sent while serving a notification,
	// which has no way back to the client.
	DropNoWayBack
	// DropAnswered is a message that came after the response of its request.
	DropAnswered
	// DropCancelled is a message of a request that was cancelled, or its
	// response.
	DropCancelled
	// DropUnsubscribed is a change that the client is no longer subscribed to.
	DropUnsubscribed
	// DropUndelivered is a message that could not be written: the other side is
	// gone, or did not read it in time.
	DropUndelivered
	// DropNotKept is a message that had no listener and that the EventStore
	// could not keep.
	DropNotKept
	// DropForgotten is a message that was kept for a client that did not fetch
	// it in time.
	DropForgotten
)

// Reasons that occur in both directions.
const (
	// DropSuperseded is progress that was waiting when newer progress arrived.
	DropSuperseded DropReason = iota + DropForgotten + 1
	// DropRepeated is a change that was already waiting to be sent.
	DropRepeated
	// DropClosed is a message that was waiting or in flight when its
	// connection, session or subscription ended.
	DropClosed

	dropReasons // one more than the number of reasons
)

// dropWords are the names of the reasons and their explanations for people.
var dropWords = [dropReasons]struct{ name, words string }{
	DropMalformed:      {"malformed", "it could not be read as a message, or its params are not what its method has"},
	DropTooLong:        {"too-long", "it is over MaxMessageBytes"},
	DropTooEarly:       {"too-early", "it came before the session was opened with initialize"},
	DropUnasked:        {"unasked", "it responds to a request that was never sent, has already been answered, or was given up"},
	DropNotAllowed:     {"not-allowed", "a server must not send requests here"},
	DropTooMany:        {"too-many", "more requests of the server wait to be refused than are kept"},
	DropNoCall:         {"no-call", "it is about a request that has ended or never existed"},
	DropNoSubscription: {"no-subscription", "it belongs to a subscription that has ended or never existed"},
	DropNoTaker:        {"no-taker", "no handler is set for it"},
	DropRefused:        {"refused", "the HTTP request that brought it was refused; the status says why"},
	DropGivenUp:        {"given-up", "the request was given up: its response did not come, or nobody waits for it any longer"},
	DropNotWanted:      {"not-wanted", "the client has not asked for it: progress without a token, or a log message without a level or below it"},
	DropThrottled:      {"throttled", "it followed others too soon: progress within server.Options.ProgressInterval, or a log message over LogRate"},
	DropNotIncreasing:  {"not-increasing", "progress must exceed the previous one"},
	DropNoForm:         {"no-form", "it has no JSON form"},
	DropNoWayBack:      {"no-way-back", "it was sent while serving a notification, which has no way back"},
	DropAnswered:       {"answered", "the response was sent already, and nothing may follow it"},
	DropCancelled:      {"cancelled", "its request was cancelled"},
	DropUnsubscribed:   {"unsubscribed", "the client is no longer subscribed to it"},
	DropUndelivered:    {"undelivered", "it could not be written: the other side is gone, or too slow"},
	DropNotKept:        {"not-kept", "nobody listened, and the event store could not keep it"},
	DropForgotten:      {"forgotten", "the event store no longer has it, and the client had not fetched it"},
	DropSuperseded:     {"superseded", "newer progress came while it waited"},
	DropRepeated:       {"repeated", "the same change was already waiting to be sent"},
	DropClosed:         {"closed", "the connection, session or subscription ended before its turn"},
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

// Explain returns an explanation of why a message was dropped, for people: "it
// followed the previous progress too soon; …".
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
// that were not given their own.
func ProcessDrops() *Drops { return &processDrops }
