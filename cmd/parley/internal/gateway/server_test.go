package gateway_test

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// server returns a server that has something of everything.
func (w *world) server(name string) *server.Server {
	s := server.New(mcp.Implementation{Name: name, Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, PageSize: 1, Instructions: "Use " + name + ".",
		Announce: server.Features{Tools: true, Prompts: true, Resources: true},
		Cache:    hints(name),
		Tasks:    server.TaskOptions{PollInterval: 20 * time.Millisecond},
	})
	tool := mcp.Tool{Name: "work", Description: "Works.", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(output), Meta: mcp.Meta{"com.example/n": json.RawMessage(`1.0`)}}
	s.AddRawTool(tool, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) { return nil, nil })
	server.AddTool(s, mcp.Tool{Name: "task", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		who, err := server.Elicit[struct {
			Name string `json:"name"`
		}](ctx, call, "who", "Who are you?")
		return "Hello " + who.Name + ", from " + name, err
	})
	s.AddResource(mcp.Resource{URI: "test://static", Name: "static"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		w.reads.Add(1)
		return server.Contents(mcp.TextResource(uri, "text/plain", "static of "+name)), nil
	})
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "note://{id}", Name: "note"}, func(_ context.Context, _ *server.Call, uri string, vars struct {
		ID string `json:"id"`
	},
	) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "note "+vars.ID+" of "+name)), nil
	})
	s.CompleteTemplate("note://{id}", "id", server.CompleteFrom("17", "18"))
	server.AddPrompt(s, mcp.Prompt{Name: "greet"}, func(_ context.Context, _ *server.Call, in struct {
		Name string `json:"name"`
	},
	) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
			{Role: mcp.RoleUser, Content: mcp.Text("Hello, " + in.Name + ", from " + name)},
			{Role: mcp.RoleUser, Content: &mcp.ResourceLink{URI: "test://static", Name: "static"}},
		}}, nil
	})
	s.CompletePrompt("greet", "name", server.CompleteFrom("Ann", "Ada", "Bob"))
	s.Use(w.working)
	return s
}

// hints are how long what a server has can be kept, and for whom. They differ, so that what
// many have together is kept as long as the first of them allows.
func hints(name string) map[string]server.CacheHint {
	h := map[string]server.CacheHint{
		mcp.MethodReadResource: {TTL: 7 * time.Second, Scope: mcp.CachePublic},
		mcp.MethodListTools:    {TTL: 90 * time.Second, Scope: mcp.CachePublic},
		mcp.MethodListPrompts:  {TTL: 50 * time.Second, Scope: mcp.CachePublic},
	}
	if name == "two" {
		h[mcp.MethodListTools] = server.CacheHint{TTL: 50 * time.Second, Scope: mcp.CachePrivate}
		h[mcp.MethodListPrompts] = server.CacheHint{TTL: 90 * time.Second, Scope: mcp.CachePublic}
	}
	return h
}

const (
	progress = `"progress":0.50,"total":1.0,"com.example/eta":1e3`
	logged   = `{"level":"info","data":{"n":1.0},"com.example/of":"work"}`
	form     = `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"com.example/why":1.0}`
	visit    = `{"mode":"url","message":"Pay","url":"https://pay.example/1","elicitationId":"e1","com.example/why":2.0}`
	sample   = `{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":7,"com.example/why":3.0}`
)

// questions are what the tool work asks, by the argument.
var questions = map[string]mcp.InputRequest{
	"form":   {Key: "a", Method: mcp.MethodElicit, Params: json.RawMessage(form)},
	"url":    {Key: "b", Method: mcp.MethodElicit, Params: json.RawMessage(visit)},
	"sample": {Key: "c", Method: mcp.MethodSample, Params: json.RawMessage(sample)},
	"roots":  {Key: "d", Method: mcp.MethodRoots},
}

// working serves the tool work, as raw as it comes.
func (w *world) working(next mcp.ServeFunc) mcp.ServeFunc {
	return func(ctx context.Context, x *mcp.Exchange) (any, error) {
		if x.Method != mcp.MethodCallTool || mcp.MethodNamed(x.Method).SubjectOf(x.Params) != "work" {
			if x.ID.IsZero() && x.Watch == nil {
				w.say(&w.got, "%s", x.Method)
			}
			return next(ctx, x)
		}
		w.say(&w.got, "params: %s trace: %s %s %s", x.Params, x.Trace.Parent, x.Trace.State, x.Trace.Baggage)
		var p struct {
			Arguments struct {
				Do string `json:"do"`
			} `json:"arguments"`
		}
		if err := json.Unmarshal(x.Params, &p); err != nil {
			return nil, err
		}
		switch p.Arguments.Do {
		case "tell":
			_ = x.Back.Notify(ctx, mcp.NoteProgress, json.RawMessage(`{`+progress+`}`))
			_ = x.Back.Notify(ctx, mcp.NoteMessage, json.RawMessage(logged))
			_ = x.Back.Notify(ctx, "notifications/com.example/news", json.RawMessage(`{"n":1.0}`))
		case "wait":
			w.say(&w.got, "started")
			<-ctx.Done()
			w.say(&w.got, "ended: %v", context.Cause(ctx))
			return nil, context.Cause(ctx)
		case "first":
			if w.visited.Swap(false) {
				break
			}
			w.way.Store(&x.Back)
			return nil, &mcp.InputRequired{Requests: []mcp.InputRequest{questions["url"]}, VisitFirst: true}
		case "several":
			answers, err := x.Back.Input(ctx, questions["form"], questions["url"], questions["sample"])
			for _, a := range answers {
				w.say(&w.got, "answer: %s", a)
			}
			return json.RawMessage(`{"content":[]}`), err
		case "":
		default:
			answers, err := x.Back.Input(ctx, questions[p.Arguments.Do])
			if err != nil {
				return nil, err
			}
			w.say(&w.got, "answer: %s", answers[0])
		}
		return json.RawMessage(worked), nil
	}
}

const (
	structured = `{"uri":"test://static","z":1.00,"a":-0,"big":12345678901234567890}`
	output     = `{"type":"object","properties":{"big":{"type":"integer","maximum":1e30}}}`
)

const worked = `{"com.example/first":1.0,"content":[{"type":"text","text":"\u00e9","com.example/x":{}},` +
	`{"type":"resource_link","uri":"test://static","name":"static"},{"type":"resource","resource":{"uri":"ui://app","text":"t"}}],` +
	`"structuredContent":` + structured + `,"_meta":{"com.example/m":1.0}}`
