package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// checkLinks follows the links of all pages within the repository.
func checkLinks(r *report, root string, pages []*page) {
	anchors := map[string][]string{}
	for _, p := range pages {
		anchors[p.name] = slugs(p.headings)
	}
	for _, p := range pages {
		for _, l := range p.links {
			if strings.Contains(l.to, "://") || strings.HasPrefix(l.to, "mailto:") {
				r.external = append(r.external, l.to)
				continue
			}
			r.links++
			follow(r, root, p, l, anchors)
		}
	}
}

func follow(r *report, root string, p *page, l link, anchors map[string][]string) {
	file, fragment, _ := strings.Cut(l.to, "#")
	to := p.name
	if file != "" {
		to = path.Join(path.Dir(p.name), file)
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
		r.failf(p.name, l.line, "the link to %s leads nowhere", l.to)
		return
	}
	if fragment == "" {
		return
	}
	known, read := anchors[to]
	if !read {
		r.failf(p.name, l.line, "the link to %s has a fragment, but no page that is read here", l.to)
	} else if !slices.Contains(known, fragment) {
		r.failf(p.name, l.line, "%s has no heading for #%s", to, fragment)
	}
}

// slugs returns the anchors that GitHub and mdBook make of headings.
func slugs(headings []string) []string {
	seen := map[string]int{}
	var all []string
	for _, h := range headings {
		s := slug(h)
		n := seen[s]
		seen[s]++
		if n > 0 {
			s += "-" + strconv.Itoa(n)
		}
		all = append(all, s)
	}
	return all
}

func slug(heading string) string {
	if i := strings.Index(heading, "]("); i >= 0 { // a heading that is a link
		if j := strings.Index(heading[i:], ")"); j >= 0 {
			heading = strings.TrimPrefix(heading[:i], "[") + heading[i+j+1:]
		}
	}
	var b strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), c == '-', c == '_':
			b.WriteRune(c)
		case c == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}
