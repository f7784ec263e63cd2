package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// booking is a server that asks two rounds of questions.
func booking() *server.Server {
	s := newServer(nil)
	server.AddTool(s, mcp.Tool{Name: "book"}, func(ctx context.Context, call *server.Call, in struct {
		Seats int `json:"seats"`
	},
	) (string, error) {
		name, err := askName(ctx, call)
		if err != nil {
			return "", err
		}
		reply, err := server.Sample(ctx, call, "greeting", &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{
			{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("Greet " + name)}},
		}})
		if err != nil {
			return "", err
		}
		return reply.Text(), nil
	})
	return s
}

// A caller can take the server's questions itself, and continue when it has the
// answers, on another client and in another process: it has to keep only the answers
// and the state.
func TestCallsThatAreGoneOnWithLater(t *testing.T) {
	for _, h := range hops {
		if !h.stateless() {
			continue
		}
		t.Run(h.String(), func(t *testing.T) {
			s := booking()
			params := json.RawMessage(`{"name":"book","arguments":{"seats":2}}`)
			replies := map[string]string{
				mcp.MethodElicit: `{"action":"accept","content":{"name":"Ann"}}`,
				mcp.MethodSample: `{"role":"assistant","model":"m","content":{"type":"text","text":"Good evening, Ann"}}`,
			}
			var (
				answers map[string]json.RawMessage
				state   json.RawMessage
				asked   []string
			)
			for range 3 {
				c := connect(t, s, h, &client.Options{Answer: nobody, Capabilities: everything()})
				result, err := c.Do(t.Context(), mcp.MethodCallTool, params, client.WithInputRequired(), client.WithAnswers(answers, state))
				required, open := errors.AsType[*mcp.InputRequired](err)
				if !open {
					if err != nil || !strings.Contains(string(result), "Good evening, Ann") {
						t.Errorf("got %s, %v", result, err)
					}
					break
				}
				answers, state = map[string]json.RawMessage{}, required.State
				for _, q := range required.Requests {
					if _, ok := q.Params.(json.RawMessage); !ok {
						t.Errorf("the params of %q are a %T", q.Key, q.Params)
					}
					asked = append(asked, q.Method)
					answers[q.Key] = json.RawMessage(replies[q.Method])
				}
			}
			if got := strings.Join(asked, " "); got != mcp.MethodElicit+" "+mcp.MethodSample {
				t.Errorf("asked %s", got)
			}
		})
	}
}

// nobody answers questions that must not reach it.
func nobody(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("nobody is there")
}

// In a session there are no rounds: the questions come while the call is open, and
// their context says which call they belong to. The same code serves both eras.
func TestSessionsAskWhileTheCallIsOpen(t *testing.T) {
	for _, h := range hops {
		if h.stateless() {
			continue
		}
		t.Run(h.String(), func(t *testing.T) {
			c := connect(t, booking(), h, &client.Options{
				Capabilities: everything(),
				Answer: func(ctx context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
					if method == mcp.MethodElicit {
						return raw(`{"action":"accept","content":{"name":%q}}`, userOf(ctx)), nil
					}
					return raw(`{"role":"assistant","model":"m","content":{"type":"text","text":"Hello %s"}}`, userOf(ctx)), nil
				},
			})
			got, err := client.Call[string](as(t.Context(), "Ann"), c, "book", map[string]int{"seats": 2},
				client.WithInputRequired(), client.WithAnswers(map[string]json.RawMessage{"who": raw(`{}`)}, raw(`"old"`)))
			if err != nil || got != "Hello Ann" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Anything but the state of a call, and answers for a method that allows no
// questions, are refused before anything is sent.
func TestAnswersToNothing(t *testing.T) {
	c := connect(t, booking(), hop{mcp.Revision20260728, false}, nil)
	for _, tt := range []struct {
		method, want string
		answers      map[string]json.RawMessage
		state        json.RawMessage
	}{
		{mcp.MethodCallTool, "not the State", nil, raw(`{"a":1}`)},
		{mcp.MethodCallTool, `"q"`, map[string]json.RawMessage{"q": raw(`{`)}, nil},
		{mcp.MethodListTools, "asks nothing", nil, raw(`"s"`)},
	} {
		_, err := c.Do(t.Context(), tt.method, nil, client.WithAnswers(tt.answers, tt.state))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s, %s: %v; want %q", tt.method, tt.answers, tt.state, err, tt.want)
		}
	}
}

// A question of a kind that was not declared is refused without asking anybody.
func TestAnswerIsAskedWhatWasDeclared(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		s := serving(func(ctx context.Context, x *mcp.Exchange) (any, error) {
			x.Peer.Capabilities = *everything() // a server that asks all the same
			answers, err := x.Back.Input(ctx, mcp.InputRequest{Key: "q", Method: mcp.MethodSample, Params: &mcp.CreateMessageParams{MaxTokens: 1}})
			if err != nil {
				return nil, err
			}
			return answers[0], nil
		})
		c := connect(t, s, h, &client.Options{
			Capabilities: &mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}},
			Answer: func(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
				t.Errorf("asked %s", method)
				return raw(`{}`), nil
			},
		})
		if result, err := c.Do(t.Context(), mcp.MethodCallTool, raw(`{"name":"x"}`)); err == nil {
			t.Errorf("got %s", result)
		}
	})
}

func TestOptionsThatContradictEachOther(t *testing.T) {
	elicit := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, nil }
	roots := func(context.Context) ([]*mcp.Root, error) { return nil, nil }
	for name, o := range map[string]*client.Options{
		"Options.Capabilities":      {Answer: nobody},
		"Options.Answer":            {Capabilities: everything()},
		"must not be set beside it": {Answer: nobody, Capabilities: everything(), Elicit: elicit},
		"Options.ListRoots":         {Roots: []*mcp.Root{}, ListRoots: roots},
	} {
		if _, err := client.Connect(t.Context(), nil, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v; want %q", err, name)
		}
	}
}

// Roots that ListRoots returns cannot be set by SetRoots, and must be valid.
func TestRootsOfAFunction(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		c := connect(t, asker(), h, &client.Options{ListRoots: func(context.Context) ([]*mcp.Root, error) {
			return []*mcp.Root{{URI: "https://example.com/"}}, nil
		}})
		if err := c.SetRoots(t.Context(), nil); err == nil {
			t.Error("the roots were set")
		}
		if result, err := c.CallTool(t.Context(), "roots", nil); err == nil && !result.IsError {
			t.Errorf("got %v", result)
		}
	})
}
