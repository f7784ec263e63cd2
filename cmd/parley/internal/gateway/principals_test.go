package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// mark is what belongs to one principal.
var mark = regexp.MustCompile(`mark-[0-9]+`)

// marking returns a server that says, asks and lists things with the mark of its caller,
// and reports calls that bring marks of others.
func marking(t *testing.T) *server.Server {
	s := server.New(mcp.Implementation{Name: "marking", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true})
	type in struct {
		Mark string `json:"mark"`
		Ask  bool   `json:"ask"`
	}
	server.AddTool(s, mcp.Tool{Name: "mark"}, func(ctx context.Context, call *server.Call, in in) (string, error) {
		_ = call.Exchange().Back.Notify(ctx, mcp.NoteProgress, json.RawMessage(`{"progress":1,"message":"`+in.Mark+`"}`))
		if !in.Ask {
			return in.Mark, nil
		}
		answer, err := server.Elicit[struct {
			Mark string `json:"mark"`
		}](ctx, call, "who", "Who is "+in.Mark+"?")
		if err == nil && answer.Mark != in.Mark {
			t.Errorf("%s was answered by %s", in.Mark, answer.Mark)
		}
		return in.Mark, err
	})
	return s
}

// Nothing crosses between principals: what each gets, is asked and hears of has its own
// mark.
func TestPrincipals(t *testing.T) {
	const principals, calls = 12, 6
	for _, back := range modes {
		for name, share := range map[string]bridge.Share{"principal": bridge.SharePrincipal, "session": bridge.ShareSession} {
			t.Run(back.String()+" "+name, func(t *testing.T) {
				g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
				servers := []gateway.Server{behind(t, "one", marking(t), back, share), behind(t, "two", marking(t), back, share)}
				t.Cleanup(func() { _ = g.Close() })
				if err := g.Load(gateway.Setup{Servers: servers}); err != nil {
					t.Fatal(err)
				}
				var group sync.WaitGroup
				for p := range principals {
					group.Go(func() { use(t, g, p, calls) })
				}
				group.Wait()
			})
		}
	}
}

// use is a principal that makes calls.
func use(t *testing.T, g *gateway.Gateway, p, calls int) {
	own := fmt.Sprintf("mark-%d", p)
	check := func(what, text string) {
		for _, m := range mark.FindAllString(text, -1) {
			if m != own {
				t.Errorf("%s gets %s: %s", own, what, text)
			}
		}
	}
	tr := frames.InProcess(g.View(""), &frames.Options{Principal: own, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	c, err := client.Connect(t.Context(), tr, &client.Options{
		Revisions: []mcp.Revision{modes[p%len(modes)].Revision}, Logger: mcptest.Quiet(),
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}},
		Answer: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
			check("asked", string(params))
			return json.RawMessage(`{"action":"accept","content":{"mark":"` + own + `"}}`), nil
		},
	})
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for range calls {
		backend := []string{"one", "two"}[rand.IntN(2)]
		params := fmt.Sprintf(`{"name":"%s__mark","arguments":{"mark":"%s","ask":%t}}`, backend, own, rand.IntN(2) == 0)
		raw, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(params), client.WithProgress(nil),
			client.WithNotifications(func(_ context.Context, _ string, params json.RawMessage) { check("told", string(params)) }))
		if err != nil {
			t.Errorf("%s: %v", own, err)
			continue
		}
		if text := string(raw); !mark.MatchString(text) {
			t.Errorf("%s gets %s", own, text)
		}
		check("answered", string(raw))
	}
}
