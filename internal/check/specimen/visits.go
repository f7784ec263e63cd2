package specimen

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// addVisits adds what sends the user to a page.
func addVisits(s *server.Server) {
	server.AddTool(s, tool("ask_visit", "Asks the user to visit a page."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		visit, err := call.Visit(ctx, "page")
		if err != nil {
			return "", err
		}
		if err := visit.Ask(ctx, "Please visit the page", "https://example.com/visit"); err != nil {
			return "", err
		}
		return "visited", visit.Over(ctx)
	})
	var mu sync.Mutex
	sent := map[string]bool{} // the visits that were asked for
	server.AddTool(s, tool("need_visit", "Says that a page has to be visited first."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		visit, err := call.Visit(ctx, "account")
		if err != nil {
			return "", err
		}
		mu.Lock()
		defer mu.Unlock()
		required := visit.Require("Please connect your account", "https://example.com/connect")
		if _, ok := errors.AsType[*mcp.InputRequired](required); !ok || !sent[visit.ID()] {
			sent[visit.ID()] = true
			return "", required
		}
		return "connected", nil
	})
}
