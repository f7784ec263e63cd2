// Package standin is what the agent of this example meets: a model that speaks from a
// script, and three servers. It is as real as the agent can tell, and all on this machine.
package standin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// World has the addresses of what there is.
type World struct {
	// Model answers requests of Anthropic's Messages API.
	Model string
	// Weather and Calendar are servers. Calendar wants a login.
	Weather, Calendar string

	web      *httptest.Server
	handlers []*streamable.Handler
}

// Start starts everything. Close ends it.
func Start() *World {
	mux := http.NewServeMux()
	w := &World{web: httptest.NewServer(mux)}
	w.Model, w.Weather, w.Calendar = w.web.URL+"/v1/messages", w.web.URL+"/weather", w.web.URL+"/calendar"
	mux.Handle("POST /v1/messages", script{})
	mux.Handle("/weather", w.serve("weather", mcp.Tool{Name: "now", Description: "Says how the weather is", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, "sunny, 21 degrees"))

	issuer := &issuer{url: w.web.URL}
	issuer.mount(mux)
	guard, err := auth.New(&auth.Options{
		Resource: w.Calendar, AuthorizationServers: []string{issuer.url},
		Verifier: auth.VerifierFunc(issuer.verify), Scopes: []string{"calendar"}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err) // the options are those above
	}
	guard.Mount(mux)
	mux.Handle("/calendar", guard.Protect(w.serve("calendar", mcp.Tool{Name: "today", Description: "Lists the appointments of today"}, "10:00 dentist")))
	return w
}

// serve serves a server with one tool, which has one answer.
func (w *World) serve(name string, tool mcp.Tool, answer string) http.Handler {
	s := server.New(mcp.Implementation{Name: name, Version: "1.0.0"}, nil)
	server.AddTool(s, tool, func(context.Context, *server.Call, struct{}) (string, error) { return answer, nil })
	h, err := streamable.New(s, nil)
	if err != nil {
		panic(err) // there are no options
	}
	w.handlers = append(w.handlers, h)
	return h
}

// Close ends everything.
func (w *World) Close(ctx context.Context) {
	for _, h := range w.handlers {
		_ = h.Close(ctx) // nobody waits for what is left
	}
	w.web.Close()
}
