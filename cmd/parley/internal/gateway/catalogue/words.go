package catalogue

import (
	"strings"
	"unicode"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// index says which tools of a list have which words.
type index struct {
	in     map[string][]occurrence
	length []float64 // the weight of all words of a tool
	total  float64
}

// occurrence is a word in a tool.
type occurrence struct {
	entry  int
	weight float64
}

// What a word counts for where it stands.
const (
	inName        = 3
	inTitle       = 2
	inDescription = 1
	inParameter   = 1
)

// words returns the index of the tools of a list, which is made with the first search.
func (c *content) words() *index {
	c.indexed.Do(func() {
		c.found = &index{in: map[string][]occurrence{}}
		for i := range c.values {
			if tool, ok := c.values[i].(*mcp.Tool); ok {
				c.found.add(i, tool)
			}
		}
	})
	return c.found
}

func (x *index) add(entry int, tool *mcp.Tool) {
	weights := map[string]float64{}
	weigh := func(text string, weight float64) {
		for _, word := range words(text) {
			weights[word] += weight
		}
	}
	weigh(tool.Name, inName)
	weigh(tool.Title, inTitle)
	weigh(tool.Description, inDescription)
	for name := range wire.Each(wire.Find(tool.InputSchema, "properties")) {
		weigh(string(name), inParameter)
	}
	length := 0.0
	for word, weight := range weights {
		x.in[word] = append(x.in[word], occurrence{entry, weight})
		length += weight
	}
	x.length = append(x.length, length)
	x.total += length
}

// maxWords bounds the words of a text, and so what a search costs.
const maxWords = 2000

// words returns the words of a text and of the names in it, in lower case and without the
// s of a plural. Each is there once.
func words(text string) []string {
	var all []string
	known := map[string]bool{}
	begin := -1
	var last rune
	end := func(at int) {
		if begin < 0 || len(all) == maxWords {
			return
		}
		word := strings.ToLower(text[begin:at])
		if len(word) > 3 { // not of "is" or "bus"
			word = strings.TrimSuffix(word, "s")
		}
		if !known[word] {
			known[word] = true
			all = append(all, word)
		}
	}
	for at, r := range text {
		in := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !in || unicode.IsUpper(r) && unicode.IsLower(last) { // camelCase is two words
			end(at)
			begin = -1
		}
		if in && begin < 0 {
			begin = at
		}
		last = r
	}
	end(len(text))
	return all
}
