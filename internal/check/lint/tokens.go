package lint

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
)

// defaultToolTokens is what a tool may cost unless Options say otherwise.
const defaultToolTokens = 1500

// Tokens estimates how many tokens a text costs: one for four characters of ASCII,
// and one for each other character. The ratio is the rule of thumb that vendors give
// for English; JSON with many short words costs up to a third more. No tokenizer is
// asked, because each model has another.
func Tokens(text []byte) int {
	ascii, other := 0, 0
	for len(text) > 0 {
		_, size := utf8.DecodeRune(text)
		if size == 1 {
			ascii++
		} else {
			other++
		}
		text = text[size:]
	}
	return (ascii+3)/4 + other
}

// costs estimates what the tools of a server cost. What hosts give to models is the
// name, the description and the input schema, as compact JSON.
func (c *checker) costs(s *server) {
	limit := cmp.Or(c.options.MaxToolTokens, defaultToolTokens)
	for _, it := range s.items {
		if it.Kind != Tool {
			continue
		}
		n := Tokens(it.Raw)
		if it.v != nil {
			told, err := wire.Marshal(map[string]any{"name": it.v["name"], "description": it.v["description"], "input_schema": it.v["inputSchema"]})
			if err == nil {
				n = Tokens(told)
			}
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
