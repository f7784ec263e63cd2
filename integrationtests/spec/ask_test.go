package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// askModes are the modes in which a server can ask with a form.
func askModes() []mcptest.Mode {
	return slices.DeleteFunc(mcptest.AllModes(), func(m mcptest.Mode) bool {
		return m.Revision == mcp.Revision20241105 || m.Revision == mcp.Revision20250326
	})
}

// statelessModes are the modes of the stateless era.
func statelessModes() []mcptest.Mode {
	return slices.DeleteFunc(mcptest.AllModes(), func(m mcptest.Mode) bool { return m.Revision != mcp.Revision20260728 })
}

type city struct {
	City string `json:"city" description:"a city"`
}

// answers answers forms by their message.
func answers(byMessage map[string]string) func() *client.Options {
	return func() *client.Options {
		return &client.Options{
			Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				content, ok := byMessage[p.Message]
				switch {
				case !ok:
					return nil, fmt.Errorf("unexpected question %q", p.Message)
				case content == "decline" || content == "cancel":
					return &mcp.ElicitResult{Action: content}, nil
				}
				return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(content)}, nil
			},
			Sample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.OneOrMany{mcp.Text("model")}}, nil
			},
			Roots: []*mcp.Root{{URI: "file:///work", Name: "work"}},
		}
	}
}

func tool(f func(ctx context.Context, call *server.Call) (string, error)) func() mcp.Handler {
	return func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true})
		server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) { return f(ctx, call) })
		return s
	}
}

// A handler that asks twice and charges in between charges once, in every
// revision that can ask.
func TestTwoQuestionsAndOneCharge(t *testing.T) {
	var charges atomic.Int64
	h := tool(func(ctx context.Context, call *server.Call) (string, error) {
		from, err := server.Elicit[city](ctx, call, "from", "From?")
		if err != nil {
			return "", err
		}
		receipt, err := server.Once(ctx, call, "charge", func(context.Context) (int64, error) { return charges.Add(1), nil })
		if err != nil {
			return "", err
		}
		to, err := server.Elicit[city](ctx, call, "to", "To?")
		if err != nil {
			return "", err
		}
		return fmt.Sprint(from.City, "-", to.City, " ", receipt), nil
	})
	mcptest.RunModes(t, askModes(), h, answers(map[string]string{"From?": `{"city":"Rome"}`, "To?": `{"city":"Oslo"}`}), func(t *testing.T, c *client.Client) {
		charges.Store(0)
		got, err := client.Call[string](t.Context(), c, "t", nil)
		if err != nil || got != "Rome-Oslo 1" {
			t.Errorf("got %q, %v; want Rome-Oslo 1", got, err)
		}
		if n := charges.Load(); n != 1 {
			t.Errorf("charged %d times", n)
		}
	})
}

func TestSeveralQuestionsAtOnce(t *testing.T) {
	h := tool(func(ctx context.Context, call *server.Call) (string, error) {
		a, err := call.Ask(ctx, server.Form[city]("city", "Where?"), server.RootsQuestion(),
			server.SampleQuestion("model", &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("?")}}}}))
		if err != nil {
			return "", err
		}
		where, err := server.Answer[city](a, "city")
		if err != nil {
			return "", err
		}
		said, err := server.Answer[*mcp.CreateMessageResult](a, "model")
		if err != nil {
			return "", err
		}
		return where.City + " " + said.Text(), nil
	})
	mcptest.RunModes(t, askModes(), h, answers(map[string]string{"Where?": `{"city":"Rome"}`}), func(t *testing.T, c *client.Client) {
		got, err := client.Call[string](t.Context(), c, "t", nil)
		if err != nil || got != "Rome model" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestDeclinedAndCancelled(t *testing.T) {
	for action, want := range map[string]error{"decline": server.ErrDeclined, "cancel": server.ErrCancelled} {
		h := tool(func(ctx context.Context, call *server.Call) (string, error) {
			_, err := server.Elicit[city](ctx, call, "city", "Where?")
			if errors.Is(err, want) {
				return "nothing was done", nil
			}
			return "", err
		})
		mcptest.RunModes(t, askModes(), h, answers(map[string]string{"Where?": action}), func(t *testing.T, c *client.Client) {
			got, err := client.Call[string](t.Context(), c, "t", nil)
			if err != nil || got != "nothing was done" {
				t.Errorf("%s: got %q, %v", action, got, err)
			}
		})
	}
}

// A client that cannot be asked gets an error of the protocol that says so: -32021
// with the missing capability in the stateless era, an internal error in a session,
// which has no code for it. The handler gets the same error everywhere.
func TestQuestionWithoutCapability(t *testing.T) {
	h := tool(func(ctx context.Context, call *server.Call) (string, error) {
		a, err := server.Elicit[city](ctx, call, "city", "Where?")
		if lacks, ok := errors.AsType[*mcp.MissingCapabilityError](err); !ok || lacks.Required.Elicitation == nil {
			t.Errorf("the handler gets %v, want an *mcp.MissingCapabilityError", err)
		}
		return a.City, err
	})
	mcptest.Run(t, h, nil, func(t *testing.T, c *client.Client) {
		_, err := c.CallTool(t.Context(), "t", nil)
		var rpc *jsonrpc.Error
		if c.Revision() != mcp.Revision20260728 {
			if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInternalError || rpc.Message != "the client has not declared the capability elicitation (form)" {
				t.Errorf("error = %v", err)
			}
			return
		}
		if !errors.As(err, &rpc) || rpc.Code != mcp.CodeMissingCapability || !strings.Contains(string(rpc.Data), `"requiredCapabilities":{"elicitation":{"form":{}}}`) {
			t.Errorf("error = %v with data %s", err, rpc.Data)
		}
	})
}

// A handler that ignores the error of a question would lose the question: that
// is a bug in the handler, and an internal error.
func TestSwallowedQuestion(t *testing.T) {
	h := tool(func(ctx context.Context, call *server.Call) (string, error) {
		a, err := server.Elicit[city](ctx, call, "city", "Where?")
		if err != nil {
			return "it does not matter", nil
		}
		return a.City, nil
	})
	mcptest.RunModes(t, statelessModes(), h, answers(map[string]string{"Where?": `{"city":"Rome"}`}), func(t *testing.T, c *client.Client) {
		_, err := c.CallTool(t.Context(), "t", nil)
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInternalError {
			t.Errorf("error = %v, want an internal error", err)
		}
	})
}

func TestRoundsAreBounded(t *testing.T) {
	h := tool(func(ctx context.Context, call *server.Call) (string, error) {
		for i := 0; ; i++ {
			if _, err := server.Elicit[city](ctx, call, fmt.Sprint("q", i), "Where?"); err != nil {
				return "", err
			}
		}
	})
	opts := answers(map[string]string{"Where?": `{"city":"Rome"}`})
	mcptest.RunModes(t, statelessModes(), h, opts, func(t *testing.T, c *client.Client) {
		_, err := c.CallTool(t.Context(), "t", nil)
		if err == nil || !strings.Contains(err.Error(), "more than 16 times") {
			t.Errorf("error = %v", err)
		}
	})
}

// A handler may build its InputRequired by hand, with its own state, in every
// revision.
func TestHandMadeInputRequired(t *testing.T) {
	h := func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
		s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, call *server.Call, _ json.RawMessage) (*mcp.CallToolResult, error) {
			x := call.Exchange()
			if x.Answers["q"] == nil {
				return nil, &mcp.InputRequired{State: json.RawMessage(`{"step":1}`), Requests: []mcp.InputRequest{{Key: "q", Method: mcp.MethodElicit, Params: &mcp.ElicitParams{
					Message: "Where?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
				}}}}
			}
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Textf("%s %s", x.State, x.Answers["q"])}}, nil
		})
		return s
	}
	mcptest.RunModes(t, askModes(), h, answers(map[string]string{"Where?": `{"city":"Rome"}`}), func(t *testing.T, c *client.Client) {
		got, err := client.Call[string](t.Context(), c, "t", nil)
		if want := `{"step":1} {"action":"accept","content":{"city":"Rome"}}`; err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	})
}

// An answer of the user that does not fit the form is not sent; the server gets
// an error.
func TestAnswersAreChecked(t *testing.T) {
	h := tool(func(ctx context.Context, call *server.Call) (string, error) {
		a, err := server.Elicit[city](ctx, call, "city", "Where?")
		return a.City, err
	})
	mcptest.RunModes(t, askModes(), h, answers(map[string]string{"Where?": `{"city":5}`}), func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "t", nil)
		if err == nil && !r.IsError {
			t.Errorf("a number was accepted as a city: %+v", r)
		}
	})
}

// Progress arrives in order, before the result, and only if asked for; so do
// log messages, from the requested level on.
func TestProgressAndLogBelongToTheirCall(t *testing.T) {
	h := tool(func(ctx context.Context, call *server.Call) (string, error) {
		call.Progress(ctx, 1, 3, "one")
		call.Progress(ctx, 1, 3, "not more")
		call.Progress(ctx, 3, 3, "three")
		call.Log(ctx, mcp.LevelDebug, "quiet")
		call.Log(ctx, mcp.LevelError, "loud")
		return "done", nil
	})
	logs := make(chan string, 16)
	opts := func() *client.Options {
		return &client.Options{LogLevel: mcp.LevelWarning, Log: func(_ context.Context, m *mcp.LogParams) { logs <- fmt.Sprint(m.Data) }}
	}
	mcptest.Run(t, h, opts, func(t *testing.T, c *client.Client) {
		var last float64
		_, err := c.CallTool(t.Context(), "t", nil, client.WithProgress(func(p *mcp.ProgressParams) {
			if p.Progress <= last {
				t.Errorf("progress went from %v to %v", last, p.Progress)
			}
			last = p.Progress
		}))
		if err != nil || last != 3 {
			t.Errorf("last progress %v, %v; want 3", last, err)
		}
		if got := <-logs; got != "loud" {
			t.Errorf("logged %q, want loud", got)
		}
		select {
		case extra := <-logs:
			t.Errorf("also logged %q", extra)
		default:
		}
	})
}

// No stateless request sees anything of another.
func TestStatelessRequestsShareNothing(t *testing.T) {
	h := tool(func(_ context.Context, call *server.Call) (string, error) {
		p := call.Exchange().Peer
		return fmt.Sprint(p.Info.Name, p.Capabilities.Elicitation != nil), nil
	})
	transport := &mcptest.Transport{Handler: h(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	conn, err := transport.Connect(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(id int64, name, caps string) string {
		m := &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(id), Method: mcp.MethodCallTool, Params: json.RawMessage(
			`{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"` + name + `","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + caps + `}}`)}
		r, err := conn.RoundTrip(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Result)
	}
	if got := ask(1, "alice", `{"elicitation":{}}`); !strings.Contains(got, "alicetrue") {
		t.Errorf("first: %s", got)
	}
	if got := ask(2, "bob", `{}`); !strings.Contains(got, "bobfalse") {
		t.Errorf("second: %s", got)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	transport.Wait()
}

// What was read with the user's answers is nobody else's, and not to be read
// again from a cache, whatever the server's hints are.
//
// Spec: 2026-07-28 server/utilities/caching#cache-key.
func TestWhatWasAskedForIsNotCached(t *testing.T) {
	h := func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Cache: map[string]server.CacheHint{
			mcp.MethodReadResource: {TTL: time.Minute, Scope: mcp.CachePublic},
		}})
		s.AddResource(mcp.Resource{URI: "a:weather", Name: "weather"}, func(ctx context.Context, call *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			where, err := server.Elicit[city](ctx, call, "city", "Where?")
			if err != nil {
				return nil, err
			}
			return server.Contents(mcp.TextResource(uri, "text/plain", "Sun in "+where.City)), nil
		})
		return s
	}
	mcptest.RunModes(t, statelessModes(), h, answers(map[string]string{"Where?": `{"city":"Rome"}`}), func(t *testing.T, c *client.Client) {
		r, err := c.ReadResource(t.Context(), "a:weather")
		if err != nil {
			t.Fatal(err)
		}
		if r.TTLMs == nil || *r.TTLMs != 0 || r.CacheScope != mcp.CachePrivate {
			t.Errorf("got %q for %v ms, want private and 0", r.CacheScope, r.TTLMs)
		}
	})
}
