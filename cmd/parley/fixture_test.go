package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

// fixture is "fixture NAME": a server that does what the reference server
// does not.
func fixture() {
	switch os.Args[1] {
	case "crash":
		crash(os.Args[2])
	case "endless":
		endless()
	case "nasty":
		nasty()
	case "bare":
		serveFixture(server.New(mcp.Implementation{Name: "bare", Version: "1"}, nil))
	case "pid": // writes its process ID to a file
		if err := os.WriteFile(os.Args[2], []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		serveFixture(full())
	case "flooding":
		flooding()
	case "wrapper":
		wrapper(os.Args[2])
	case "stubborn":
		stubborn(os.Args[2])
	case "full":
		serveFixture(full())
	case "apps":
		serveFixture(withApps())
	case "switching":
		serveFixture(switching(os.Args[2]))
	case "liar":
		serveFixture(liar())
	case "skills":
		serveFixture(skills(os.Args[2]))
	default:
		fmt.Fprintf(os.Stderr, "no fixture %q\n", os.Args[1])
		os.Exit(2)
	}
}

// withApps has tools that say something about apps.
func withApps() *server.Server {
	s := server.New(mcp.Implementation{Name: "apps", Version: "1"}, &server.Options{Logger: slog.New(slog.DiscardHandler)})
	add := func(name string, ui apps.ToolUI) {
		server.AddTool(s, mcp.Tool{Name: name, Meta: ui.Meta()}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	}
	add("refresh", apps.ToolUI{ResourceURI: "ui://a", Visibility: []apps.Visibility{apps.VisibleToApp}})
	add("quiet", apps.ToolUI{Visibility: []apps.Visibility{apps.VisibleToModel}})
	return s
}

func serveFixture(s *server.Server) {
	if err := stdio.Serve(context.Background(), s, &mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const echoSchema = `{"type":"object","properties":{
	"text":{"type":"string"},"int":{"type":"integer"},"num":{"type":["number","null"]},"flag":{"type":"boolean"},
	"list":{"type":"array"},"object":{"type":"object"},"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
	"ref":{"$ref":"#/$defs/count"},"free":{}},"$defs":{"count":{"type":"integer"}}}`

type survey struct {
	Name   string   `json:"name" title:"Your name" description:"As on the letter box" minLength:"2"`
	Age    int64    `json:"age" minimum:"1" maximum:"150"`
	Ratio  *float64 `json:"ratio"`
	Agree  bool     `json:"agree"`
	Colour string   `json:"colour" enum:"r,g" enumTitles:"Red,Green" default:"g"`
	Extras []string `json:"extras,omitempty" enum:"wrap,card,bow"`
}

// full is a server that has every kind of feature. Watching one of its
// resources changes that resource.
func full() *server.Server {
	var s *server.Server
	s = server.New(mcp.Implementation{Name: "full", Version: "1"}, &server.Options{
		Logger:       slog.New(slog.DiscardHandler),
		Logging:      true,
		PageSize:     2,
		Instructions: "Be kind.",
		WatchResource: func(uri string) (func(), error) {
			s.ResourceUpdated(uri)
			return nil, nil
		},
	})
	server.AddTool(s, mcp.Tool{Name: "echo", InputSchema: json.RawMessage(echoSchema)}, func(_ context.Context, _ *server.Call, in map[string]any) (string, error) {
		raw, err := json.Marshal(in)
		return string(raw), err
	})
	server.AddTool(s, mcp.Tool{Name: "survey"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		in, err := server.Elicit[survey](ctx, call, "survey", "Tell me about you")
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(in)
		return string(raw), err
	})
	server.AddTool(s, mcp.Tool{Name: "media"}, func(context.Context, *server.Call, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{
			&mcp.ImageContent{Data: []byte("picture"), MIMEType: "image/png"},
			&mcp.AudioContent{Data: []byte("sound"), MIMEType: "audio/wav"},
			&mcp.ResourceLink{URI: "note://1", Name: "a note"},
			&mcp.EmbeddedResource{Resource: mcp.TextResource("note://2", "text/plain", "embedded text")},
			&mcp.EmbeddedResource{Resource: mcp.BlobResource("note://../3.dat", "application/x-thing", []byte("blob"))},
		}}, nil
	})
	server.AddTool(s, mcp.Tool{Name: "structured"}, func(context.Context, *server.Call, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{}, StructuredContent: json.RawMessage(`{"a":[1,2]}`)}, nil
	})
	server.AddTool(s, mcp.Tool{Name: "environment"}, func(_ context.Context, _ *server.Call, in struct {
		Name string `json:"name"`
	},
	) (string, error) {
		return os.Getenv(in.Name), nil
	})
	server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		roots, err := server.Roots(ctx, call)
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(roots)
		return string(raw), err
	})
	server.AddTool(s, mcp.Tool{Name: "chatter"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		fmt.Fprintln(os.Stderr, "words on stderr")
		call.Log(ctx, mcp.LevelDebug, "too much detail")
		call.Log(ctx, mcp.LevelWarning, map[string]int{"disk": 97})
		return "done", nil
	})
	server.AddTool(s, mcp.Tool{Name: "die"}, func(context.Context, *server.Call, struct{}) (string, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(9)
		return "", nil
	})
	s.AddResource(mcp.Resource{URI: "note://bytes", Name: "bytes"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.BlobResource(uri, "application/octet-stream", []byte{0, 1, 2, 'x'})), nil
	})
	return s
}

// liar is a server whose tool does not return what its output schema promises.
func liar() *server.Server {
	s := server.New(mcp.Implementation{Name: "liar", Version: "1"}, &server.Options{Logger: slog.New(slog.DiscardHandler)})
	type sum struct {
		Sum int `json:"sum"`
	}
	server.AddTool(s, mcp.Tool{Name: "add"}, func(context.Context, *server.Call, map[string]any) (sum, error) { return sum{5}, nil })
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			result, err := next(ctx, x)
			if r, ok := result.(*mcp.CallToolResult); ok {
				r.StructuredContent = json.RawMessage(`{"sum":"five"}`)
			}
			return result, err
		}
	})
	return s
}

// crash is a server of the stateless era that exits after its first change
// notification. The second time it is started, which it recognizes by a marker
// file, it keeps running.
func crash(marker string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			os.Exit(1)
		}
		switch m.Method {
		case mcp.MethodDiscover:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"resources":{"subscribe":true}}}}`+"\n", m.ID)
		case mcp.MethodListen:
			meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `}`
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{%s,"notifications":{"resourceSubscriptions":["note://1"]}}}`+"\n", meta)
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{%s,"uri":"note://1"}}`+"\n", meta)
			if _, err := os.Stat(marker); err != nil {
				_ = os.WriteFile(marker, nil, 0o600)
				os.Exit(1)
			}
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`+"\n", m.ID)
		}
	}
}
