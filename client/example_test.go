package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os/exec"
	"testing/fstest"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

type point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// mirror serves one tool, in this process; a real client would start a
// program with stdio.Command.
func mirror() mcp.Transport {
	s := server.New(mcp.Implementation{Name: "mirror", Version: "1"}, nil)
	server.AddTool(s, mcp.Tool{Name: "mirror"}, func(_ context.Context, _ *server.Call, p point) (point, error) {
		return point{p.Y, p.X}, nil
	})
	return &mcptest.Transport{Handler: s}
}

// A host reads the app of a tool, and shows it under its policy.
func ExampleClient_ReadApp() {
	ctx := context.Background()
	s := server.New(mcp.Implementation{Name: "sales", Version: "1"}, nil)
	s.AddApp(apps.App{URI: "ui://sales/chart.html", Name: "chart", HTML: "<!doctype html><title>Sales</title>"})
	server.AddTool(s, mcp.Tool{Name: "sales", Meta: apps.ToolUI{ResourceURI: "ui://sales/chart.html"}.Meta()},
		func(context.Context, *server.Call, struct{}) (string, error) { return "7 orders", nil })

	c, err := client.Connect(ctx, &mcptest.Transport{Handler: s}, &client.Options{
		Extensions:  map[string]any{apps.Extension: apps.Supported()},
		ResultTypes: []string{}, // the extension has none
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		ui, err := apps.OfTool(tool)
		if err != nil || ui.ResourceURI == "" {
			continue // its results are shown as text
		}
		app, err := c.ReadApp(ctx, ui.ResourceURI)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Name, app.HTML)
		fmt.Println(app.UI.Policy())
	}
	// Output:
	// sales <!doctype html><title>Sales</title>
	// default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; media-src 'self' data:; connect-src 'none'; frame-src 'none'; base-uri 'self'; object-src 'none'; form-action 'none'
}

// A transport says where the server is. Which revision it speaks is found out; what it is
// and offers is known once Connect returns.
func ExampleConnect() {
	ctx := context.Background()
	// Instead of mirror(), for example:
	//	&stdio.Command{Args: []string{"greeter"}}             a program that is started
	//	&streamable.Client{URL: "https://example.com/mcp"}    a server over HTTP
	c, err := client.Connect(ctx, mirror(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	fmt.Println(c.ServerInfo().Name, c.Revision(), c.ServerCapabilities().Tools != nil)

	_, err = client.Connect(ctx, &stdio.Command{Args: []string{"no-such-program"}}, nil)
	fmt.Println(errors.Is(err, exec.ErrNotFound))
	// Output:
	// mirror 2026-07-28 true
	// true
}

func ExampleCall() {
	ctx := context.Background()
	c, err := client.Connect(ctx, mirror(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	p, err := client.Call[point](ctx, c, "mirror", point{1, 2})
	fmt.Println(p, err)
	// Output: {2 1} <nil>
}

func ExampleClient_Tools() {
	ctx := context.Background()
	c, err := client.Connect(ctx, mirror(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			log.Print(err)
			break
		}
		fmt.Println(tool.Name)
	}
	// Output: mirror
}

// A host knows a skill by its own name for the server together with the skill's URI, and
// keeps what its user has approved.
func ExampleClient_HoldSkill() {
	ctx := context.Background()
	s := server.New(mcp.Implementation{Name: "docs", Version: "1"}, nil)
	s.AddSkills(fstest.MapFS{
		"refunds/SKILL.md":      {Data: []byte("---\nname: refunds\ndescription: Pay money back.\n---\nSee [the rules](rules.md).\n")},
		"refunds/rules.md":      {Data: []byte("Ask twice.")},
		"git-workflow/SKILL.md": {Data: []byte("---\nname: git-workflow\ndescription: Commit.\n---\n")},
	}, nil)
	c, err := client.Connect(ctx, &mcptest.Transport{Handler: s}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	approved := map[string]string{} // by server and URI, as the host keeps it
	for entry, err := range c.Skills(ctx) {
		if err != nil {
			log.Print(err)
			break
		}
		skill, err := c.HoldSkill("docs", entry, nil)
		if err != nil {
			log.Print(err) // what the server says of it cannot be right
			continue
		}
		key := skill.Server() + " " + entry.URI
		if !skill.Approved(approved[key]) { // here the user is asked
			approved[key], err = skill.Approval()
		}
		fmt.Println(key, err)
	}
	entry, err := c.GetSkill(ctx, "skill://refunds/SKILL.md")
	if err != nil {
		log.Print(err)
		return
	}
	skill, err := c.HoldSkill("docs", entry, nil)
	if err != nil || !skill.Approved(approved["docs skill://refunds/SKILL.md"]) {
		log.Print(err)
		return
	}
	rules, err := skill.Read(ctx, "rules.md")
	fmt.Printf("%s %v\n", rules, err)
	_, err = skill.Read(ctx, "secrets.md")
	fmt.Println(err)
	// Output:
	// docs skill://git-workflow/SKILL.md <nil>
	// docs skill://refunds/SKILL.md <nil>
	// Ask twice. <nil>
	// skill "skill://refunds/SKILL.md" of "docs": "secrets.md": it is not among the files of the entry
}

// A call that takes long is left to its server. Whoever knows the task's ID can get the
// result, also in another process.
func ExampleClient_StartTask() {
	ctx := context.Background()
	s := server.New(mcp.Implementation{Name: "reports", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	long := mcp.Tool{Name: "report", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
	server.AddTool(s, long, func(context.Context, *server.Call, struct{}) (string, error) { return "all is well", nil })
	transport := &mcptest.Transport{Handler: s}

	c, err := client.Connect(ctx, transport, nil)
	if err != nil {
		log.Fatal(err)
	}
	task, err := c.StartTask(ctx, "report", nil)
	if err != nil {
		log.Fatal(err)
	}
	id := task.ID() // keep it
	_ = c.Close()

	later, err := client.Connect(ctx, transport, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = later.Close() }()
	result, err := later.Task(id, "report").Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			fmt.Println(text.Text)
		}
	}
	// Output: all is well
}
