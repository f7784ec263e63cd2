package serverprobe

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// authorization is what that page demands of servers that are spoken to without
// HTTP. Package authprobe judges the others.
var authorization = []Probe{
	{
		Info: probe.Info{
			ID: "authorization/not-over-stdio", Rows: []string{"26.basic.authorization.index-003", "2511.basic.authorization-003"},
			Does:    "Looks at errors over standard streams for what belongs to authorization over HTTP: challenges, and metadata of resources.",
			Accepts: "None.",
			Mend:    "Over standard streams take credentials from the environment.",
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				if text := string(peer.Encode(m.Object("error"))); m.IsError() && (strings.Contains(text, "resource_metadata") || strings.Contains(text, "WWW-Authenticate")) {
					w.Fault(m, "/error", "the error asks for authorization as over HTTP")
				} else {
					w.Saw(m)
				}
			}
		},
	},
}
