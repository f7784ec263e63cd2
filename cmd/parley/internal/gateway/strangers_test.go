package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
)

// as connects somebody to a gateway, who has extensions.
func as(t *testing.T, g *gateway.Gateway, principal string, front mcptest.Mode, extensions map[string]json.RawMessage) *client.Client {
	t.Helper()
	tr := frames.InProcess(g.View(""), &frames.Options{Principal: principal, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	c, err := client.Connect(t.Context(), tr, &client.Options{
		Revisions: []mcp.Revision{front.Revision}, Logger: mcptest.Quiet(),
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}, Extensions: extensions,
		},
		Answer: answerNobody,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // it has nothing to say
	return c
}

// takesTasks are the extensions of somebody who takes tasks.
var takesTasks = map[string]json.RawMessage{mcp.ExtensionTasks: json.RawMessage(`{}`)}

// inFrontOfOne returns a gateway in front of one server for all.
func inFrontOfOne(t *testing.T, back mcptest.Mode, share bridge.Share) (*marking, *gateway.Gateway) {
	t.Helper()
	m := &marking{t: t, name: "b", back: back, share: share, ways: map[string]*mcptest.Transport{}, one: true}
	t.Cleanup(m.wait)
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	t.Cleanup(func() { _ = g.Close() }) // before the servers are waited for
	if err := g.Load(gateway.Setup{Servers: []gateway.Server{m.server(0)}}); err != nil {
		t.Fatal(err)
	}
	g.Look(t.Context())
	return m, g
}

// A task is for whom it was made alone, also where a server takes all clients for one.
func TestSomebodysTask(t *testing.T) {
	for _, back := range modes {
		for name, share := range map[string]bridge.Share{"principal": bridge.SharePrincipal, "all": bridge.ShareAll} {
			if stateless(back) && share == bridge.ShareAll {
				continue // the client of such a server is not one that takes tasks
			}
			t.Run(back.String()+" "+name, func(t *testing.T) {
				_, g := inFrontOfOne(t, back, share)
				ann, bob := as(t, g, "ann", back, takesTasks), as(t, g, "bob", back, takesTasks)
				task, err := ann.StartTask(t.Context(), "b__task", marked{"mark-1-", "wait"})
				if err != nil {
					t.Fatal(err)
				}
				his := bob.Task(task.ID(), "b__task")
				if status, err := his.Status(t.Context()); !errors.Is(err, client.ErrNotFound) {
					t.Errorf("somebody else sees the task: %+v, error %v", status, err)
				}
				if err := his.Cancel(t.Context()); err == nil {
					t.Error("somebody else cancels the task")
				}
				if status, err := task.Status(t.Context()); err != nil || status.Status != mcp.TaskWorking {
					t.Errorf("its owner sees %+v, error %v", status, err)
				}
			})
		}
	}
}

func answerNobody(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"action":"decline"}`), nil
}

// A call that waits for an answer goes on with that of the client that was asked, once; it
// ends with its server, and its client is told so.
func TestStateOfSomebodyElse(t *testing.T) {
	for _, back := range modes[:2] {
		t.Run(back.String(), func(t *testing.T) {
			m, g := inFrontOfOne(t, back, bridge.SharePrincipal)
			ann, bob := as(t, g, "ann", modes[3], nil), as(t, g, "bob", modes[3], nil)
			call := func(c *client.Client, answers map[string]json.RawMessage, state json.RawMessage) (json.RawMessage, error) {
				return c.Do(t.Context(), mcp.MethodCallTool, raw(`{"name":"b__mark","arguments":{"mark":"mark-1-","do":"ask"}}`), client.WithInputRequired(), client.WithAnswers(answers, state))
			}
			ask := func() (map[string]json.RawMessage, json.RawMessage) {
				t.Helper()
				_, err := call(ann, nil, nil)
				asked, ok := errors.AsType[*mcp.InputRequired](err)
				if !ok {
					t.Fatalf("nothing is asked: %v", err)
				}
				return map[string]json.RawMessage{asked.Requests[0].Key: json.RawMessage(`{"action":"accept","content":{"mark":"mark-1-"}}`)}, asked.State
			}
			answers, state := ask()
			_, err := call(bob, answers, state)
			fails(t, "somebody else's answer", err, "requestState is not valid")
			_, err = call(ann, answers, json.RawMessage(`"`+string(state[1:len(state)-6])+`AAAAA"`))
			fails(t, "a forged state", err, "requestState is not valid")
			if result, err := call(ann, answers, state); err != nil || len(strangers("mark-1-", string(result))) > 0 {
				t.Errorf("one's own answer: %s, error %v", result, err)
			}
			_, err = call(ann, answers, state)
			fails(t, "the same answer again", err, "does not wait for this answer any more")
			answers, state = ask()
			m.dies("ann")
			_, err = call(ann, answers, state)
			fails(t, "an answer to a server that has gone", err, `the server "b" is not available`)
			if states := g.State(); states[0].Parked != 0 {
				t.Errorf("%d calls still wait", states[0].Parked)
			}
		})
	}
}
