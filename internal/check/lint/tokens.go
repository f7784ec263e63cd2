package lint

import (
	"cmp"
	"slices"

	"github.com/parley-mcp/parley/internal/texts"
)

// defaultToolTokens is what a tool may cost unless Options say otherwise.
const defaultToolTokens = 1500

// costs estimates what the tools of a server cost.
func (c *checker) costs(s *server) {
	limit := cmp.Or(c.options.MaxToolTokens, defaultToolTokens)
	for _, it := range s.items {
		if it.Kind != Tool {
			continue
		}
		n := texts.Tokens(it.Raw)
		if it.v != nil {
			n = texts.ToolTokens(it.Raw)
		}
		s.summary.Tokens += n
		s.summary.Costs = append(s.summary.Costs, ToolTokens{cut(it.name, 200), n})
		if limit > 0 && n > limit {
			c.add(it, "tokens/tool", it.Pointer, "the tool costs about %d tokens in each request; the limit is %d", n, limit)
		}
	}
	slices.SortStableFunc(s.summary.Costs, func(a, b ToolTokens) int { return cmp.Compare(b.Tokens, a.Tokens) })
	if most := c.options.MaxTokens; most > 0 && s.summary.Tokens > most {
		c.add(s.self, "tokens/list", "", "the tools cost about %d tokens in each request; the limit is %d", s.summary.Tokens, most)
	}
}
