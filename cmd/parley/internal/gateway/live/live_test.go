package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

func operation(session string) *guard.Operation {
	return &guard.Operation{
		Exchange: &mcp.Exchange{Method: mcp.MethodCallTool, Peer: mcp.Peer{Principal: "ada", SessionID: session, Info: mcp.Implementation{Name: "host", Version: "2"}}},
		Method:   mcp.MethodNamed(mcp.MethodCallTool), Backend: "shop", Subject: "pay", Shown: "shop__pay", Params: json.RawMessage(`{"name":"pay"}`),
	}
}

// An exchange is seen while it is under way, and when it has ended.
func TestExchange(t *testing.T) {
	told := 0
	l := &Log{Changed: func() { told++ }}
	result, err := l.Serve(t.Context(), operation("s1"), func(_ context.Context, op *guard.Operation) (any, error) {
		list, latest := l.Since(0, 10)
		if len(list) != 1 || list[0].Outcome != "" || list[0].Shown != "shop__pay" || list[0].Client != "host/2" || latest != 1 {
			t.Errorf("under way: %+v, %d", list, latest)
		}
		if c := l.Clients(); len(c) != 1 || c[0].UnderWay != 1 || c[0].Session == "s1" || c[0].Session == "" {
			t.Errorf("clients %+v", c)
		}
		op.Approval = &guard.Approval{Decision: "given", By: "bob"}
		return json.RawMessage(`{}`), nil
	})
	if err != nil || string(result.(json.RawMessage)) != `{}` {
		t.Fatal(result, err)
	}
	list, latest := l.Since(1, 10)
	if len(list) != 1 || list[0].Outcome != guard.OutcomeOK || list[0].ResultBytes != 2 || list[0].Approval.By != "bob" || latest != 2 || told != 2 {
		t.Errorf("at the end: %+v, %d; told %d times", list, latest, told)
	}
	if list, _ = l.Since(latest, 10); len(list) != 0 {
		t.Errorf("nothing has happened since, and yet %+v", list)
	}
}

// Secrets in errors are not shown, and denials by humans are denials.
func TestErrors(t *testing.T) {
	l := new(Log)
	_, _ = l.Serve(t.Context(), operation(""), func(context.Context, *guard.Operation) (any, error) {
		return nil, errors.New("Authorization: Bearer 0123456789abcdef0123456789abcdef")
	})
	_, _ = l.Serve(t.Context(), operation(""), func(_ context.Context, op *guard.Operation) (any, error) {
		op.Approval = &guard.Approval{Decision: "refused"}
		return json.RawMessage(`{"isError":true}`), nil
	})
	list, _ := l.Since(0, 10)
	if list[0].Error == "" || list[0].Error == "Authorization: Bearer 0123456789abcdef0123456789abcdef" || list[0].Outcome != guard.OutcomeError {
		t.Errorf("an error: %+v", list[0])
	}
	if list[1].Outcome != guard.OutcomeDenied {
		t.Errorf("a denial: %+v", list[1])
	}
}

// Sessions are clients until they end; others are until there are too many.
func TestClients(t *testing.T) {
	l := new(Log)
	session := &mcp.Exchange{Method: mcp.MethodInitialize, Peer: mcp.Peer{SessionID: "s1"}}
	record := func(e guard.Event) {
		if err := l.Record(&e); err != nil {
			t.Error(err)
		}
	}
	record(guard.Event{Exchange: session})
	record(guard.Event{Exchange: &mcp.Exchange{Method: mcp.MethodSubscribe, Peer: session.Peer}, Over: true})
	if len(l.Clients()) != 1 {
		t.Error("the end of a subscription is not that of its session")
	}
	record(guard.Event{Exchange: session, Over: true})
	if c := l.Clients(); len(c) != 0 {
		t.Errorf("a session has ended, and yet %+v", c)
	}
	for i := range maxClients + 5 {
		record(guard.Event{Exchange: &mcp.Exchange{Method: mcp.MethodListTools, Peer: mcp.Peer{Principal: fmt.Sprint(i)}}})
	}
	if c := l.Clients(); len(c) != maxClients || c[0].Exchanges != 1 || c[0].UnderWay != 0 {
		t.Errorf("%d clients, the first %+v", len(c), c[0])
	}
}

// What is remembered is bounded, and what has ended late is not lost meanwhile.
func TestBounds(t *testing.T) {
	l := new(Log)
	slow := l.begin(Exchange{Method: "slow"})
	for range kept - 1 {
		l.end(l.begin(Exchange{Method: "fast"}), nil, nil)
	}
	l.end(slow, nil, nil)
	list, _ := l.Since(0, kept)
	if len(list) != kept || list[0].Method != "slow" || list[0].Outcome != guard.OutcomeOK {
		t.Fatalf("%d exchanges, the first %+v", len(list), list[0])
	}
	late := slow
	l.end(l.begin(Exchange{Method: "fast"}), nil, nil)
	l.end(late, nil, nil)
	if list, _ = l.Since(0, kept); len(list) != kept || list[0].Method != "fast" || list[kept-1].Number != kept+1 {
		t.Errorf("%d exchanges, the first %+v", len(list), list[0])
	}
}
