package cli

import (
	"github.com/parley-mcp/parley/mcp"
)

// parts shows how far a command of several parts is, where there is a terminal.
type parts struct {
	app  *app
	name string
	now  string
}

func (a *app) newParts(name string) *parts { return &parts{app: a, name: name} }

// show shows that a part is done so far.
func (s *parts) show(part string, done, total int) {
	a := s.app
	if part != s.now {
		a.hideBar()
		a.screen.Lock()
		a.bar = &bar{app: a, name: s.name + " " + part}
		a.screen.Unlock()
		s.now = part
	}
	a.bar.update(&mcp.ProgressParams{Progress: float64(done), Total: float64(total)})
}
