package lint

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// vendorRules are the rules of vendors that look at a construct.
func vendorRules(construct string) []*Rule {
	return slices.DeleteFunc(Rules(), func(r *Rule) bool { return r.construct != construct })
}

// forms are the patterns in the table of vendors.
var forms sync.Map

func form(pattern string) *regexp.Regexp {
	if re, ok := forms.Load(pattern); ok {
		return re.(*regexp.Regexp) //nolint:forcetypeassert // nothing else is stored
	}
	re := regexp.MustCompile(pattern) // a test compiles them
	forms.Store(pattern, re)
	return re
}

// told is the sentence of a rule without its period, for a finding.
func (r *Rule) told() string { return strings.TrimSuffix(r.Finds, ".") }

func (c *checker) vendorName(it *item, at string) {
	for _, r := range vendorRules("name") {
		if !form(r.limit).MatchString(it.name) {
			c.add(it, r.ID, at, "%s", r.told())
		}
	}
}

func (c *checker) vendorDescription(it *item, at string, length int) {
	for _, r := range vendorRules("description-length") {
		if limit, _ := strconv.Atoi(r.limit); length > limit {
			c.add(it, r.ID, at, "%s; this one has %d", r.told(), length)
		}
	}
}

// vendorSchema looks for what vendors refuse or ignore in an input schema.
func (c *checker) vendorSchema(it *item, f *facts) {
	counts := map[string]int{"depth": f.depth, "properties": f.properties, "enum-values": f.enums, "max-items-sum": f.maxItems}
	for _, r := range rules() {
		if r.Vendor == "" || !slices.Contains(c.modes, r.Vendor+"/"+r.Mode) {
			continue
		}
		switch r.construct {
		case "keyword", "root-keyword":
			c.vendorKeywords(it, r, f, func(k string) bool { return slices.Contains(strings.Split(r.limit, ","), k) })
		case "other-keyword":
			c.vendorKeywords(it, r, f, func(k string) bool {
				return !slices.Contains(strings.Split(r.limit, ","), k) && !strings.HasPrefix(k, "x-")
			})
		case "property-name":
			c.vendorProperties(it, r, f)
		case "name", "description-length":
		default:
			if n, counted := counts[r.construct]; counted {
				if limit, _ := strconv.Atoi(r.limit); n > limit {
					c.add(it, r.ID, f.root.at, "%s; here are %d", r.told(), n)
				}
			} else if p := f.places[r.construct]; p != nil {
				c.addMore(it, r.ID, p.at, p.count-1, "%s", r.told())
			}
		}
	}
}

// vendorKeywords reports the keywords of a schema that a rule means.
func (c *checker) vendorKeywords(it *item, r *Rule, f *facts, means func(string) bool) {
	prefix := "keyword:"
	if r.construct == "root-keyword" {
		prefix = "root-keyword:"
	}
	var found []string
	at, more := "", -1
	for _, construct := range slices.Sorted(maps.Keys(f.places)) {
		if k, ok := strings.CutPrefix(construct, prefix); ok && means(k) {
			if at == "" {
				at = pointer(f.places[construct].at, k)
			}
			found = append(found, k)
			more += f.places[construct].count
		}
	}
	if len(found) > 0 {
		c.addMore(it, r.ID, at, more, "%s: %s", r.told(), list(found))
	}
}

// vendorProperties looks at the names of parameters.
func (c *checker) vendorProperties(it *item, r *Rule, f *facts) {
	properties, _ := f.root.schema["properties"].(map[string]any)
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !form(r.limit).MatchString(name) {
			bad = append(bad, name)
		}
	}
	if len(bad) > 0 {
		c.addMore(it, r.ID, pointer(f.root.at, "properties", bad[0]), len(bad)-1, "%s: %s", r.told(), list(bad))
	}
}
