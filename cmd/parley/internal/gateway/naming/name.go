package naming

import "github.com/parley-mcp/parley/internal/toolname"

// showName makes the name of a tool or a prompt.
func (b *Backend) showName(renamed map[string]string, own string) string {
	if shown, ok := renamed[own]; ok {
		return shown
	}
	return toolname.Show(b.name, own)
}

// ownName finds a tool or a prompt. Names that were given in place of others are known;
// the others say whose they are.
func (n *Names) ownName(given map[string]renamed, shown string, of func(*Backend) map[string]string) (b *Backend, own string, known bool) {
	if r, ok := given[shown]; ok {
		return r.backend, r.own, true
	}
	server, own, exact := toolname.Split(shown)
	b = n.backends[server]
	if b == nil || !exact {
		return b, "", false
	}
	if _, ok := of(b)[own]; ok {
		return nil, "", false // it has another name now
	}
	return b, own, true
}

// byPrefix returns the backend that a name says it belongs to, or nil.
func (n *Names) byPrefix(shown string) *Backend { return n.backends[toolname.Server(shown)] }
