package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// asker is a server with a tool and a prompt that ask who calls.
func asker() *server.Server {
	s := newServer(nil)
	server.AddTool(s, mcp.Tool{Name: "whoami"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		return askName(ctx, call)
	})
	server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		roots, err := server.Roots(ctx, call)
		if err != nil || len(roots) != 1 {
			return "", err
		}
		return roots[0].URI, nil
	})
	return s
}

// askName asks the user for a name.
func askName(ctx context.Context, call *server.Call) (string, error) {
	who, err := server.Elicit[struct {
		Name string `json:"name"`
	}](ctx, call, "who", "Who are you?")
	return who.Name, err
}

func accept(name string) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: raw(`{"name":%q}`, name)}
}

// The function that answers a question knows the call it belongs to: its context
// has the values of the call's.
func TestQuestionsHaveTheContextOfTheirCall(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		c := connect(t, asker(), h, &client.Options{
			Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				origin := client.OriginOf(ctx)
				if origin.Request == nil || origin.Request.Method != mcp.MethodCallTool || !strings.Contains(string(origin.Request.Params), "whoami") {
					t.Errorf("the question belongs to %+v", origin.Request)
				}
				// Over stdio nothing says which call is meant, but there is only one.
				if inferred := !h.http && !h.stateless(); origin.Inferred != inferred {
					t.Errorf("inferred is %t", origin.Inferred)
				}
				return accept(userOf(ctx)), nil
			},
			ListRoots: func(ctx context.Context) ([]*mcp.Root, error) {
				return []*mcp.Root{{URI: "file:///home/" + userOf(ctx)}}, nil
			},
		})
		for _, user := range []string{"Ann", "Bob"} {
			ctx := as(t.Context(), user)
			if got, err := client.Call[string](ctx, c, "whoami", nil); err != nil || got != user {
				t.Errorf("%s is %q, %v", user, got, err)
			}
			if got, err := client.Call[string](ctx, c, "roots", nil); err != nil || got != "file:///home/"+user {
				t.Errorf("the root of %s is %q, %v", user, got, err)
			}
		}
	})
}

// With several calls in flight, a question of a session over stdio could belong to
// any of them, and is attributed to none. Everywhere else the call is known.
func TestQuestionsOfSeveralCalls(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		both, other := make(chan struct{}), make(chan struct{})
		s := newServer(nil)
		server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			<-both
			return askName(ctx, call)
		})
		server.AddTool(s, mcp.Tool{Name: "wait"}, func(context.Context, *server.Call, struct{}) (string, error) {
			close(both)
			<-other
			return "", nil
		})
		c := connect(t, s, h, &client.Options{
			Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				if known := client.OriginOf(ctx).Request != nil; known != (h.http || h.stateless()) {
					t.Errorf("known is %t", known)
				}
				return accept(userOf(ctx)), nil
			},
		})
		waited := make(chan error, 1)
		go func() { // ends when the first call has
			_, err := c.CallTool(as(t.Context(), "Bob"), "wait", nil)
			waited <- err
		}()
		got, err := client.Call[string](as(t.Context(), "Ann"), c, "ask", nil)
		want := "Ann"
		if !h.http && !h.stateless() {
			want = "nobody"
		}
		if err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		close(other)
		if err := within(t, "the other call", waited); err != nil {
			t.Error(err)
		}
	})
}

// A list in flight asks nothing: a question belongs to the other call.
func TestListsAskNothing(t *testing.T) {
	h := hop{mcp.Revision20251125, false}
	listing, listed := make(chan struct{}), make(chan struct{})
	s := asker()
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Method == mcp.MethodListTools {
				close(listing)
				<-listed
			}
			return next(ctx, x)
		}
	})
	c := connect(t, s, h, &client.Options{
		Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return accept(userOf(ctx)), nil
		},
	})
	done := make(chan error, 1)
	go func() { // ends when listed is closed
		_, err := c.ListTools(t.Context(), nil)
		done <- err
	}()
	within(t, "the list", listing)
	if got, err := client.Call[string](as(t.Context(), "Ann"), c, "whoami", nil); err != nil || got != "Ann" {
		t.Errorf("got %q, %v", got, err)
	}
	close(listed)
	if err := within(t, "the list", done); err != nil {
		t.Error(err)
	}
}

// The context of a question ends with its call, and for the same reason.
func TestQuestionsEndWithTheirCall(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		asked, over, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		c := connect(t, asker(), h, &client.Options{
			Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				close(asked)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				if !h.stateless() { // the server could answer the call before the call has noticed its end
					<-over
				}
				return nil, context.Cause(ctx)
			},
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() { // ends with the call
			_, err := c.CallTool(ctx, "whoami", nil)
			close(over)
			failed <- err
		}()
		within(t, "the question", asked)
		why := errors.New("Ann has left")
		cancel(why)
		// The server may be the first to withdraw the question, for the same reason.
		if err := within(t, "the end of the question", ended); err.Error() != why.Error() {
			t.Errorf("the question ended with %v", err)
		}
		if err := within(t, "the end of the call", failed); !errors.Is(err, why) {
			t.Errorf("the call failed with %v", err)
		}
	})
}

// A question that the server withdraws ends for the reason that the server gives.
func TestQuestionsEndWhenTheyAreTakenBack(t *testing.T) {
	for _, h := range hops {
		if h.stateless() {
			continue // there a question is part of an answer, and cannot be withdrawn
		}
		t.Run(h.String(), func(t *testing.T) {
			asked, ended := make(chan struct{}), make(chan error, 1)
			s := newServer(nil)
			server.AddTool(s, mcp.Tool{Name: "impatient"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				go func() { // ends with the question
					<-asked
					cancel(errors.New("the server has thought better of it"))
				}()
				_, err := askName(ctx, call)
				return "never mind", errOnly(err == nil)
			})
			c := connect(t, s, h, &client.Options{
				Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					close(asked)
					<-ctx.Done()
					ended <- context.Cause(ctx)
					return nil, context.Cause(ctx)
				},
			})
			got, err := client.Call[string](t.Context(), c, "impatient", nil)
			if err != nil || got != "never mind" {
				t.Errorf("got %q, %v", got, err)
			}
			// The answer of the call may overtake the withdrawal over HTTP.
			cause := within(t, "the end of the question", ended)
			if text := cause.Error(); text != "the server has thought better of it" && !strings.Contains(text, "is over") {
				t.Errorf("the question ended with %q", text)
			}
		})
	}
}

func errOnly(wrong bool) error {
	if wrong {
		return errors.New("it was answered")
	}
	return nil
}

// standing is a server of sessions that asks on the stream that belongs to no
// call, as some do even when they ask because of one.
type standing struct {
	t         *testing.T
	questions chan string // to be sent
	answers   chan string
}

func (s *standing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		for {
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
			select {
			case q := <-s.questions:
				_, _ = fmt.Fprintf(w, "data: %s\n\n", q) // Flush shows whether the client is gone
			case <-r.Context().Done():
				return
			}
		}
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil && r.Method == http.MethodPost {
		s.t.Errorf("a POST without a message: %v", err)
	}
	result := ""
	switch m.Method {
	case "":
		s.answers <- string(m.Result)
	case mcp.MethodInitialize:
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	case mcp.MethodCallTool:
		s.questions <- `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}`
		result = fmt.Sprintf(`{"content":[],"structuredContent":%s}`, <-s.answers)
	}
	if result == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) // the client tells
}

// A question on the stream that belongs to no call is attributed to the only call
// in flight, as an inference.
func TestQuestionsOnTheStandingStream(t *testing.T) {
	s := &standing{t: t, questions: make(chan string, 1), answers: make(chan string, 1)}
	web := httptest.NewServer(s)
	defer web.Close()
	c, err := client.Connect(t.Context(), &streamable.Client{URL: web.URL, Logger: mcptest.Quiet()}, &client.Options{
		Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet(),
		Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if origin := client.OriginOf(ctx); origin.Request == nil || !origin.Inferred {
				t.Errorf("the question belongs to %+v", origin)
			}
			return accept(userOf(ctx)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.CallTool(as(t.Context(), "Ann"), "whoami", nil)
	if err != nil || !strings.Contains(string(result.StructuredContent), "Ann") {
		t.Errorf("got %v, %v", result, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
