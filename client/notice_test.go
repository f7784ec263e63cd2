package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// careless is a stateless server that does not say which subscription it means.
type careless struct {
	to   mcp.Receiver
	done chan struct{}
}

func (f *careless) Name() string { return "careless" }

func (f *careless) Connect(_ context.Context, r mcp.Receiver) (mcp.Conn, error) {
	f.to = r
	return f, nil
}

func (f *careless) RoundTrip(ctx context.Context, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	if m.Method != mcp.MethodListen {
		return &jsonrpc.Message{Kind: jsonrpc.Response, ID: m.ID, Result: json.RawMessage(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}`)}, nil
	}
	f.notify(mcp.NoteAcknowledged, `{"notifications":{"toolsListChanged":true,"promptsListChanged":true}}`)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (f *careless) notify(method, params string) {
	var d jsonrpc.Decoder
	m, err := d.Decode(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
	if err != nil {
		panic(err)
	}
	f.to.Notification(context.Background(), m)
}

func (*careless) Send(context.Context, *jsonrpc.Message) error { return nil }
func (f *careless) Done() <-chan struct{}                      { return f.done }
func (*careless) Err() error                                   { return nil }
func (f *careless) Close() error                               { close(f.done); return nil }

// A change that names no subscription goes to the only one that wants it. If there are
// several, it is dropped, and the log says so either way.
func TestChangeWithoutASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		server := &careless{done: make(chan struct{})}
		c, err := client.Connect(t.Context(), server, &client.Options{Logger: log.logger()})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		listen := func(name string, f mcp.SubscriptionFilter) {
			if _, err := c.Listen(t.Context(), f, func(_ context.Context, e client.Event) { got = append(got, name) }); err != nil {
				t.Fatal(err)
			}
		}
		tell := func(method string) {
			server.notify(method, `{}`)
			synctest.Wait()
		}
		listen("tools", mcp.SubscriptionFilter{ToolsListChanged: true})
		listen("prompts", mcp.SubscriptionFilter{PromptsListChanged: true})
		tell(mcp.NoteToolsChanged)
		tell(mcp.NotePromptsChanged)
		// The requests for the two have the IDs 2 and 3.
		server.notify(mcp.NotePromptsChanged, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"3"}}`)
		synctest.Wait()
		if fmt.Sprint(got) != "[tools prompts prompts]" || len(log.lines("without saying for which subscription")) != 2 {
			t.Errorf("the subscriptions got %v, the log %q", got, log.lines(""))
		}
		listen("both", mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true})
		tell(mcp.NoteToolsChanged)
		if len(got) != 3 || len(log.lines("notification of the server dropped")) != 1 {
			t.Errorf("the subscriptions got %v, the log %q", got, log.lines(""))
		}
		// However often that happens, the log stays short.
		for range 10_000 {
			server.notify(mcp.NoteToolsChanged, `{}`)
		}
		if n := len(log.lines("notification of the server dropped")); n > 30 {
			t.Errorf("%d lines in the log", n)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What a server refuses to stream is not honoured, whatever it has declared.
func TestSubscriptionWithoutAStream(t *testing.T) {
	s := &script{answer: func(m *said) (int, string) {
		return 200, `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}}`
	}}
	c, err := s.connect(t, &client.Options{Revisions: []mcp.Revision{mcp.Revision20250618}, Logger: new(logged).logger()})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"a://b"}}, func(context.Context, client.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if h := sub.Honoured(); h.ToolsListChanged || len(h.ResourceSubscriptions) > 0 {
		t.Errorf("honoured %+v though GET was refused", h)
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
}

// When the server never says that a visit is over, the user can have the call repeated
// or cancelled.
func TestEndVisit(t *testing.T) {
	enough := errors.New("the user has had enough")
	for name, why := range map[string]error{"retry": nil, "cancel": enough} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			s := &script{answer: func(m *said) (int, string) {
				switch {
				case m.Method == mcp.MethodInitialize:
					return 200, `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`
				case m.Method != mcp.MethodCallTool:
					return 202, ""
				}
				if calls++; calls > 1 {
					return 200, `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}`
				}
				return 200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"v1","url":"https://a.example/","message":"m"}]}}}`
			}}
			visited := make(chan string, 1)
			c, err := s.connect(t, &client.Options{
				Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: new(logged).logger(),
				VisitURL: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					visited <- p.ElicitationID
					return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			go func() { // ends with the call
				_, err := client.Call[string](t.Context(), c, "x", nil)
				failed <- err
			}()
			if id := <-visited; c.EndVisit("another", why) || !c.EndVisit(id, why) {
				t.Error("EndVisit does not know which visit is waited for")
			}
			if err := <-failed; !errors.Is(err, why) {
				t.Errorf("error = %v, want %v", err, why)
			}
			if c.EndVisit("v1", nil) {
				t.Error("a visit that is over is ended again")
			}
		})
	}
}
