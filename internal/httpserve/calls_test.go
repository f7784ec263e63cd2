package httpserve_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/httpserve"
)

// A drain waits for the calls that have begun, with all that they keep, and for no others.
func TestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls httpserve.Calls
		if calls.Draining() || !calls.Begin() {
			t.Fatal("a call cannot begin")
		}
		calls.Keep()
		impatient := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(impatient)
		if err := calls.Drain(ctx); !errors.Is(err, impatient) {
			t.Errorf("with a call in flight, Drain gave %v, want %v", err, impatient)
		}
		if !calls.Draining() || calls.Begin() {
			t.Error("a call has begun after Drain")
		}
		drained := make(chan error, 1)
		go func() { drained <- calls.Drain(t.Context()) }() // ends with the calls
		calls.End()
		synctest.Wait()
		select {
		case err := <-drained:
			t.Fatalf("Drain did not wait for what the call keeps: %v", err)
		default:
		}
		calls.Keep() // a call that is in flight goes on in another place
		calls.End()
		calls.End()
		for range 2 {
			if err := calls.Drain(t.Context()); err != nil {
				t.Errorf("without calls, Drain gave %v", err)
			}
		}
		if err := <-drained; err != nil {
			t.Errorf("Drain gave %v", err)
		}
	})
}
