package catalogue

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// Hit is a tool that a search has found.
type Hit struct {
	// Tool is the tool as clients see it. It is shared and must not be changed.
	Tool *mcp.Tool
	// Raw is the same, with what this module does not know of it.
	Raw json.RawMessage
}

// Search returns the tools that fit a text best, of those that a peer sees in a view, the
// best first: at most limit of them. Without a word in the text, it is the first ones. all
// is how many tools there are.
func (c *Catalogue) Search(ctx context.Context, peer *mcp.Peer, v View, text string, limit int) (hits []Hit, all int, err error) {
	w, err := c.gather(ctx, peer, mcp.MethodListTools, v.Backends)
	if err != nil {
		return nil, 0, err
	}
	sees := c.sees(ctx, peer, v)
	for _, p := range w.parts {
		for _, d := range p.content.defs {
			if sees(d) {
				all++
			}
		}
	}
	for _, r := range w.ranked(words(text)) {
		content := w.parts[r.part].content
		if len(hits) == limit {
			break
		}
		if sees(content.defs[r.entry]) {
			hits = append(hits, content.hit(r.entry))
		}
	}
	return hits, all, nil
}

// Tool returns the tool that a view shows to a peer under a name; ok is false if there is
// none.
func (c *Catalogue) Tool(ctx context.Context, peer *mcp.Peer, v View, shown string) (hit Hit, ok bool, err error) {
	w, err := c.gather(ctx, peer, mcp.MethodListTools, v.Backends)
	if err != nil {
		return Hit{}, false, err
	}
	sees := c.sees(ctx, peer, v)
	for _, p := range w.parts {
		if i, ok := p.content.index[shown]; ok && sees(p.content.defs[i]) {
			return p.content.hit(i), true, nil
		}
	}
	return Hit{}, false, nil
}

func (c *content) hit(i int) Hit {
	tool, _ := c.values[i].(*mcp.Tool)
	return Hit{tool, c.entries[i].Original()}
}

// rank is an entry that fits a search.
type rank struct {
	part, entry int
	score       float64
}

// Constants of the ranking function BM25, which are those that everybody uses.
const (
	saturation = 1.2
	shortness  = 0.75
)

// ranked returns the entries that have one of the words, the best first.
func (w *whole) ranked(query []string) []rank {
	var ranks []rank
	if len(query) == 0 {
		for p := range w.parts {
			for i := range w.parts[p].content.defs {
				ranks = append(ranks, rank{part: p, entry: i})
			}
		}
		return ranks
	}
	var entries, length float64
	for _, p := range w.parts {
		entries += float64(len(p.content.defs))
		length += p.content.words().total
	}
	mean := max(length/max(entries, 1), 1)
	rarity := make([]float64, len(query))
	for i, word := range query {
		have := 0.0
		for _, p := range w.parts {
			have += float64(len(p.content.words().in[word]))
		}
		rarity[i] = math.Log(1 + (entries-have+0.5)/(have+0.5))
	}
	for p := range w.parts {
		index := w.parts[p].content.words()
		scores := map[int]float64{}
		for i, word := range query {
			for _, o := range index.in[word] {
				room := saturation * (1 - shortness + shortness*index.length[o.entry]/mean)
				scores[o.entry] += rarity[i] * o.weight * (saturation + 1) / (o.weight + room)
			}
		}
		for entry, score := range scores {
			ranks = append(ranks, rank{p, entry, score})
		}
	}
	slices.SortFunc(ranks, func(a, b rank) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(a.entry, b.entry))
	})
	return ranks
}
