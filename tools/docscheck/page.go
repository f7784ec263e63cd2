package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A page is a Markdown file: its blocks of code, headings and links.
type page struct {
	name     string // relative to the repository, with slashes
	text     string
	blocks   []*block
	headings []string
	links    []link
}

// A block is a fenced block of code.
type block struct {
	page *page
	line int // of the first line of its text
	lang string
	text string
	dirs []directive
}

// A directive says in a comment before a block how it is checked.
type directive struct {
	line int
	verb string
	arg  string
	body string // what follows the first line of the comment
}

type link struct {
	line int
	to   string
}

// verbs are the directives; docs/checking.md says what each of them means.
var verbs = []string{"in", "with", "continues", "run", "test", "go-sdk", "mcp-go", "needs", "keep", "let", "exits", "file", "gateway", "output", "not run", "skip", "build", "env"}

var (
	fence   = regexp.MustCompile("^(\\s*)(`{3,}|~{3,})\\s*(\\S*).*$")
	heading = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	inline  = regexp.MustCompile("`[^`]*`")
	target  = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	anchor  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

const opening = "<!-- check:"

// parsePage reads the Markdown that the documentation is written in, not all that
// there could be.
func parsePage(name, text string) (*page, error) {
	p := &page{name: name, text: text}
	lines := strings.Split(text, "\n")
	var dirs []directive
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(strings.TrimSpace(line), opening) {
			d, last, err := parseDirective(lines, i)
			if err != nil {
				return nil, err
			}
			dirs, i = append(dirs, d), last
			continue
		}
		if m := fence.FindStringSubmatch(line); m != nil {
			b, last, err := parseBlock(lines, i, m)
			if err != nil {
				return nil, err
			}
			b.page, b.dirs, dirs, i = p, dirs, nil, last
			p.blocks = append(p.blocks, b)
			continue
		}
		p.prose(i+1, line)
	}
	if len(dirs) > 0 {
		return nil, fmt.Errorf("line %d: no block follows this comment", dirs[0].line)
	}
	return p, nil
}

func (p *page) prose(number int, line string) {
	if m := heading.FindStringSubmatch(line); m != nil {
		p.headings = append(p.headings, m[1])
	}
	for _, m := range anchor.FindAllStringSubmatch(line, -1) {
		p.headings = append(p.headings, m[1])
	}
	for _, m := range target.FindAllStringSubmatch(inline.ReplaceAllString(line, ""), -1) {
		p.links = append(p.links, link{line: number, to: m[1]})
	}
}

func parseBlock(lines []string, i int, m []string) (*block, int, error) {
	indent, marks := m[1], m[2]
	b := &block{line: i + 2, lang: m[3]}
	for j := i + 1; j < len(lines); j++ {
		line := strings.TrimPrefix(lines[j], indent)
		if strings.HasPrefix(line, marks) && strings.Trim(line, marks[:1]+" ") == "" {
			b.text = strings.Join(trimAll(lines[i+1:j], indent), "\n") + "\n"
			return b, j, nil
		}
	}
	return nil, 0, fmt.Errorf("line %d: this block does not end", i+1)
}

func trimAll(lines []string, prefix string) []string {
	trimmed := make([]string, len(lines))
	for i, l := range lines {
		trimmed[i] = strings.TrimPrefix(l, prefix)
	}
	return trimmed
}

func parseDirective(lines []string, i int) (directive, int, error) {
	first, body, last := strings.TrimPrefix(strings.TrimSpace(lines[i]), opening), "", i
	if before, _, done := strings.Cut(first, "-->"); done {
		first = before
	} else {
		for last++; last < len(lines) && strings.TrimSpace(lines[last]) != "-->"; last++ {
			body += lines[last] + "\n"
		}
		if last == len(lines) {
			return directive{}, 0, fmt.Errorf("line %d: this comment does not end", i+1)
		}
	}
	first = strings.TrimSpace(first)
	for _, v := range verbs {
		if rest, ok := strings.CutPrefix(first, v); ok && (rest == "" || rest[0] == ' ' || rest[0] == ':') {
			return directive{line: i + 1, verb: v, arg: strings.TrimSpace(strings.TrimPrefix(rest, ":")), body: body}, last, nil
		}
	}
	return directive{}, 0, fmt.Errorf("line %d: %q is not one of %s", i+1, first, strings.Join(verbs, ", "))
}

// has reports whether a directive stands before the block, and returns the first.
func (b *block) has(verb string) (directive, bool) {
	for _, d := range b.dirs {
		if d.verb == verb {
			return d, true
		}
	}
	return directive{}, false
}

// all returns the directives of one kind.
func (b *block) all(verb string) []directive {
	var found []directive
	for _, d := range b.dirs {
		if d.verb == verb {
			found = append(found, d)
		}
	}
	return found
}
