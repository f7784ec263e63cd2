package cli

import (
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
)

// WatchDecisions implements consolepage.Gateway.
func (g *consoleGateway) WatchDecisions(f func(consolepage.Decided)) (stop func()) {
	return g.r.approvals.desk.Watch(func(e approval.Event) {
		if e.Kind == approval.Asked {
			return
		}
		f(consolepage.Decided{
			Decision: string(e.Kind), Time: e.Time, ID: e.ID, Principal: e.Principal, Client: e.Client, Backend: e.Backend, Shown: e.Shown,
			By: e.By, Reason: e.Reason, Until: e.Until,
		})
	})
}
