package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// page is the page that users are sent to: it knows when they are done.
type page struct {
	visits chan *server.Visit
	done   chan struct{}
}

// open makes the page's channels, in the bubble of the test.
func (p *page) open() { p.visits, p.done = make(chan *server.Visit, 1), make(chan struct{}, 1) }

// server returns a server whose tools send the user to the page: "waits" until the
// user is done, "leaves" right after the user has agreed, and "needs" it before.
func (p *page) server() *server.Server {
	s := server.New(mcp.Implementation{Name: "v", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	add := func(name string, run func(ctx context.Context, v *server.Visit, url string) error) {
		server.AddTool(s, mcp.Tool{Name: name}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			v, err := call.Visit(ctx, "v")
			if err != nil {
				return "", err
			}
			select {
			case p.visits <- v:
			default: // of an earlier run
			}
			return "served", run(ctx, v, "https://example.com/connect?visit="+v.ID())
		})
	}
	add("waits", func(ctx context.Context, v *server.Visit, url string) error {
		if err := v.Ask(ctx, "Connect", url); err != nil {
			return err
		}
		<-p.done
		return v.Over(ctx)
	})
	add("leaves", func(ctx context.Context, v *server.Visit, url string) error { return v.Ask(ctx, "Connect", url) })
	add("needs", func(_ context.Context, v *server.Visit, url string) error { return v.Require("Connect", url) })
	return s
}

// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
//
// The client that was asked, and no other, is told that a visit is over, when it is:
// not at the user's consent, and also after the request was answered.
func TestVisitIsToldToBeOver(t *testing.T) {
	p := new(page)
	s := p.server()
	sessOpen(t, s, mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
		p.open()
		other := new(sessWire)
		other.send = mcptest.Raw(t, &mcptest.Transport{Handler: s, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}, other.receive)
		other.say(sessInit("2025-11-25", sessAll), sessReady)
		// ask calls a tool and agrees to the visit, of which it returns the end.
		ask := func(tool string) (over string, answers []string) {
			question := w.say(sessCall("1", tool))
			sessWant(t, tool, question, `~"mode":"url"`)
			visit := sessField(t, question[0], "params", "elicitationId")
			if url := sessField(t, question[0], "params", "url"); !strings.Contains(url, "visit="+strings.Trim(visit, `"`)) {
				t.Errorf("the visit %s is to %s", visit, url)
			}
			answers = w.say(`{"jsonrpc":"2.0","id":` + sessField(t, question[0], "id") + `,"result":{"action":"accept"}}`)
			return `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":` + visit + `}}`, answers
		}
		over, got := ask("waits")
		sessWant(t, "at consent", got)
		p.done <- struct{}{}
		sessWant(t, "when the user is done", w.say(), over, `~"id":1,"result"`)
		<-p.visits

		over, got = ask("leaves")
		sessWant(t, "at consent, for a handler that does not wait", got, `~"id":1,"result"`)
		if err := (<-p.visits).Over(t.Context()); err != nil {
			t.Error(err)
		}
		sessWant(t, "after the answer", w.say(), over)
		sessWant(t, "another client", other.say())
	})
	sessOpen(t, s, mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
		p.open()
		question := w.say(sessCall("1", "leaves"))
		w.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if err := (<-p.visits).Over(t.Context()); err != nil {
			t.Error(err)
		}
		sessWant(t, "of a cancelled request", w.say(), `~`+sessField(t, question[0], "params", "elicitationId"))
	})
}

// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
//
// A request that needs a visit first is refused with the visits, where clients know
// that error and can visit; elsewhere with one that says what is missing.
func TestVisitRequired(t *testing.T) {
	tests := []struct{ revision, capabilities, want string }{
		{"2025-11-25", `{"elicitation":{"url":{}}}`, `~{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"the user has to visit a URL first","data":{"elicitations":[{"mode":"url","message":"Connect","url":"https://example.com/connect?visit=`},
		{"2025-11-25", `{"elicitation":{}}`, `~"error":{"code":-32603,"message":"the client has not declared the capability elicitation (url)"`},
		{"2025-06-18", `{"elicitation":{"url":{}}}`, `~"error":{"code":-32603,"message":"the client has not declared the capability elicitation (url)"`},
		{"2024-11-05", sessAll, `~"error":{"code":-32603,"message":"the client has not declared the capability elicitation (url)"`},
	}
	for _, tt := range tests {
		r, _ := mcp.ParseRevision(tt.revision)
		sessOpen(t, new(page).server(), r, tt.capabilities, func(t *testing.T, w *sessWire) {
			got := w.say(sessCall("1", "needs"))
			sessWant(t, tt.revision+" with "+tt.capabilities, got, tt.want)
			if strings.Contains(tt.want, "-32042") && !strings.Contains(got[0], `,"elicitationId":"`) {
				t.Errorf("no elicitationId in %s", got[0])
			}
		})
	}
	w := rawly(t, new(page).server(), nil)
	a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"needs"`, metaWith(`{"elicitation":{"url":{}}}`, "")))
	if asked(t, a).InputRequests["v"] == nil || strings.Contains(a.raw, "elicitationId") {
		t.Errorf("in the stateless era: %s", a.raw)
	}
	w.refused(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"needs"`, metaWith(`{"elicitation":{}}`, "")), mcp.CodeMissingCapability, "url")
}

// An InputRequired that requires visits, but asks something else, is a mistake of
// its handler.
func TestOnlyVisitsComeFirst(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "v", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
		return nil, &mcp.InputRequired{Requests: []mcp.InputRequest{{Key: "r", Method: mcp.MethodRoots}}, VisitFirst: true}
	})
	sessOpen(t, s, mcp.Revision20251125, sessAll, func(t *testing.T, w *sessWire) {
		sessWant(t, "roots", w.say(sessCall("1", "t")), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`)
	})
}

// A client sends its user to a required visit, waits until it is over, and repeats
// the request; the handler is the same in both eras.
func TestVisitFirst(t *testing.T) {
	for _, action := range []string{mcp.ActionAccept, mcp.ActionDecline} {
		var modes []mcptest.Mode
		for _, m := range mcptest.AllModes() {
			if m.Revision == mcp.Revision20251125 || m.Revision == mcp.Revision20260728 {
				modes = append(modes, m)
			}
		}
		var connected atomic.Bool
		var pending atomic.Pointer[server.Visit]
		h := tool(func(ctx context.Context, call *server.Call) (string, error) {
			if connected.Load() {
				return "connected", nil
			}
			v, err := call.Visit(ctx, "account")
			if err != nil {
				return "", err
			}
			pending.Store(v)
			return "", v.Require("Connect your account", "https://example.com/connect?visit="+v.ID())
		})
		opts := func() *client.Options {
			connected.Store(false)
			return &client.Options{VisitURL: func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				if action == mcp.ActionAccept { // the page knows better than the client
					connected.Store(true)
					if err := pending.Load().Over(context.WithoutCancel(ctx)); err != nil {
						t.Error(err)
					}
				}
				return &mcp.ElicitResult{Action: action}, nil
			}}
		}
		mcptest.RunModes(t, modes, h, opts, func(t *testing.T, c *client.Client) {
			r, err := c.CallTool(t.Context(), "t", nil)
			if action == mcp.ActionAccept {
				if err != nil || r.IsError || !connected.Load() {
					t.Errorf("accepted: %+v, %v", r, err)
				}
				return
			}
			var rpc *jsonrpc.Error
			if c.Revision() == mcp.Revision20251125 {
				if !errors.As(err, &rpc) || rpc.Code != mcp.CodeURLElicitation {
					t.Errorf("declined: %v", err)
				}
				return
			}
			if err != nil || !r.IsError {
				t.Errorf("declined: %+v, %v; want a failed tool", r, err)
			}
		})
	}
}
