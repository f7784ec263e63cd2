package lint

import (
	"slices"
	"strings"
	"unicode"
)

// Verbs by what they say of a tool. Those that calculators and drawers use too, such
// as add and create, are left out.
var (
	readVerbs   = []string{"get", "list", "read", "search", "find", "fetch", "query", "show", "view", "describe", "count", "lookup", "inspect", "browse"}
	deleteVerbs = []string{"delete", "remove", "drop", "purge", "destroy", "erase", "wipe", "truncate", "uninstall"}
	writeVerbs  = []string{"write", "update", "edit", "modify", "send", "upload", "publish", "deploy", "rename", "move", "insert", "save", "install", "set", "put", "patch", "import", "replace", "append"}
	hedges      = []string{"simulate", "preview", "plan", "validate", "check", "dry", "estimate", "explain", "can", "is", "has", "test"}
	worldWords  = []string{"web", "http", "https", "url", "internet", "crawl", "scrape", "email", "mail", "tweet"}
)

// intent is what a name says that a tool does.
type intent int

const (
	unclear intent = iota
	reads
	changes
	deletes
)

// intentOf finds the first verb of a name or a title. A name that begins with one of
// hedges says nothing.
func intentOf(name string) intent {
	for i, w := range words(name) {
		switch {
		case i == 0 && slices.Contains(hedges, w):
			return unclear
		case slices.Contains(readVerbs, w):
			return reads
		case slices.Contains(deleteVerbs, w):
			return deletes
		case slices.Contains(writeVerbs, w):
			return changes
		}
	}
	return unclear
}

// words splits a name at what is no letter or digit and before capitals.
func words(name string) []string {
	var b strings.Builder
	var last rune
	for _, r := range cut(name, 300) {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return strings.Fields(b.String())
}

// annotations compares the hints of a tool with its name.
//
// Spec: 2026-07-28 server/tools#tool.
func (c *checker) annotations(it *item) {
	at := pointer(it.Pointer, "annotations")
	v, present := it.v["annotations"]
	a, ok := v.(map[string]any)
	if present && v != nil && !ok {
		c.add(it, "annotations/type", at, "the annotations are no object")
		return
	}
	c.titles(it, a)
	if len(a) == 0 {
		c.add(it, "annotations/missing", it.Pointer, "the tool has no annotations")
		return
	}
	hint := func(name string) (value, said bool) {
		value, said = a[name].(bool)
		if v, there := a[name]; there && !said {
			c.add(it, "annotations/type", pointer(at, name), "%s is %s", name, typeText(v))
		}
		return value, said
	}
	readOnly, _ := hint("readOnlyHint")
	destructive, saidDestructive := hint("destructiveHint")
	world, saidWorld := hint("openWorldHint")
	hint("idempotentHint")
	switch does := intentOf(it.name); {
	case readOnly && (does == changes || does == deletes):
		c.add(it, "annotations/read-only", pointer(at, "readOnlyHint"), "readOnlyHint is true, and the name says that the tool changes something")
	case saidDestructive && !destructive && does == deletes && !readOnly:
		c.add(it, "annotations/destructive", pointer(at, "destructiveHint"), "destructiveHint is false, and the name says that the tool deletes something")
	case !readOnly && does == reads:
		c.add(it, "annotations/not-read-only", at, "the name says that the tool only reads, and readOnlyHint is not true")
	}
	if readOnly && destructive {
		c.add(it, "annotations/contradiction", at, "readOnlyHint and destructiveHint are both true")
	}
	if !saidWorld && a["openWorldHint"] == nil {
		c.add(it, "annotations/open-world", at, "openWorldHint is missing, which means true")
	}
	if saidWorld && !world && slices.ContainsFunc(words(it.name), func(w string) bool { return slices.Contains(worldWords, w) }) {
		c.add(it, "annotations/closed-world", pointer(at, "openWorldHint"), "openWorldHint is false, and the name says that the tool reaches beyond")
	}
}

// titles compares name and titles.
func (c *checker) titles(it *item, annotations map[string]any) {
	second, isText := annotations["title"].(string)
	if v, there := annotations["title"]; there && !isText {
		c.add(it, "annotations/type", pointer(it.Pointer, "annotations", "title"), "the title is %s", typeText(v))
	}
	title := it.text("title")
	if title != "" && second != "" && normalized(title) != normalized(second) {
		c.add(it, "annotations/title", pointer(it.Pointer, "annotations", "title"), "the title is %s, and annotations.title is %s", quoted(title), quoted(second))
	}
	for _, t := range []string{title, second} {
		name, said := intentOf(it.name), intentOf(t)
		if name != unclear && said != unclear && (name == reads) != (said == reads) {
			c.add(it, "annotations/title", pointer(it.Pointer, "title"), "the title is %s, which says another thing than the name", quoted(t))
			return
		}
	}
}
