package cli

import (
	"sync/atomic"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// serverName is what a server is called in questions: what the user typed. What
// it calls itself is added as such, once it is known, because any server can
// call itself anything.
//
// Spec: 2026-07-28 client/elicitation#user-interaction-model.
// Spec: 2026-07-28 server/discover#response.
type serverName struct {
	typed   string
	claimed atomic.Pointer[string]
}

// newServerName names the server at a target.
func newServerName(t target.Target) *serverName {
	where := label(t.String(), 300)
	switch {
	case t.Entry != nil:
		return &serverName{typed: `the server "` + label(t.Entry.Name, 100) + `" (` + where + `)`}
	case t.URL != "":
		return &serverName{typed: "the server at " + where}
	}
	return &serverName{typed: `the server of the command "` + where + `"`}
}

func (n *serverName) set(info mcp.Implementation) {
	if name := or(info.Title, info.Name); name != "" {
		n.claimed.Store(&name)
	}
}

// String returns the name in words.
func (n *serverName) String() string {
	if name := n.claimed.Load(); name != nil {
		return n.typed + `, which calls itself "` + label(*name, 80) + `",`
	}
	return n.typed
}
