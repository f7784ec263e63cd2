package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// back is the way to a client in a session, whose person answers with text, or never if it
// is "".
type back struct {
	mu    sync.Mutex
	text  string
	err   error
	asked int
	notes []mcp.ProgressParams
}

func (b *back) Input(ctx context.Context, _ ...mcp.InputRequest) ([]json.RawMessage, error) {
	b.mu.Lock()
	b.asked++
	text, err := b.text, b.err
	b.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case text == "":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return []json.RawMessage{json.RawMessage(text)}, nil
}

func (b *back) Notify(_ context.Context, _ string, params any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, _ := params.(*mcp.ProgressParams)
	b.notes = append(b.notes, *p)
	return nil
}

func (b *back) LogEnabled(mcp.LoggingLevel) bool { return false }

func (b *back) Once(ctx context.Context, _ string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return f(ctx)
}

// office is a guard with its desk, and what has happened there.
type office struct {
	*approval.Guard

	desk   *approval.Desk
	events []approval.Event
}

func newOffice(o approval.Options, b approval.Bounds) *office {
	of := &office{desk: approval.NewDesk(mcptest.Quiet())}
	of.desk.Configure(b)
	of.desk.Watch(func(e approval.Event) { of.events = append(of.events, e) })
	if o.Rules == nil {
		o.Rules = []approval.Rule{{}}
	}
	of.Guard = approval.New(of.desk, o)
	return of
}

// kinds are those of all events.
func (o *office) kinds() string {
	var kinds []string
	for _, e := range o.events {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

// paying is a call of a client in a session.
func paying(b mcp.Backchannel, arguments string) *guard.Operation {
	peer := mcp.Peer{
		Revision: mcp.Revision20251125, Principal: "ann",
		Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}},
	}
	return &guard.Operation{
		Exchange: &mcp.Exchange{ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Back: b, Peer: peer},
		Method:   mcp.MethodNamed(mcp.MethodCallTool), Backend: "shop", Subject: "pay", Shown: "shop__pay",
		Definition: &guard.Definition{Kind: mcp.ToolFeature, Backend: "shop", Name: "pay", Raw: json.RawMessage(`{"name":"pay"}`)},
		Params:     json.RawMessage(`{"name":"pay","arguments":` + arguments + `}`),
	}
}

// done counts what reaches the backend.
type done int

func (d *done) next(context.Context, *guard.Operation) (any, error) {
	*d++
	return json.RawMessage(`{}`), nil
}

// serve serves an operation, and fails the test unless it is done, or is denied with a text.
func (o *office) serve(t *testing.T, op *guard.Operation, want string) {
	t.Helper()
	var d done
	result, err := o.Serve(t.Context(), op, d.next)
	told := ""
	if failed, ok := result.(*mcp.CallToolResult); ok && failed.IsError {
		text, _ := failed.Content[0].(*mcp.TextContent)
		told = text.Text
	}
	switch {
	case err != nil:
		t.Error(err)
	case want == "" && (told != "" || d != 1):
		t.Errorf("done %d times, denied: %s", d, told)
	case want != "" && (told == "" || !strings.Contains(told, want) || d != 0 || !op.Approval.Denied()):
		t.Errorf("done %d times, denied: %s; want %q; the operation says %+v", d, told, want, op.Approval)
	}
}

func accept(decision string) string {
	return `{"action":"accept","content":{"decision":"` + decision + `"}}`
}

// What the person at the client answers decides, if it is one of the answers that were
// offered.
func TestAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		accept("once"):         "",
		accept("10m"):          "",
		accept("30m"):          "", // the longest
		accept("1h"):           "none of those that were offered",
		accept("tool-10m"):     "none of those that were offered",
		accept("deny"):         "declined",
		accept(""):             "none of those that were offered",
		`{"action":"accept"}`:  "none of those that were offered",
		`{"action":"allow"}`:   "none of those that were offered",
		`{"action":"decline"}`: "declined",
		`{"action":"cancel"}`:  "no choice was made",
		`{"action":1}`:         "has not brought an answer",
		`{"action":"accept","content":{"decision":["once"]}}`: "none of those that were offered",
	} {
		t.Run(answer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(approval.Options{Ask: approval.AskClient}, approval.Bounds{MaxTime: 30 * time.Minute})
				op := paying(&back{text: answer}, `{"amount":5}`)
				o.serve(t, op, want)
				if decision := "given"; op.Approval.By != approval.TheClient || (op.Approval.Decision == decision) != (want == "") {
					t.Errorf("the operation says %+v", op.Approval)
				}
			})
		})
	}
}

// Nobody waits for ever, nor for a client that is not there any more.
func TestNobodyAnswers(t *testing.T) {
	for _, ask := range []approval.Ask{approval.AskClient, approval.AskOperator, approval.AskBoth} {
		t.Run(string(ask), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(approval.Options{Ask: ask}, approval.Bounds{})
				begun, b := time.Now(), &back{}
				o.serve(t, paying(b, `{}`), "nobody answered within 5m0s")
				if d := time.Since(begun); d != 5*time.Minute {
					t.Errorf("it took %s", d)
				}
				if o.kinds() != "asked expired" || (b.asked > 0) != (ask != approval.AskOperator) {
					t.Errorf("events %q, asked %d times", o.kinds(), b.asked)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				gone := errors.New("the client is gone")
				time.AfterFunc(time.Second, func() { cancel(gone) })
				var d done
				if _, err := o.Serve(ctx, paying(b, `{}`), d.next); !errors.Is(err, gone) || d != 0 {
					t.Errorf("error %v, done %d times", err, d)
				}
				if o.kinds() != "asked expired asked withdrawn" || len(o.desk.Waiting()) != 0 {
					t.Errorf("events %q, waiting %+v", o.kinds(), o.desk.Waiting())
				}
			})
		})
	}
}

// A client that cannot ask its person gets a denial that says what to do, unless an operator
// may decide. One that fails to ask is like that, too.
func TestNobodyToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, both := newOffice(approval.Options{Ask: approval.AskClient}, approval.Bounds{}), newOffice(approval.Options{Wait: time.Minute}, approval.Bounds{})
		mute := paying(&back{}, `{}`)
		mute.Exchange.Peer.Capabilities.Elicitation = nil
		client.serve(t, mute, `"ask: both"`)
		both.serve(t, mute, "nobody answered")
		failing := &back{err: errors.New("no window")}
		client.serve(t, paying(failing, `{}`), "no window")
		both.serve(t, paying(failing, `{}`), "nobody answered within 1m0s")
		if client.kinds() != "refused asked refused" {
			t.Errorf("events %q", client.kinds())
		}
	})
}

// A client that wants progress learns how the operator can be asked, so that it does not
// give up.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(approval.Options{Ask: approval.AskOperator, Wait: time.Minute, File: "g.yaml"}, approval.Bounds{}), &back{}
		op := paying(b, `{}`)
		op.Exchange.ProgressToken = jsonrpc.IntID(7)
		o.serve(t, op, "nobody answered")
		if len(b.notes) < 5 {
			t.Fatalf("%d notes", len(b.notes))
		}
		before := -2.0
		for _, n := range b.notes {
			if n.Progress <= before || n.Progress >= 0 || !strings.Contains(n.Message, "parley gateway approvals allow g.yaml "+op.Approval.ID) {
				t.Errorf("%+v after %g", n, before)
			}
			before = n.Progress
		}
	})
}

// An approval for a time covers the same call, and nothing else, until it ends.
func TestForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(approval.Options{Ask: approval.AskClient}, approval.Bounds{MaxTime: time.Hour})
		yes, no := &back{text: accept("10m")}, &back{text: accept("deny")}
		o.serve(t, paying(yes, `{"a":1,"b":2}`), "")
		o.serve(t, paying(no, ` { "b":2, "a":1 } `), "")
		for name, change := range map[string]func(op *guard.Operation){
			"arguments": func(op *guard.Operation) { op.Params = json.RawMessage(`{"name":"pay","arguments":{"a":1.0,"b":2}}`) },
			"params": func(op *guard.Operation) {
				op.Params = json.RawMessage(`{"name":"pay","arguments":{"a":1,"b":2},"force":true}`)
			},
			"principal": func(op *guard.Operation) { op.Exchange.Peer.Principal = "bob" },
			"program":   func(op *guard.Operation) { op.Exchange.Peer.Authorization = &mcp.Authorization{ClientID: "x"} },
			"backend":   func(op *guard.Operation) { op.Backend = "other" },
			"tool":      func(op *guard.Operation) { op.Subject = "refund" },
			"definition": func(op *guard.Operation) {
				op.Definition = &guard.Definition{Raw: json.RawMessage(`{"name":"pay","description":"x"}`)}
			},
		} {
			op := paying(no, `{"a":1,"b":2}`)
			change(op)
			before := no.asked
			if o.serve(t, op, "declined"); no.asked != before+1 {
				t.Errorf("another %s is covered", name)
			}
		}
		meta := paying(no, `{"a":1,"b":2},"_meta":{"progressToken":9}`)
		o.serve(t, meta, "")
		if given := o.desk.Given(); len(given) != 1 || given[0].Used != 2 || given[0].By != approval.TheClient {
			t.Errorf("given is %+v", given)
		}
		<-time.NewTimer(10 * time.Minute).C
		synctest.Wait()
		o.serve(t, paying(no, `{"a":1,"b":2}`), "declined")
		if len(o.desk.Given()) != 0 || !strings.Contains(o.kinds(), "expired") {
			t.Errorf("given is %+v, events %q", o.desk.Given(), o.kinds())
		}
	})
}

// Where the configuration allows it, a person can approve a tool with any arguments. What
// is given can be revoked, and ends where a new configuration does not allow it.
func TestToolWide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bounds := approval.Bounds{MaxTime: time.Hour, ToolWide: true}
		o := newOffice(approval.Options{Ask: approval.AskClient}, bounds)
		yes, no := &back{text: accept("tool-1h")}, &back{text: accept("deny")}
		o.serve(t, paying(yes, `{"a":1}`), "")
		o.serve(t, paying(no, `{"a":2}`), "")
		if err := o.desk.Revoke(o.desk.Given()[0].ID, "ann"); err != nil {
			t.Error(err)
		}
		o.serve(t, paying(no, `{"a":2}`), "declined")
		if last := o.events[2]; last.Kind != approval.Revoked || last.By != "ann" {
			t.Errorf("events %q", o.kinds())
		}
		for _, next := range []approval.Bounds{{MaxTime: time.Hour}, {MaxTime: time.Minute, ToolWide: true}} {
			o.desk.Configure(bounds)
			o.serve(t, paying(yes, `{"a":1}`), "")
			if o.desk.Configure(next); len(o.desk.Given()) != 0 {
				t.Errorf("given in spite of %+v: %+v", next, o.desk.Given())
			}
		}
	})
}

// Calls that are the same are asked about on their own, but an approval for a time is one
// for all that wait.
func TestTheSameAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(approval.Options{Ask: approval.AskOperator}, approval.Bounds{MaxTime: time.Hour})
		var work sync.WaitGroup
		for range 3 {
			work.Go(func() { o.serve(t, paying(&back{}, `{}`), "") })
		}
		synctest.Wait()
		waiting := o.desk.Waiting()
		if len(waiting) != 3 {
			t.Fatalf("waiting is %+v", waiting)
		}
		if err := o.desk.Allow(waiting[0].ID, approval.Terms{}, "ann"); err != nil {
			t.Error(err)
		}
		if err := o.desk.Allow(waiting[0].ID, approval.Terms{}, "ann"); !errors.Is(err, approval.ErrUnknown) {
			t.Errorf("twice: %v", err)
		}
		synctest.Wait()
		if n := len(o.desk.Waiting()); n != 2 {
			t.Errorf("%d wait after one was approved", n)
		}
		if err := o.desk.Allow(waiting[1].ID, approval.Terms{For: 2 * time.Hour}, "ann"); err == nil || !strings.Contains(err.Error(), "1h0m0s at most") {
			t.Errorf("for too long: %v", err)
		}
		if err := o.desk.Allow(waiting[1].ID, approval.Terms{For: time.Minute, Tool: true}, "ann"); err == nil || !strings.Contains(err.Error(), "tool_wide") {
			t.Errorf("with any arguments: %v", err)
		}
		if err := o.desk.Allow(waiting[1].ID, approval.Terms{For: time.Minute}, "ann"); err != nil {
			t.Error(err)
		}
		work.Wait()
	})
}

// Nobody approves what is not theirs to decide, also not for later.
func TestWhoMayDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bounds := approval.Bounds{MaxTime: time.Hour}
		o := newOffice(approval.Options{Ask: approval.AskClient}, bounds)
		var work sync.WaitGroup
		work.Go(func() { o.serve(t, paying(&back{}, `{}`), "nobody answered") })
		synctest.Wait()
		if err := o.desk.Allow(o.desk.Waiting()[0].ID, approval.Terms{}, "ann"); err == nil || !strings.Contains(err.Error(), "ask: client") {
			t.Errorf("an operator: %v", err)
		}
		work.Wait()
		o.serve(t, paying(&back{text: accept("10m")}, `{}`), "")
		stricter := approval.New(o.desk, approval.Options{Rules: []approval.Rule{{Ask: approval.AskOperator}}, Wait: time.Minute})
		var d done
		if _, err := stricter.Serve(t.Context(), paying(&back{text: accept("once")}, `{}`), d.next); err != nil || d != 0 {
			t.Errorf("what the person at the client has approved counts for the operator: error %v, done %d times", err, d)
		}
	})
}

// While the person at the client thinks, an operator can decide. The question is withdrawn.
func TestOperatorIsFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(approval.Options{}, approval.Bounds{})
		var work sync.WaitGroup
		work.Go(func() { o.serve(t, paying(&back{}, `{}`), "") }) // ends only if the question does
		synctest.Wait()
		if err := o.desk.Allow(o.desk.Waiting()[0].ID, approval.Terms{}, "ann"); err != nil {
			t.Error(err)
		}
		work.Wait()
	})
}

// Nobody fills the desk, for others or with large arguments.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(approval.Options{Ask: approval.AskOperator}, approval.Bounds{MaxWaiting: 8})
		var work sync.WaitGroup
		for range 2 {
			work.Go(func() { o.serve(t, paying(&back{}, `{}`), "nobody answered") })
		}
		synctest.Wait()
		o.serve(t, paying(&back{}, `{}`), "as many calls wait for approval as may")
		large := paying(&back{}, `{"a":"`+strings.Repeat("x", 65<<20)+`"}`)
		large.Exchange.Peer.Principal = "bob"
		o.serve(t, large, "as many calls wait for approval as may")
		work.Wait()
	})
}

// What cannot be told by a result is an error.
func TestDeniedWithoutResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(approval.Options{Rules: []approval.Rule{{Method: "*"}}}, approval.Bounds{})
		task, prompt := paying(&back{text: accept("deny")}, `{}`), paying(&back{text: accept("deny")}, `{}`)
		task.Exchange.Task = &mcp.TaskOffer{Demanded: true}
		prompt.Method = mcp.MethodNamed(mcp.MethodGetPrompt)
		prompt.Exchange.Method = mcp.MethodGetPrompt
		for _, op := range []*guard.Operation{task, prompt} {
			var d done
			_, err := o.Serve(t.Context(), op, d.next)
			if rpc, ok := errors.AsType[*jsonrpc.Error](err); !ok || !strings.Contains(rpc.Message, "is denied: the person at the client") || d != 0 {
				t.Errorf("error %v, done %d times", err, d)
			}
		}
	})
}

// An approval of a call that has come to nothing, because its person has to visit a URL
// first, is there for the next.
func TestVisitFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(approval.Options{Ask: approval.AskClient}, approval.Bounds{})
		for _, visit := range []error{&mcp.InputRequired{VisitFirst: true}, jsonrpc.Errorf(mcp.CodeURLElicitation, "visit")} {
			_, err := o.Serve(t.Context(), paying(&back{text: accept("once")}, `{}`), func(context.Context, *guard.Operation) (any, error) { return nil, visit })
			if !errors.Is(err, visit) {
				t.Errorf("error %v", err)
			}
			no := &back{text: accept("deny")}
			o.serve(t, paying(no, `{}`), "")
			o.serve(t, paying(no, `{}`), "declined")
		}
	})
}

// What one client leaves behind keeps no other from going on.
func TestTicketsEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(approval.Options{Ask: approval.AskClient}, approval.Bounds{MaxTime: time.Hour})
		ask := func(principal string) error {
			op := paying(&back{text: accept("10m")}, `{}`)
			op.Exchange.Peer.Principal = principal
			_, err := o.Serve(t.Context(), op, func(context.Context, *guard.Operation) (any, error) { return nil, new(mcp.InputRequired) })
			return err
		}
		for i := range 101 {
			err := ask("ann")
			if _, asked := errors.AsType[*mcp.InputRequired](err); asked != (i < 100) {
				t.Fatalf("the call %d of ann: %v", i+1, err)
			}
		}
		if _, asked := errors.AsType[*mcp.InputRequired](ask("bob")); !asked {
			t.Error("bob cannot go on because of ann")
		}
	})
}
