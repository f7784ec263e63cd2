package calls_test

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/internal/calls"
	"github.com/parley-mcp/parley/jsonrpc"
)

func answer(id jsonrpc.ID) *jsonrpc.Message { return &jsonrpc.Message{Kind: jsonrpc.Response, ID: id} }

func TestCallsEndWithTheirReason(t *testing.T) {
	var table calls.Table
	a, err := table.New()
	if err != nil {
		t.Fatal(err)
	}
	b, err := table.New()
	if err != nil {
		t.Fatal(err)
	}
	if !table.Resolve(answer(a.ID)) {
		t.Error("the answer to a call in flight was not resolved")
	}
	if table.Resolve(answer(a.ID)) {
		t.Error("a second answer was resolved")
	}
	if _, err := a.Wait(t.Context()); err != nil {
		t.Errorf("Wait = %v", err)
	}
	reason := errors.New("the child died")
	table.Close(reason)
	table.Close(errors.New("a later reason"))
	if _, err := b.Wait(t.Context()); !errors.Is(err, reason) {
		t.Errorf("Wait = %v, want %v", err, reason)
	}
	if _, err := table.New(); !errors.Is(err, reason) {
		t.Errorf("New = %v, want %v", err, reason)
	}
	if _, err := table.Start(jsonrpc.IntID(9)); !errors.Is(err, reason) {
		t.Errorf("Start = %v, want %v", err, reason)
	}
}

func TestIDsOfTheCaller(t *testing.T) {
	var table calls.Table
	id := jsonrpc.StringID("a")
	call, err := table.Start(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Start(id); err == nil {
		t.Error("an ID in flight was started again")
	}
	gone := errors.New("no longer interested")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := call.Wait(ctx); !errors.Is(err, gone) {
		t.Errorf("Wait = %v, want %v", err, gone)
	}
	if table.Resolve(answer(id)) {
		t.Error("the answer to a forgotten call was resolved")
	}
	if _, err := table.Start(id); err != nil {
		t.Errorf("the ID of a forgotten call: %v", err)
	}
}

// The answer to a call that was given up is late, once, and only for as many calls
// as a table remembers.
func TestLateAnswers(t *testing.T) {
	var table calls.Table
	var all []jsonrpc.ID
	for range 65 {
		call, err := table.New()
		if err != nil {
			t.Fatal(err)
		}
		call.Forget()
		all = append(all, call.ID)
	}
	if table.Late(all[0]) {
		t.Error("a table remembers more than 64 calls")
	}
	for i, want := range []bool{true, false} {
		if got := table.Late(all[64]); got != want || table.Resolve(answer(all[64])) {
			t.Errorf("answer %d: late %t, want %t", i+1, got, want)
		}
	}
	if table.Late(jsonrpc.IntID(1000)) {
		t.Error("an answer to what was never asked is late")
	}
}
