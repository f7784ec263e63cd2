package observe_test

import (
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// drop is how to have a message dropped for one reason.
type drop struct {
	side      mcp.Side
	direction mcp.Direction
	// provoke is given what looks and what counts; side takes both.
	provoke func(t *testing.T, o observers)
}

// observers are the options that this is about.
type observers struct {
	tap   mcp.Tap
	drops *mcp.Drops
}

func (o observers) serve() mcp.ServeOptions {
	return mcp.ServeOptions{Logger: mcptest.Quiet(), Tap: o.tap, Drops: o.drops}
}

var provocations = map[mcp.DropReason]drop{
	mcp.DropMalformed:      {mcp.ServerSide, mcp.Received, malformedNotification},
	mcp.DropTooLong:        {mcp.ServerSide, mcp.Received, longLine},
	mcp.DropTooEarly:       {mcp.ServerSide, mcp.Received, earlyNotification},
	mcp.DropUnasked:        {mcp.ServerSide, mcp.Received, unaskedAnswer},
	mcp.DropNotAllowed:     {mcp.ClientSide, mcp.Received, requestOfAStatelessServer},
	mcp.DropTooMany:        {mcp.ClientSide, mcp.Received, tooManyRequests},
	mcp.DropNoCall:         {mcp.ClientSide, mcp.Received, progressOfNoCall},
	mcp.DropNoSubscription: {mcp.ClientSide, mcp.Received, changeForNobody},
	mcp.DropNoTaker:        {mcp.ClientSide, mcp.Received, notificationWithoutTaker},
	mcp.DropRefused:        {mcp.ServerSide, mcp.Received, notificationOfNoSession},
	mcp.DropGivenUp:        {mcp.ClientSide, mcp.Received, cancelledCall},

	mcp.DropNotWanted:     {mcp.ServerSide, mcp.Sent, progressWithoutToken},
	mcp.DropThrottled:     {mcp.ServerSide, mcp.Sent, progressTooSoon},
	mcp.DropNotIncreasing: {mcp.ServerSide, mcp.Sent, progressBackwards},
	mcp.DropNoForm:        {mcp.ServerSide, mcp.Sent, progressWithoutForm},
	mcp.DropNoWayBack:     {mcp.ServerSide, mcp.Sent, answerToANotification},
	mcp.DropAnswered:      {mcp.ServerSide, mcp.Sent, notificationAfterTheAnswer},
	mcp.DropCancelled:     {mcp.ServerSide, mcp.Sent, resultOfACancelledCall},
	mcp.DropUnsubscribed:  {mcp.ServerSide, mcp.Sent, changeAfterUnsubscribing},
	mcp.DropUndelivered:   {mcp.ServerSide, mcp.Sent, clientThatIsGone},
	mcp.DropNotKept:       {mcp.ServerSide, mcp.Sent, fullEventStore},
	mcp.DropForgotten:     {mcp.ServerSide, mcp.Sent, forgetfulEventStore},

	mcp.DropSuperseded: {mcp.ClientSide, mcp.Received, progressForASlowListener},
	mcp.DropRepeated:   {mcp.ServerSide, mcp.Sent, changeTwice},
	mcp.DropClosed:     {mcp.ServerSide, mcp.Sent, changeBeforeTheEnd},
}

// Every reason is provoked, counted, seen, and explained.
func TestEveryReasonForADrop(t *testing.T) {
	for _, reason := range mcp.DropReasons() {
		d, ok := provocations[reason]
		if !ok {
			t.Errorf("nothing here provokes %q: add it to provocations", reason)
			continue
		}
		t.Run(reason.String(), func(t *testing.T) {
			if reason.Explain() == "" {
				t.Error("the reason has no explanation")
			}
			synctest.Test(t, func(t *testing.T) {
				w, drops := new(witness), new(mcp.Drops)
				d.provoke(t, observers{w.tap, drops})
				synctest.Wait()
				judge(t, w, drops, reason, d)
			})
		})
	}
}

func judge(t *testing.T, w *witness, drops *mcp.Drops, reason mcp.DropReason, d drop) {
	t.Helper()
	counted, seen := drops.Count(reason), uint64(0)
	for _, e := range w.all(func(e mcp.TapEvent) bool { return e.Dropped == reason }) {
		seen += e.Count
		if e.Side != d.side || e.Direction != d.direction {
			t.Errorf("the %s has seen a message that was %s; it is one that the %s has %s", e.Side, e.Direction, d.side, d.direction)
		}
	}
	if counted != 1 || seen != 1 {
		t.Errorf("%d messages are counted, and %d were seen, want 1; all that was dropped: %v", counted, seen, drops.Snapshot())
	}
}

// Without a tap, drops are counted all the same: for the process, if nobody has
// set others.
func TestDropsAreCountedWithoutATap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := mcp.ProcessDrops().Count(mcp.DropUnasked)
		unaskedAnswer(t, observers{})
		synctest.Wait()
		if n := mcp.ProcessDrops().Count(mcp.DropUnasked) - before; n != 1 {
			t.Errorf("%d drops are counted, want 1", n)
		}
	})
}
