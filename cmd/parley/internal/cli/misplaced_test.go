package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Flags may stand before the name of the command that has them, those of commands below
// another one, too.
func TestHoisted(t *testing.T) {
	root := newApp(new(console).streams("", false)).root()
	for _, c := range []struct{ typed, want string }{
		{"list URL", "list URL"},
		{"--output json list URL", "list --output json URL"},
		{"--raw list URL", "list --raw URL"},
		{"--output=json list URL", "list --output=json URL"},
		{"--var a=b card check URL", "card check --var a=b URL"},
		{"card --var a=b check URL", "card check --var a=b URL"},
		{"card --raw show URL", "card show --raw URL"},
		{"--output json card --raw show URL", "card show --output json --raw URL"},
		{"skills --force pull URL show", "skills pull --force URL show"},
		{"card URL", "card URL"},
		{"--raw card URL", "card URL --raw"},
		{"--raw nothing URL", "nothing --raw URL"},
		{"--raw card", "card --raw"},
		{"call --arg list URL list", "call --arg list URL list"},
		{"-- card show", "-- card show"},
		{"card -- show", "card -- show"},
		{"--raw", "--raw"},
		{"", ""},
	} {
		if got := hoisted(root, strings.Fields(c.typed)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q becomes %q, want %q", c.typed, strings.Join(got, " "), c.want)
		}
	}
}

// A flag means the same whichever command it stands before: either all commands that have
// it give it a value, or none does.
func TestFlagsTakeAValueEverywhereOrNowhere(t *testing.T) {
	takes := map[string]string{}
	for _, cmd := range everyCommand(newApp(new(console).streams("", false)).root()) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			kind := "a value"
			if f.NoOptDefVal != "" {
				kind = "no value"
			}
			if before, ok := takes[f.Name]; ok && before != kind {
				t.Errorf("%s: --%s takes %s, and %s elsewhere", cmd.CommandPath(), f.Name, kind, before)
			}
			takes[f.Name] = kind
		})
	}
}
