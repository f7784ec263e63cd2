// Package adapt says tools in a form that the vendor of a model takes. Some refuse a whole
// request because of one keyword in a schema. What they do not take is said in words
// instead, so that the model still knows of it; the tool itself, and what it accepts, is
// the same. What is refused is the table of package vendors. The gateway's profiles and the
// conversions of package host use it.
package adapt

import (
	"regexp"
	"sync"

	"github.com/parley-mcp/parley/internal/vendors"
)

// Profile is what the models of a vendor take. nil is all that there is.
type Profile struct {
	// Name is what users call it.
	Name string

	rules map[string]vendors.Rule // by what they look at
	forms map[string]*regexp.Regexp
}

// modes are the modes of vendors that profiles are for.
var modes = []struct{ profile, mode string }{
	{"claude", "anthropic/tools"}, {"openai", "openai/functions"}, {"gemini", "gemini/functions"},
}

// Names returns the names of all profiles.
func Names() (names []string) {
	for _, m := range modes {
		names = append(names, m.profile)
	}
	return names
}

var profiles = sync.OnceValue(func() map[string]*Profile {
	all := map[string]*Profile{}
	for _, m := range modes {
		p := &Profile{Name: m.profile, rules: map[string]vendors.Rule{}, forms: map[string]*regexp.Regexp{}}
		for _, r := range vendors.Of(m.mode) {
			p.rules[r.Construct] = r
			if r.Construct == "name" || r.Construct == "property-name" {
				p.forms[r.Construct] = regexp.MustCompile(r.Limit) // a test compiles them
			}
		}
		all[m.profile] = p
	}
	return all
})

// Named returns the profile of a name, or nil.
func Named(name string) *Profile { return profiles()[name] }
