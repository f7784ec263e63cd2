package model_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// way is a transport to the server.
type way interface {
	// arrive connects a client.
	arrive(revision string) peer
	// end is called when all clients have gone; it returns what is wrong.
	end() (broken []string)
}

// ways are the transports, each with whether it carries a revision.
var ways = map[string]func(revision string) bool{
	"memory": func(string) bool { return true },
	"lines":  func(string) bool { return true },
	"http":   func(r string) bool { return r != "2024-11-05" },
	"sse":    func(r string) bool { return r != "2026-07-28" },
}

func newWay(t *testing.T, name string, w *world) way {
	t.Helper()
	opts := mcp.ServeOptions{Logger: mcptest.Quiet()}
	switch name {
	case "memory":
		return directly(func(string) peer { return newPipe(w) })
	case "lines":
		return directly(func(string) peer { return newLines(w) })
	case "http":
		h, err := streamable.New(w, &streamable.Options{ServeOptions: opts, KeepAlive: -1})
		if err != nil {
			t.Fatal(err)
		}
		return &overHTTP{h, mcptest.NewSite(h)}
	case "sse":
		h, err := sse.New(w, &sse.Options{ServeOptions: opts, KeepAlive: -1})
		if err != nil {
			t.Fatal(err)
		}
		return &overSSE{h, mcptest.NewSite(h)}
	}
	t.Fatalf("no way %q", name)
	return nil
}

// directly is a way on which each client has its own server connection.
type directly func(revision string) peer

func (d directly) arrive(revision string) peer { return d(revision) }

func (directly) end() []string { return nil }

type overHTTP struct {
	handler *streamable.Handler
	site    *mcptest.Site
}

func (o *overHTTP) arrive(revision string) peer { return newWeb(o.site.Client, revision) }

func (o *overHTTP) end() (broken []string) {
	if n := o.handler.Sessions(); n != 0 {
		broken = append(broken, fmt.Sprintf("%d sessions are left", n))
	}
	if err := o.handler.Close(context.Background()); err != nil {
		broken = append(broken, err.Error())
	}
	o.site.Close()
	return broken
}

type overSSE struct {
	handler *sse.Handler
	site    *mcptest.Site
}

func (o *overSSE) arrive(string) peer { return newOld(o.site.Client, settle) }

func (o *overSSE) end() (broken []string) {
	if err := o.handler.Close(context.Background()); err != nil {
		broken = append(broken, err.Error())
	}
	o.site.Close()
	return broken
}
