package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/similar"
)

// describing are the tags that are no constraints.
var describing = []string{"json", "title", "description", "jsonschema", "default", "header", "enumTitles"}

// foreign are tags of other packages that look like ours.
var foreign = []string{"bson", "form", "url"}

// elsewhere are tags by which other packages that make schemas say what is said in another
// way here.
var elsewhere = map[string]string{
	"optional":               "a field is optional if it is a pointer, is tagged omitempty or omitzero, or has a default",
	"jsonschema_description": `the tag is "description"`,
	"jsonschema_extras":      "each constraint has a tag of its own",
}

// CheckTags refuses a field's tag that looks like one of ours and is not: it would
// be ignored, and what it asks for lost. Other packages have tags of their own, which
// nobody can list; so one that only looks like ours is fine beside ours. fits are the JSON types of the field.
func CheckTags(tag reflect.StructTag, fits ...string) error {
	for name, instead := range elsewhere {
		if _, ok := tag.Lookup(name); ok {
			return fmt.Errorf("there is no tag %q: %s", name, instead)
		}
	}
	names, rest := tagNames(tag)
	if lost := lostIn(rest); lost != "" {
		return fmt.Errorf("tag %q is not read, because the tags are malformed from %q on", lost, rest)
	}
	for _, name := range names {
		meant := meantBy(name, fits)
		if len(meant) == 0 || slices.ContainsFunc(meant, func(m string) bool { return slices.Contains(names, m) }) {
			continue
		}
		return fmt.Errorf("there is no tag %q; the nearest is %q. If another package reads %q, give the field %q as well", name, meant[0], name, meant[0])
	}
	return nil
}

// tagNames returns the names of the tags of a field, and what is left where they are
// malformed.
func tagNames(tag reflect.StructTag) (names []string, rest string) {
	rest = strings.TrimLeft(string(tag), " ")
	for rest != "" {
		m := tagPair.FindStringSubmatch(rest)
		if m == nil {
			return names, rest
		}
		if _, err := strconv.Unquote(m[2]); err != nil {
			return names, rest
		}
		names, rest = append(names, m[1]), strings.TrimLeft(rest[len(m[0]):], " ")
	}
	return names, ""
}

// tagPair matches what reflect.StructTag reads as a tag.
var tagPair = regexp.MustCompile(`^([^\x00-\x20\x7f":]+):("(?:[^"\\]|\\.)*")`)

// lostIn returns the name of one of our tags in what cannot be read, or "".
func lostIn(rest string) string {
	if rest == "" {
		return ""
	}
	for _, own := range ownTags() {
		if regexp.MustCompile(`(^|[^A-Za-z])` + own + `\s*:`).MatchString(rest) {
			return own
		}
	}
	return ""
}

func ownTags() []string {
	all := slices.Clone(describing)
	for _, k := range constraints() {
		all = append(all, k.name)
	}
	return all
}

// meantBy returns our tags that a tag looks like, the nearest first; none if it is one of ours.
func meantBy(name string, fits []string) []string {
	own := ownTags()
	if slices.Contains(own, name) || slices.Contains(foreign, name) {
		return nil
	}
	typed := plainly(name)
	meant := slices.DeleteFunc(own, func(o string) bool { return !looksLike(typed, plainly(o)) })
	suits := func(o string) int {
		if slices.ContainsFunc(constraints(), func(k constraint) bool {
			return k.name == o && !slices.ContainsFunc(k.types, func(t string) bool { return slices.Contains(fits, t) })
		}) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(meant, func(a, b string) int {
		return cmp.Or(cmp.Compare(suits(a), suits(b)), cmp.Compare(similar.Edits(typed, plainly(a)), similar.Edits(typed, plainly(b))))
	})
	return meant
}

// looksLike reports whether a name is another in other words, its beginning, or a slip
// or two away from it.
func looksLike(typed, own string) bool {
	slips := 0
	switch n := len(typed); {
	case n >= 8:
		slips = 2
	case n >= 3:
		slips = 1
	}
	return typed == own ||
		len(typed) >= 3 && strings.HasPrefix(own, typed) ||
		typed != "" && typed[0] == own[0] && similar.Edits(typed, own) <= slips
}

// plainly returns a name as everybody would write it.
func plainly(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", ",", "", ";", "").Replace(name))
}
