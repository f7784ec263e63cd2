package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// scenes are what was played once for several probes of patterns.
type scenes struct {
	slow       *slowScenes
	tasks      *taskScene
	updated    *updated
	limits     map[string]*Conn // conversations by what their clients declare
	rootChange *rootChange
	noChange   probe.Finding // why the roots could not change
	company    *company
	declined   map[string]*peer.Reply // calls of tools whose form was declined, by the tool
}
