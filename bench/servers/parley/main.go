// Parley is our server in the comparison.
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"

	"github.com/parley-mcp/parley/bench/payload"
	"github.com/parley-mcp/parley/bench/servers/config"
)

// moreThanEnough is a bound that the workloads do not reach: the default bounds
// per client are meant for strangers, and the whole load comes from one
// address.
const moreThanEnough = 1 << 20

func main() {
	tasks := flag.Bool("tasks", false, "add a tool that runs as a task and asks its user")
	keep := flag.Duration("keep", 0, "how long everybody may keep the list of tools")
	c := config.Parse()
	serve := mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler), MaxInFlight: moreThanEnough}
	srv := newServer(c, *keep)
	if *tasks {
		server.AddTool(srv, mcp.Tool{Name: "wait", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}, ask)
	}
	if c.HTTP == "" {
		if err := stdio.Serve(context.Background(), srv, &serve); err != nil {
			log.Fatal(err)
		}
		return
	}
	h, err := streamable.New(srv, &streamable.Options{ServeOptions: serve, MaxPerClient: -1, MaxSessions: moreThanEnough})
	if err != nil {
		log.Fatal(err)
	}
	c.Serve(h)
}

// newServer returns the server with its tools and its resource.
func newServer(c config.Config, keep time.Duration) *server.Server {
	o := &server.Options{ProgressInterval: -1, ToolRate: mcp.Rate{PerSecond: 1e9}, Tasks: server.TaskOptions{Total: -1}} // a rate that is kept and never reached
	if keep > 0 {
		o.Cache = map[string]server.CacheHint{"tools/list": {TTL: keep, Scope: mcp.CachePublic}}
	}
	s := server.New(mcp.Implementation{Name: "bench", Version: "1.0.0"}, o)
	server.AddTool(s, mcp.Tool{Name: "echo", Description: payload.PaddingText}, echo)
	server.AddTool(s, mcp.Tool{Name: "progress", Description: payload.PaddingText}, progress)
	server.AddTool(s, mcp.Tool{Name: "ask", Description: payload.PaddingText}, ask)
	server.AddTool(s, mcp.Tool{Name: "change", Description: payload.PaddingText}, func(_ context.Context, _ *server.Call, in payload.Echo) (payload.Echo, error) {
		server.AddTool(s, mcp.Tool{Name: "changing", Description: config.Changing()}, echo)
		return in, nil
	})
	for _, name := range c.Padding() {
		server.AddTool(s, mcp.Tool{Name: name, Description: payload.PaddingText}, echo)
	}
	blob := payload.Blob()
	s.AddResource(mcp.Resource{URI: payload.BlobURI, Name: "blob"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.BlobResource(payload.BlobURI, "application/octet-stream", blob)), nil
	})
	return s
}

func echo(_ context.Context, _ *server.Call, in payload.Echo) (payload.Echo, error) { return in, nil }

func progress(ctx context.Context, call *server.Call, in payload.Echo) (payload.Echo, error) {
	for i := range payload.Steps {
		call.Progress(ctx, float64(i+1), payload.Steps, "")
	}
	return in, nil
}

func ask(ctx context.Context, call *server.Call, in payload.Echo) (payload.Echo, error) {
	name, err := server.Elicit[payload.Name](ctx, call, "name", "Which name?")
	if err != nil {
		return payload.Echo{}, err
	}
	size, err := server.Elicit[payload.Size](ctx, call, "size", "Which size?")
	if err != nil {
		return payload.Echo{}, err
	}
	return payload.Echo{Text: name.Name, Count: size.Size, Tags: in.Tags}, nil
}
