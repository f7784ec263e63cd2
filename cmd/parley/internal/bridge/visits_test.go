package bridge_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// bank is a server that does nothing before its user has connected an account on a page.
type bank struct {
	connected atomic.Bool
	silent    bool // it does not say when a visit is over
	visits    chan *server.Visit
	asked     atomic.Int64
}

const bankPage = "https://bank.example/connect"

func (k *bank) server() *server.Server {
	k.visits = make(chan *server.Visit, 100)
	s := newServer()
	server.AddTool(s, mcp.Tool{Name: "pay"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		k.asked.Add(1)
		if k.connected.Load() {
			return "paid", nil
		}
		visit, err := call.Visit(ctx, "account")
		if err != nil {
			return "", err
		}
		k.visits <- visit
		return "", visit.Require("Connect your account", bankPage)
	})
	return s
}

// visited does what the page does when the user is done.
func (k *bank) visited(ctx context.Context) error {
	k.connected.Store(true)
	var err error
	for len(k.visits) > 0 && !k.silent {
		err = (<-k.visits).Over(ctx)
	}
	return err
}

// user is a client whose user goes where they are sent.
func (k *bank) user() *client.Options {
	return &client.Options{VisitURL: func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		if p.URL != bankPage || p.Message != "Connect your account" {
			return nil, errors.New("sent to " + p.URL)
		}
		return &mcp.ElicitResult{Action: mcp.ActionAccept}, k.visited(ctx)
	}}
}

// A server that demands a visit first gets it, in any era on either side.
func TestVisitFirst(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		k := new(bank)
		b := bridged(t, k.server(), back)
		got, err := client.Call[string](t.Context(), mcptest.Connect(t, b, front, k.user()), "pay", nil)
		if err != nil || got != "paid" {
			t.Errorf("%q, %v", got, err)
		}
		if n := b.Parked(); n != 0 {
			t.Errorf("%d calls wait", n)
		}
	})
}

// Who does not go there learns that this is what is missing.
func TestVisitDeclined(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		b := bridged(t, new(bank).server(), back)
		c := mcptest.Connect(t, b, front, &client.Options{VisitURL: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
		}})
		got, err := client.Call[string](t.Context(), c, "pay", nil)
		if err == nil {
			t.Errorf("%q", got)
		}
		if stateless(front) && !stateless(back) && !strings.Contains(err.Error(), "did not agree to") {
			t.Errorf("the error is %v", err)
		}
	})
}

// A server that does not say when a visit is over is asked again after a while.
func TestVisitNobodySaysIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &bank{silent: true}
		b := bridged(t, k.server(), modes[0])
		begun := time.Now()
		got, err := client.Call[string](t.Context(), mcptest.Connect(t, b, modes[2], k.user()), "pay", nil)
		if err != nil || got != "paid" || time.Since(begun) != 30*time.Second {
			t.Errorf("%q, %v, after %s", got, err, time.Since(begun))
		}
		_ = b.Close()
	})
}

// A client that cannot send its user anywhere is told where to go.
func TestVisitOfNobody(t *testing.T) {
	for _, back := range modes {
		for name, front := range map[string]mcptest.Mode{
			"an older revision": {Revision: mcp.Revision20250618, Transport: mcptest.Lines},
			"without URLs":      modes[0],
		} {
			t.Run(name+" to "+back.String(), func(t *testing.T) {
				k := new(bank)
				b := sharedBy(t, k.server(), back, bridge.ShareAll)
				c := mcptest.Connect(t, b, front, &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					return nil, errors.New("asked")
				}})
				_, err := client.Call[string](t.Context(), c, "pay", nil)
				if rpc, ok := errors.AsType[*jsonrpc.Error](err); !ok || !strings.Contains(rpc.Message, bankPage) {
					t.Errorf("the error is %v", err)
				}
			})
		}
	}
}
