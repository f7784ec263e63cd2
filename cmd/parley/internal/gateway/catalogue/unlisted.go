package catalogue

import (
	"encoding/json"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/wire"
)

// unlisted warns of what the configuration renames or overrides and a list does not have: it
// may be a slip, and then something is not what it was made to be.
func (l *list) unlisted(pages []json.RawMessage) {
	kind, _ := naming.EntryName(l.method.Name, nil)
	missing := l.source.Names.Mentioned(kind)
	if len(missing) == 0 {
		return
	}
	for _, page := range pages {
		for _, raw := range elements(wire.Find(page, naming.Member(l.method.Name))) {
			_, own := naming.EntryName(l.method.Name, raw)
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == own })
		}
	}
	if len(missing) > 0 {
		l.catalogue.opts.Logger.Warn("what the configuration renames or overrides is not listed", "backend", l.source.Names.Name(), "method", l.method.Name, "names", missing)
	}
}
