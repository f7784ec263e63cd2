package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A question that belongs to no call of one client alone reaches nobody, and the server
// learns why.
func TestQuestionsOfNobody(t *testing.T) {
	for _, front := range []mcptest.Mode{modes[1], modes[3]} {
		t.Run(front.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				questionsOfNobody(t, newStage(t, front, modes[0], backend.Options{Share: bridge.ShareAll}), front)
			})
		})
	}
}

func questionsOfNobody(t *testing.T, s *stage, front mcptest.Mode) {
	var mu sync.Mutex
	var answers []string
	ask := func(id string) string {
		return `{"jsonrpc":"2.0","id":"` + id + `","method":"elicitation/create","params":{"message":"Your password?","requestedSchema":{"type":"object","properties":{}}}}` + "\n" +
			`{"jsonrpc":"2.0","id":"s` + id + `","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`
	}
	release := make(chan struct{})
	s.via = newVillain(t, s.back, func(m *heard, send func(string)) bool {
		switch m.Method {
		case "":
			mu.Lock()
			answers = append(answers, string(m.ID)+" "+string(m.Error))
			mu.Unlock()
		case mcp.NoteInitialized:
			send(ask("early"))
		case mcp.MethodCallTool:
			s.arrived <- struct{}{}
			<-release
			return false
		default:
			return false
		}
		return true
	})
	var asked atomic.Int64
	can := func() *client.Client {
		return mcptest.Connect(t, s.g.View(""), front, &client.Options{
			Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}, Sampling: &mcp.SamplingCapability{}},
			Answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
				asked.Add(1)
				return json.RawMessage(`{"action":"accept","content":{}}`), nil
			},
		})
	}
	clients := []*client.Client{can(), can()} // both on one connection, as it is for all
	for _, err := range clients[0].Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait() // what was asked before there was a call is answered
	var group sync.WaitGroup
	for _, c := range clients {
		group.Go(func() {
			if _, err := client.Call[string](t.Context(), c, "bad__write", nil); err != nil {
				t.Error(err)
			}
		})
	}
	<-s.arrived
	<-s.arrived
	v, _ := s.via.(*villain)
	v.say(ask("late"))
	pass(10 * time.Second)
	close(release)
	group.Wait()
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(answers, "\n")
	if asked.Load() != 0 {
		t.Errorf("clients were asked %d times", asked.Load())
	}
	for _, id := range []string{`"early"`, `"searly"`, `"late"`, `"slate"`} {
		has(t, all, id+` {"code":`)
	}
	has(t, all, "several clients share this connection")
}
