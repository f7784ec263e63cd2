package lint

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/texts"
)

// passage is a text in a definition.
type passage struct {
	at    string
	text  string
	prose bool // written for people and models
	key   bool // the name of a member
}

// proseMembers are those whose texts people and models read.
var proseMembers = []string{"description", "title", "instructions", "$comment"}

// Bounds on what is looked at for sentences.
const (
	maxPassage = 16_000
	maxTexts   = 8 << 20
	maxNesting = 200
)

// passages collects all texts of a definition, and the names of its members.
func passages(it *item) []passage {
	var all []passage
	var walk func(v any, at string, member string, depth int)
	walk = func(v any, at string, member string, depth int) {
		if depth > maxNesting || len(at) > maxPointer {
			return
		}
		switch v := v.(type) {
		case string:
			all = append(all, passage{at: at, text: v, prose: slices.Contains(proseMembers, member)})
		case []any:
			for i, e := range v {
				walk(e, pointer(at, strconv.Itoa(i)), member, depth+1)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				below := pointer(at, k)
				all = append(all, passage{at: below, text: k, key: true})
				if k != "icons" || depth > 0 {
					walk(v[k], below, k, depth+1)
				}
			}
		}
	}
	walk(it.v, it.Pointer, "", 0)
	return all
}

// texts looks at all texts of a definition.
func (c *checker) texts(it *item) {
	all := passages(it)
	c.hidden(it, all)
	for _, p := range all {
		if len(p.text) >= 8 {
			c.text(it, p.at, p.text, p.prose)
		}
	}
}

var (
	imageForm   = regexp.MustCompile(`!\[[^\]]*\]\([^)\s]+`)
	urlForm     = regexp.MustCompile(`https?://[^\s"'<>)\]]+`)
	blobForm    = regexp.MustCompile(`[A-Za-z0-9+/_=-]{160,}`)
	paddingForm = regexp.MustCompile(`[ \t\x{00A0}\x{3000}]{60,}|(?:\r?\n[ \t]*){12,}`)
)

// textRules are the rules with a pattern.
var textRules = sync.OnceValue(func() []*Rule {
	return slices.DeleteFunc(Rules(), func(r *Rule) bool { return r.pattern == nil })
})

// text looks at one text for what a model should not be told.
func (c *checker) text(it *item, at, text string, prose bool) {
	if c.texted > maxTexts || len(text) > maxPassage {
		c.once(it, "content/unread", at, "only a part of the text was looked at")
		if c.texted > maxTexts {
			return
		}
		text = text[:maxPassage]
	}
	c.texted += len(text)
	for _, r := range textRules() {
		if m := r.pattern.Find(text); m != "" {
			c.once(it, r.ID, at, "the text %s: %s", strings.TrimPrefix(strings.TrimSuffix(r.Finds, "; found by a pattern, so look at it."), "A text that "), quoted(strings.TrimSpace(m)))
		}
	}
	for _, f := range texts.Find([]byte(text), texts.Definition, texts.SetOf(texts.Secrets), nil) {
		m := text[f.Begin:f.End]
		c.once(it, "secrets/leak", at, "a text of %d characters that begins with %s looks like a secret", len(m), quoted(m[:min(len(m), 5)]))
	}
	if m := blobForm.FindString(text); m != "" && !strings.HasPrefix(text, "data:image/") {
		c.once(it, "content/blob", at, "%d characters without a word, which begin with %s", len(m), quoted(m[:20]))
	}
	if paddingForm.MatchString(text) {
		c.once(it, "content/padding", at, "a long run of blanks")
	}
	if !prose {
		return
	}
	if m := imageForm.FindString(text); m != "" {
		c.once(it, "content/image", at, "an image: %s", quoted(m))
	} else if m := urlForm.FindString(text); m != "" {
		c.once(it, "content/url", at, "a URL: %s", quoted(m))
	}
}

// once reports a finding unless the definition has one of the rule.
func (c *checker) once(it *item, rule, at, format string, args ...any) {
	for i := len(c.found) - 1; i >= 0 && c.found[i].server == it.server.index && c.found[i].item == it.index; i-- {
		if c.found[i].Rule == rule {
			c.found[i].More++
			return
		}
	}
	c.add(it, rule, at, format, args...)
}

// otherServers looks for texts of one server that name the tools of another.
func (c *checker) otherServers(all []*server, tools map[string]*item) {
	for _, s := range all {
		for _, it := range s.items {
			if it.Kind != Tool {
				continue
			}
			for _, w := range nameForm.FindAllString(cut(it.text("description"), maxPassage), -1) {
				// A single word may be a word of the language.
				if other := tools[w]; other != nil && other.server != s && len(words(w)) > 1 && !s.has(w) {
					c.once(it, "content/other-server", pointer(it.Pointer, "description"), "the description names the tool %s of the server %s", quoted(w), quoted(other.server.Server))
				}
			}
		}
	}
}

var nameForm = regexp.MustCompile(`[A-Za-z0-9_.-]*[A-Za-z0-9]`)

// has reports whether a server has a tool of a name.
func (s *server) has(name string) bool {
	if s.tools == nil {
		s.tools = map[string]bool{}
		for _, it := range s.items {
			s.tools[it.name] = s.tools[it.name] || it.Kind == Tool
		}
	}
	return s.tools[name]
}
