package catalogue

import (
	"log/slog"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/vendors/adapt"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// unfit is a tool that cannot be shown in the form of a profile, and why.
type unfit struct {
	*guard.Definition

	why string
}

// metaUnfit is the key of _meta of lists that leave tools out because the models of the
// client would not take them: an object with the reason for each.
const metaUnfit = "com.github.parley-mcp/unfit"

// adapt shows the tools of all parts in the form of a profile.
func (w *whole) adapt(p *adapt.Profile, sees func(*guard.Definition) bool, logger *slog.Logger) {
	if p == nil || w.method.Name != mcp.MethodListTools {
		return
	}
	for i := range w.parts {
		adapted := w.parts[i].content.adapted(p, logger)
		w.parts[i].content = adapted
		for _, u := range adapted.unfit {
			if !sees(u.Definition) {
				continue
			}
			if w.unfit == nil {
				w.unfit = map[string]string{}
			}
			w.unfit[u.Shown] = u.why
		}
	}
}

// adapted is the content in the form of a profile, which is made once.
func (c *content) adapted(p *adapt.Profile, logger *slog.Logger) *content {
	if had, ok := c.forms.Load(p); ok {
		return had.(*content) //nolint:forcetypeassert // nothing else is stored
	}
	made := &content{digest: c.digest}
	for i, d := range c.defs {
		value, entry := c.values[i], c.entries[i]
		shown, why := p.Adapt(entry.Original())
		if why == "" && string(shown) != string(entry.Original()) {
			tool := new(mcp.Tool)
			if err := wire.Unmarshal(shown, tool); err != nil {
				why = err.Error()
			}
			value, entry = tool, wire.NewRawEntry(tool, shown)
		}
		if why != "" {
			made.unfit = append(made.unfit, unfit{d, why})
			continue
		}
		made.defs, made.values, made.entries = append(made.defs, d), append(made.values, value), append(made.entries, entry)
	}
	had, loaded := c.forms.LoadOrStore(p, made)
	if !loaded {
		for _, u := range made.unfit {
			logger.Warn("a tool is left out for some clients, because their models would not take it", "tool", u.Shown, "profile", p.Name, "error", u.why)
		}
	}
	return had.(*content) //nolint:forcetypeassert // nothing else is stored
}
