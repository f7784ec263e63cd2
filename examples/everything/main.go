// Everything uses most features of the protocol once: a place to look up how
// something is written, and a server to try a client with.
//
//	parley list -- go run ./examples/everything
//	parley call content -- go run ./examples/everything
//	parley call ask -- go run ./examples/everything
//	parley inspect -- go run ./examples/everything
package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"log"
	"math/rand/v2"
	"time"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

//go:embed skills
var files embed.FS

//go:embed app.html
var page string

func newServer() (*server.Server, error) {
	srv := server.New(mcp.Implementation{Name: "everything", Version: "1.0.0"}, &server.Options{
		Instructions: "Each tool shows one feature of the protocol.", Logging: true, Subscriptions: true,
	})
	addResults(srv)
	addQuestions(srv)
	addWork(srv)
	addData(srv)
	srv.AddApp(apps.App{URI: "ui://everything/dice.html", Name: "dice", HTML: page})
	skills, err := fs.Sub(files, "skills")
	srv.AddSkills(skills, nil)
	return srv, err
}

type none struct{} // the arguments of a tool that has none

// addResults adds tools that differ in what they return.
func addResults(srv *server.Server) {
	type person struct {
		Name string `json:"name" description:"who to greet" minLength:"1"`
	}
	server.AddTool(srv, mcp.Tool{Name: "text", Description: "Returns a text"}, func(_ context.Context, _ *server.Call, in person) (string, error) {
		return "Hello, " + in.Name + ".", nil
	})
	type throw struct {
		Sides []int `json:"sides"`
	}
	tool := mcp.Tool{Name: "structure", Description: "Throws two dice: data with a schema, shown by an app", Meta: apps.ToolUI{ResourceURI: "ui://everything/dice.html"}.Meta()}
	server.AddTool(srv, tool, func(context.Context, *server.Call, none) (throw, error) {
		return throw{[]int{1 + rand.IntN(6), 1 + rand.IntN(6)}}, nil //nolint:gosec // it is a game
	})
	server.AddTool(srv, mcp.Tool{Name: "content", Description: "Returns blocks of each kind"}, func(context.Context, *server.Call, none) (*mcp.CallToolResult, error) {
		var dot bytes.Buffer
		err := png.Encode(&dot, image.NewGray(image.Rect(0, 0, 1, 1)))
		return &mcp.CallToolResult{Content: mcp.Contents{
			mcp.Text("a text"),
			&mcp.ImageContent{Data: dot.Bytes(), MIMEType: "image/png"},
			&mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"},
			&mcp.ResourceLink{URI: "test:///text", Name: "text"},
			&mcp.EmbeddedResource{Resource: mcp.TextResource("test:///text", "text/plain", "hello")},
		}}, err
	})
	server.AddTool(srv, mcp.Tool{Name: "nothing", Description: "Returns nothing"}, func(context.Context, *server.Call, none) (struct{}, error) {
		return struct{}{}, nil
	})
	server.AddTool(srv, mcp.Tool{Name: "failure", Description: "Fails, and says so to the model"}, func(context.Context, *server.Call, none) (string, error) {
		return "", errors.New("there is no paper left: try again tomorrow")
	})
}

// addQuestions adds tools that ask the client something.
func addQuestions(srv *server.Server) {
	type name struct {
		Name  string `json:"name" minLength:"1"`
		Color string `json:"color" enum:"red,green" default:"green"`
	}
	server.AddTool(srv, mcp.Tool{Name: "ask", Description: "Asks the user to fill in a form"}, func(ctx context.Context, call *server.Call, _ none) (string, error) {
		user, err := server.Elicit[name](ctx, call, "name", "What is your name, and your favourite color?")
		return user.Name + " likes " + user.Color, err
	})
	server.AddTool(srv, mcp.Tool{Name: "send", Description: "Sends the user to a page"}, func(ctx context.Context, call *server.Call, _ none) (string, error) {
		return "the user agreed", server.ElicitURL(ctx, call, "page", "Please read this.", "https://example.com/terms")
	})
	server.AddTool(srv, mcp.Tool{Name: "think", Description: "Runs the client's model"}, func(ctx context.Context, call *server.Call, _ none) (string, error) {
		return server.SampleText(ctx, call, "joke", "Tell a joke.", 100)
	})
	server.AddTool(srv, mcp.Tool{Name: "folders", Description: "Asks for the client's folders"}, func(ctx context.Context, call *server.Call, _ none) (string, error) {
		roots, err := server.Roots(ctx, call)
		return fmt.Sprint(len(roots), " folders"), err
	})
}

// addWork adds tools that take a while, and say how far they are.
func addWork(srv *server.Server) {
	server.AddTool(srv, mcp.Tool{Name: "count", Description: "Reports progress, and logs"}, func(ctx context.Context, call *server.Call, _ none) (string, error) {
		for i := range 3 {
			call.Progress(ctx, float64(i+1), 3, fmt.Sprint("step ", i+1))
		}
		call.Log(ctx, mcp.LevelInfo, "counted to three")
		return "three", nil
	})
	tool := mcp.Tool{Name: "order", Description: "Takes a while, as a task where that is possible", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
	server.AddTool(srv, tool, func(ctx context.Context, call *server.Call, _ none) (string, error) {
		number, err := server.Once(ctx, call, "order", func(context.Context) (int, error) { return rand.IntN(1000), nil }) //nolint:gosec // not a secret
		if err != nil {
			return "", err
		}
		call.Progress(ctx, 1, 2, "ordered")
		delivery := time.NewTimer(20 * time.Millisecond)
		defer delivery.Stop()
		select {
		case <-delivery.C:
			return fmt.Sprint("order ", number), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, server.Resumable())
	server.AddTool(srv, mcp.Tool{Name: "change", Description: "Adds a tool, and changes a resource"}, func(context.Context, *server.Call, none) (struct{}, error) {
		server.AddTool(srv, mcp.Tool{Name: "new"}, func(context.Context, *server.Call, none) (string, error) { return "I am new", nil })
		srv.ResourceUpdated("test:///text")
		return struct{}{}, nil
	})
}

// addData adds resources, a template and a prompt, with completion.
func addData(srv *server.Server) {
	srv.AddResource(mcp.Resource{URI: "test:///text", Name: "text", MIMEType: "text/plain"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "hello")), nil
	})
	type place struct {
		City string `uri:"city"`
	}
	city := mcp.ResourceTemplate{URITemplate: "weather:///{city}", Name: "weather", MIMEType: "text/plain"}
	server.AddTemplate(srv, city, func(_ context.Context, _ *server.Call, uri string, v place) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "sunny in "+v.City)), nil
	})
	srv.CompleteTemplate("weather:///{city}", "city", server.CompleteFrom("Paris", "Prague", "Rome"))
	type review struct {
		Language string `json:"language" enum:"go,rust"` // completes by itself
	}
	server.AddPrompt(srv, mcp.Prompt{Name: "review", Description: "Reviews code"}, func(_ context.Context, _ *server.Call, in review) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Textf("Review this %s code.", in.Language))}}, nil
	})
}

func main() {
	srv, err := newServer()
	if err == nil {
		err = stdio.Serve(context.Background(), srv, nil)
	}
	if err != nil {
		log.Fatal(err)
	}
}
