package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// mark is what belongs to one principal. The one after it says that it has ended, so that
// mark-1 is not found in mark-12.
var mark = regexp.MustCompile(`mark-[0-9]+-`)

// strangers returns the marks in a text that are not one's own.
func strangers(own, text string) (found []string) {
	for _, m := range mark.FindAllString(text, -1) {
		if m != own {
			found = append(found, m)
		}
	}
	return found
}

// marking is a backend whose servers say, ask and list nothing without the mark of whom
// it is for. Where each principal has a connection of its own, it also has a server of its
// own, which reports what reaches it with the mark of another.
type marking struct {
	t     *testing.T
	name  string
	back  mcptest.Mode
	share bridge.Share
	one   bool // there is one server for all

	mu   sync.Mutex
	ways map[string]*mcptest.Transport // by the mark
}

// server returns the backend as a gateway has it. It is another one for each version.
func (m *marking) server(version int) gateway.Server {
	return gateway.Server{
		Rules: naming.Rules{Backend: m.name}, Same: fmt.Sprint(m.name, version), OnDemand: !m.one,
		Backend: backend.Options{Share: m.share, MaxConnections: 1000, Connect: func(ctx context.Context, peer *mcp.Peer, o *client.Options) (*client.Client, error) {
			o.Revisions = []mcp.Revision{m.back.Revision}
			return client.Connect(ctx, m.way(peer.Principal), o)
		}},
	}
}

// way returns the way to the server of a principal.
func (m *marking) way(own string) *mcptest.Transport {
	if m.one {
		own = ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ways[own] == nil {
		m.ways[own] = &mcptest.Transport{Handler: m.serverOf(own), Over: m.back.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	}
	return m.ways[own]
}

// dies ends the newest connection to a server, if there is one.
func (m *marking) dies(own string) {
	if m.share == bridge.ShareAll {
		own = ""
	}
	m.way(own).Break()
}

// wait returns when all servers have ended.
func (m *marking) wait() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.ways {
		w.Wait()
		if s, ok := w.Handler.(*server.Server); ok {
			_ = s.Close(context.Background()) // it waits for its tasks as long as that takes
		}
	}
}

type marked struct {
	Mark string `json:"mark"`
	Do   string `json:"do,omitzero"`
}

// serverOf returns a server for those with one mark; "" is for all.
func (m *marking) serverOf(own string) *server.Server {
	s := server.New(mcp.Implementation{Name: "marking", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, ProgressInterval: -1, Tasks: server.TaskOptions{PollInterval: time.Millisecond},
		Announce: server.Features{Tools: true}, Cache: map[string]server.CacheHint{mcp.MethodReadResource: {TTL: time.Minute, Scope: mcp.CachePrivate}},
	})
	if own != "" {
		s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
			return func(ctx context.Context, x *mcp.Exchange) (any, error) {
				if found := strangers(own, string(x.Params)); found != nil {
					m.t.Errorf("%s: what is meant for %v reaches the server of %s: %s", m.name, found, own, x.Params)
				}
				return next(ctx, x)
			}
		})
		server.AddTool(s, mcp.Tool{Name: "only-" + own, Description: "For " + own}, func(context.Context, *server.Call, struct{}) (string, error) { return own, nil })
		s.AddResource(mcp.Resource{URI: "test://me", Name: "me of " + own}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			return server.Contents(mcp.TextResource(uri, "text/plain", own)), nil
		})
	}
	server.AddTool(s, mcp.Tool{Name: "mark", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, m.work)
	server.AddTool(s, mcp.Tool{Name: "task", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}}, m.work)
	server.AddPrompt(s, mcp.Prompt{Name: "greet"}, func(_ context.Context, _ *server.Call, in marked) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Hello, " + in.Mark)}}}, nil
	})
	s.CompletePrompt("greet", "mark", func(_ context.Context, _ *server.Call, c server.Completing) (mcp.Completion, error) {
		return mcp.Completion{Values: []string{c.Prefix + "and more"}}, nil
	})
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "note://{id}", Name: "note"}, func(_ context.Context, _ *server.Call, uri string, vars struct {
		ID string `json:"id"`
	},
	) (*mcp.ReadResourceResult, error) {
		s.ResourceUpdated(uri)
		return server.Contents(mcp.TextResource(uri, "text/plain", "note of "+vars.ID)), nil
	})
	return s
}

// metaMark is where requests and results have the mark in _meta.
const metaMark = "com.example/mark"

// work is a tool that talks, and asks, fails or waits if it is told to. The result has the
// mark wherever a result can have something.
func (m *marking) work(ctx context.Context, call *server.Call, in marked) (*mcp.CallToolResult, error) {
	var meta string
	if sent, err := call.Meta(metaMark, &meta); err != nil || sent && meta != in.Mark {
		m.t.Errorf("%s: a call of %s has _meta of %q, error %v", m.name, in.Mark, meta, err)
	}
	call.Progress(ctx, 1, 2, in.Mark)
	call.Log(ctx, mcp.LevelError, in.Mark)
	answered := in.Mark
	var err error
	switch in.Do {
	case "fail":
		return nil, fmt.Errorf("%s has failed", in.Mark)
	case "wait":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "ask":
		var answer marked
		answer, err = server.Elicit[marked](ctx, call, "who", "Who is "+in.Mark+"?")
		answered = answer.Mark
	case "visit":
		err = server.ElicitURL(ctx, call, "visit", "Somebody waits for "+in.Mark, "https://pay.example/"+in.Mark)
	case "sample":
		answered, err = server.SampleText(ctx, call, "model", "What is "+in.Mark+"?", 10)
	case "roots":
		var roots []*mcp.Root
		if roots, err = server.Roots(ctx, call); err == nil && len(roots) == 1 {
			answered = strings.TrimPrefix(roots[0].URI, "file:///")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Mark, err)
	}
	if answered != in.Mark {
		m.t.Errorf("%s: %s is answered %q by %s", m.name, in.Mark, in.Do, answered)
	}
	return &mcp.CallToolResult{
		ResultFields: mcp.ResultFields{Meta: mcp.Meta{metaMark: raw("%q", in.Mark)}},
		Content:      mcp.Contents{mcp.Text(in.Mark)}, StructuredContent: raw(`{"mark":%q}`, in.Mark),
	}, nil
}

// raw is what a text becomes in JSON.
func raw(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}
