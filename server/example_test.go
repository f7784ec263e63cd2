package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// show serves a request and prints the answer. In a program, a transport does
// this.
func show(srv *server.Server, method, params string) {
	x := &mcp.Exchange{ID: jsonrpc.IntID(1), Method: method, Params: json.RawMessage(params)}
	result, err := srv.Serve(context.Background(), x)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	raw, _ := json.Marshal(result)
	fmt.Println(string(raw))
}

func newServer() *server.Server {
	return server.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, nil)
}

func ExampleAddTool() {
	type args struct {
		Name  string `json:"name" description:"whom to greet" minLength:"1"`
		Times int    `json:"times" default:"1" maximum:"3"`
	}
	type greeting struct {
		Text string `json:"text"`
	}
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(_ context.Context, _ *server.Call, in args) (greeting, error) {
		return greeting{fmt.Sprintf("Hello, %s (%d)", in.Name, in.Times)}, nil
	})
	show(srv, "tools/call", `{"name":"greet","arguments":{"name":"Ann"}}`)
	show(srv, "tools/call", `{"name":"greet","arguments":{"name":"Ann","times":4}}`)
	// Output:
	// {"content":[{"type":"text","text":"{\"text\":\"Hello, Ann (1)\"}"}],"structuredContent":{"text":"Hello, Ann (1)"}}
	// {"content":[{"type":"text","text":"invalid arguments for tool \"greet\": \"times\": must be at most 3, got 4"}],"isError":true}
}

// The chart is shown where the client can do that, and the text says the same.
func ExampleServer_AddApp() {
	app := apps.App{
		URI:  "ui://sales/chart.html",
		Name: "sales_chart",
		HTML: "<!doctype html><title>Sales</title><script>/* asks the host for the result */</script>",
		UI:   apps.ResourceUI{CSP: &apps.CSP{ConnectDomains: []string{"https://tiles.example.com"}}},
	}
	srv := newServer()
	srv.AddApp(app)
	server.AddTool(srv, mcp.Tool{Name: "sales", Meta: apps.ToolUI{ResourceURI: app.URI}.Meta()}, func(context.Context, *server.Call, struct{}) (string, error) {
		return "7 orders", nil
	})
	show(srv, "tools/list", `{}`)
	fmt.Println(srv.TryAddApp(apps.App{URI: app.URI, Name: "x", HTML: app.HTML, UI: apps.ResourceUI{CSP: &apps.CSP{FrameDomains: []string{"*"}}}}))
	// Output:
	// {"tools":[{"name":"sales","inputSchema":{"type":"object","additionalProperties":false},"_meta":{"ui":{"resourceUri":"ui://sales/chart.html"}}}]}
	// app "ui://sales/chart.html": csp.frameDomains: "*" is not an origin, such as "https://example.com" or "https://*.example.com:8443", with one of the schemes ["https" "http"]
}

// Each folder with a SKILL.md is a skill, and its files are resources.
func ExampleServer_AddSkills() {
	files := fstest.MapFS{ // in a program, os.OpenRoot("skills") and its FS, or an embed.FS
		"refunds/SKILL.md": {Data: []byte("---\nname: refunds\ndescription: Pay money back.\n---\nSee mail.md.\n")},
		"refunds/mail.md":  {Data: []byte("Dear customer,\n")},
	}
	srv := newServer()
	set := srv.AddSkills(files, nil)
	show(srv, "resources/read", `{"uri":"skill://refunds/mail.md"}`)
	show(srv, "resources/directory/read", `{"uri":"skill://refunds"}`)

	files["taxes/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: tax\ndescription: File taxes.\n---\n")}
	fmt.Println(set.Refresh())
	// Output:
	// {"contents":[{"uri":"skill://refunds/mail.md","mimeType":"text/markdown","text":"Dear customer,\n"}]}
	// {"resources":[{"uri":"skill://refunds/SKILL.md","name":"refunds","description":"Pay money back.","mimeType":"text/markdown","size":64},{"uri":"skill://refunds/mail.md","name":"mail.md","mimeType":"text/markdown","size":15}]}
	// skills: the directory "taxes": skill://taxes/SKILL.md: the directory must have the skill's name, which is "tax"
}

func ExampleAddTemplate() {
	files := fstest.MapFS{"notes/today.txt": {Data: []byte("write tests")}}
	type vars struct {
		Path string `uri:"path"`
	}
	srv := newServer()
	server.AddTemplate(srv, mcp.ResourceTemplate{URITemplate: "file:///{+path}", Name: "files"},
		func(_ context.Context, _ *server.Call, uri string, v vars) (*mcp.ReadResourceResult, error) {
			text, err := fs.ReadFile(files, v.Path) // refuses "../" by itself
			if err != nil {
				return nil, err
			}
			return server.Contents(mcp.TextResource(uri, "text/plain", string(text))), nil
		})
	show(srv, "resources/read", `{"uri":"file:///notes/today.txt"}`)
	show(srv, "resources/read", `{"uri":"file:///notes/tomorrow.txt"}`)
	// Output:
	// {"contents":[{"uri":"file:///notes/today.txt","mimeType":"text/plain","text":"write tests"}]}
	// error: resource not found: file:///notes/tomorrow.txt
}

func ExampleAddPrompt() {
	type args struct {
		Language string `json:"language" enum:"go,rust"`
	}
	srv := newServer()
	server.AddPrompt(srv, mcp.Prompt{Name: "review"}, func(_ context.Context, _ *server.Call, in args) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
			mcp.UserMessage(mcp.Textf("Review this %s code.", in.Language)),
		}}, nil
	})
	show(srv, "prompts/get", `{"name":"review","arguments":{"language":"go"}}`)
	show(srv, "completion/complete", `{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"language","value":"r"}}`)
	// Output:
	// {"messages":[{"role":"user","content":{"type":"text","text":"Review this go code."}}]}
	// {"completion":{"values":["rust"]}}
}

// A handler that asks first, and then does what must not happen twice.
func ExampleElicit() {
	type args struct {
		Service string `json:"service"`
	}
	type region struct {
		Region string `json:"region" enum:"eu,us" enumTitles:"Europe,America"`
	}
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "deploy"}, func(ctx context.Context, call *server.Call, in args) (string, error) {
		where, err := server.Elicit[region](ctx, call, "region", "Which region?")
		if err != nil {
			return "", err
		}
		return server.Once(ctx, call, "deploy", func(context.Context) (string, error) {
			return fmt.Sprintf("%s deployed to %s", in.Service, where.Region), nil
		})
	})
	// Once without an answer, and again with one.
	back := answers{}
	serve := func() (any, error) {
		return srv.Serve(context.Background(), &mcp.Exchange{
			ID: jsonrpc.IntID(1), Method: "tools/call", Back: back,
			Params: json.RawMessage(`{"name":"deploy","arguments":{"service":"shop"}}`),
		})
	}
	_, err := serve()
	fmt.Println(err)
	back["region"] = json.RawMessage(`{"action":"accept","content":{"region":"eu"}}`)
	result, _ := serve()
	raw, _ := json.Marshal(result)
	fmt.Println(string(raw))
	// Output:
	// input required: region
	// {"content":[{"type":"text","text":"shop deployed to eu"}]}
}

// answers is a client that is asked between two rounds.
type answers map[string]json.RawMessage

func (a answers) Notify(context.Context, string, any) error { return nil }

func (a answers) LogEnabled(mcp.LoggingLevel) bool { return false }

func (a answers) Input(_ context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	var found []json.RawMessage
	for _, q := range questions {
		if a[q.Key] == nil {
			return nil, &mcp.InputRequired{Requests: questions}
		}
		found = append(found, a[q.Key])
	}
	return found, nil
}

func (a answers) Once(ctx context.Context, _ string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return f(ctx)
}

// accounts is where the page behind https://example.com/connect keeps who has
// connected an account.
type accounts struct {
	mu        sync.Mutex
	connected map[string]bool          // by principal
	visits    map[string]*server.Visit // by their ID
}

// expect lets the page know of a visit.
func (a *accounts) expect(v *server.Visit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.visits[v.ID()] = v
}

func (a *accounts) has(principal string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.connected[principal]
}

// visited is what the page does when a user, who has logged in to it, is done.
func (a *accounts) visited(ctx context.Context, visit, principal string) error {
	a.mu.Lock()
	v, known := a.visits[visit]
	a.connected[principal] = known
	delete(a.visits, visit)
	a.mu.Unlock()
	if !known {
		return fmt.Errorf("nobody was sent here with %q", visit)
	}
	return v.Over(ctx) // the client may repeat its request now
}

// A tool that needs an account of the user's at another service: until the user has
// connected one, every call is answered with the page where that is done.
func ExampleVisit_Require() {
	book := &accounts{connected: map[string]bool{}, visits: map[string]*server.Visit{}}
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "list_files"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		if book.has(call.Principal()) {
			return "report.pdf", nil
		}
		visit, err := call.Visit(ctx, "account")
		if err != nil {
			return "", err
		}
		book.expect(visit)
		return "", visit.Require("Connect your account to list its files.", "https://example.com/connect?visit="+visit.ID())
	})

	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, nil), &client.Options{VisitURL: func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		fmt.Println("client:", p.Message)
		_, visit, _ := strings.Cut(p.URL, "visit=")
		return &mcp.ElicitResult{Action: mcp.ActionAccept}, book.visited(ctx, visit, "") // the browser
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	files, err := client.Call[string](ctx, c, "list_files", nil)
	fmt.Println(files, err)
	// Output:
	// client: Connect your account to list its files.
	// report.pdf <nil>
}

// A report takes long, asks in the middle, and charges somebody once. It goes on after
// a crash, if the store of tasks outlives the process.
func ExampleResumable() {
	type approval struct {
		Approved bool `json:"approved"`
	}
	srv := newServer()
	tool := mcp.Tool{Name: "report", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
	server.AddTool(srv, tool, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		rows, err := server.Step(ctx, call, "count", func(context.Context) (int, error) { return 1234, nil })
		if err != nil {
			return "", err
		}
		call.Progress(ctx, 1, 2, "counted")
		answer, err := server.Elicit[approval](ctx, call, "approve", fmt.Sprintf("Charge for %d rows?", rows))
		if err != nil || !answer.Approved {
			return "not approved", err
		}
		receipt, err := server.Once(ctx, call, "charge", func(context.Context) (string, error) { return "R-1", nil })
		return fmt.Sprintf("%d rows, receipt %s", rows, receipt), err
	}, server.Resumable())

	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, nil), &client.Options{
		Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			fmt.Println(p.Message)
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"approved":true}`)}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := client.Call[string](ctx, c, "report", nil)
	fmt.Println(text, err)
	_ = c.Close()
	_ = srv.Close(ctx)
	// Output:
	// Charge for 1234 rows?
	// 1234 rows, receipt R-1 <nil>
}

// A call that turns out to take long becomes a task then, if its client can take one.
func ExampleCall_StartTask() {
	srv := newServer()
	tool := mcp.Tool{Name: "search", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
	server.AddTool(srv, tool, func(ctx context.Context, call *server.Call, in struct {
		Everywhere bool `json:"everywhere" default:"false"`
	},
	) (string, error) {
		if in.Everywhere {
			if err := call.StartTask(ctx); err != nil {
				return "", err
			}
		}
		return "nothing found", nil
	}, server.TaskAfter(-1))
	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, everywhere := range []bool{false, true} {
		task, err := c.StartTask(ctx, "search", map[string]any{"everywhere": everywhere})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("everywhere:", everywhere, "task:", task.ID() != "")
	}
	_ = c.Close()
	_ = srv.Close(ctx)
	// Output:
	// everywhere: false task: false
	// everywhere: true task: true
}
