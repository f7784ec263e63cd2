package naming_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
)

func names(t testing.TB, rules ...naming.Rules) *naming.Names {
	t.Helper()
	n, err := naming.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// backends are many, some of which begin like others, or look like parts of names.
func backends() (rules []naming.Rules) {
	for _, name := range []string{"a", "a-", "a-b", "b", "files", "0", "mcp", "ui", "skill", strings.Repeat("z", 32)} {
		rules = append(rules, naming.Rules{Backend: name})
	}
	return rules
}

func TestNamesAsTheyAreShown(t *testing.T) {
	b := names(t, naming.Rules{Backend: "files", RenameTools: map[string]string{"rm": "delete_file"}}).Backend("files")
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		kind       mcp.FeatureKind
		own, shown string
	}{
		{mcp.ToolFeature, "read", "files__read"},
		{mcp.ToolFeature, "", "files__"},
		{mcp.ToolFeature, "_x", "files___x"},
		{mcp.ToolFeature, "rm", "delete_file"},
		{mcp.PromptFeature, "rm", "files__rm"},
		{mcp.ToolFeature, "get.it", "files__get_it_ZNIUCAMK"},
		{mcp.ToolFeature, "größe", "files__gr__e_KLAXWFP7"},
		{mcp.ToolFeature, long, "files__" + long[:48] + "_ECPTANPZ"},
		{mcp.ToolFeature, long[:57], "files__" + long[:57]},
		{mcp.ToolFeature, "GET_CUSTOMER", "files__GET_CUSTOMER_LNSN3EBB"},
		{mcp.ResourceFeature, "file:///a%20b?c#d", "mcp:files:file:///a%20b?c#d"},
		{mcp.ResourceFeature, "", "mcp:files:"},
		{mcp.ResourceFeature, "ui://clock/app.html", "ui://files/clock/app.html"},
		{mcp.ResourceFeature, "skill://pdf/SKILL.md", "skill://files/pdf/SKILL.md"},
		{mcp.ResourceFeature, "ui:x", "mcp:files:ui:x"},
		{mcp.TemplateFeature, "db://{table}{?id*}", "mcp:files:db://{table}{?id*}"},
		{mcp.TaskFeature, "1:2", "files:1:2"},
	} {
		if got := b.Shown(c.kind, c.own); got != c.shown {
			t.Errorf("%q is shown as %q, want %q", c.own, got, c.shown)
		}
	}
}

var (
	accepted  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	shortened = regexp.MustCompile(`_[A-Z2-7]{8}$`)
)

// text returns a text of up to 200 pieces, some of which mean something in names.
func text(r *rand.Rand) string {
	pieces := []string{"_", "__", "-", ":", "/", "//", "a", "b", "Z", "9", ".", "é", "漢", "🙂", "{x}", "{+p*}", "%20", "\x00", "mcp:", "ui://", "skill://", "a__", "_ABCDEFGH", "files"}
	n := r.IntN(8)
	if r.IntN(10) == 0 {
		n = r.IntN(200)
	}
	var out strings.Builder
	for range n {
		out.WriteString(pieces[r.IntN(len(pieces))])
	}
	return out.String()
}

func TestNoTwoAreShownAlike(t *testing.T) {
	rules := backends()
	rules[0].RenameTools = map[string]string{"a": "short", "b": "b_", "_ABCDEFGH": "x_ABCDEFGH"}
	n := names(t, rules...)
	r := rand.New(rand.NewPCG(1, 2))
	type thing struct {
		kind         mcp.FeatureKind
		backend, own string
	}
	shown := map[mcp.FeatureKind]map[string]thing{}
	for range 30_000 {
		b := n.Backend(rules[r.IntN(len(rules))].Backend)
		kind := mcp.FeatureKind(1 + r.IntN(5))
		is := thing{kind, b.Name(), text(r)}
		s := b.Shown(kind, is.own)
		if shown[kind] == nil {
			shown[kind] = map[string]thing{}
		}
		if other, ok := shown[kind][s]; ok && other != is {
			t.Fatalf("%v and %v are both shown as %q", is, other, s)
		}
		shown[kind][s] = is
		named := kind == mcp.ToolFeature || kind == mcp.PromptFeature
		if named && !accepted.MatchString(s) {
			t.Fatalf("%v is shown as %q", is, s)
		}
		back, own, known := n.Own(kind, s)
		if back != b || known && own != is.own || !known && !named {
			t.Fatalf("%v, shown as %q, is %q (known: %v) of %v", is, s, own, known, back)
		}
		if named && !known && !shortened.MatchString(s) {
			t.Fatalf("%v, shown as %q, is not known", is, s)
		}
	}
}

func TestRulesThatCannotBe(t *testing.T) {
	rename := func(names ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(names); i += 2 {
			m[names[i]] = names[i+1]
		}
		return m
	}
	for want, rules := range map[string][]naming.Rules{
		`backend "A": a name has`:                               {{Backend: "A"}},
		`there are two backends "a"`:                            {{Backend: "a"}, {Backend: "a"}},
		`backend "a": tools: rename "x": "" is not`:             {{Backend: "a", RenameTools: rename("x", "")}},
		`prompts: rename "x": "b__y" begins like`:               {{Backend: "a", RenamePrompts: rename("x", "b__y")}, {Backend: "b"}},
		`rename "y": "x" of backend "a" is "t" already`:         {{Backend: "a", RenameTools: rename("x", "t", "y", "t")}},
		`backend "b": tools: rename "x": "x" of backend "a" is`: {{Backend: "a", RenameTools: rename("x", "t")}, {Backend: "b", RenameTools: rename("x", "t")}},
	} {
		if _, err := naming.New(rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNamesThatAreNobodys(t *testing.T) {
	n := names(t, naming.Rules{Backend: "a", RenameTools: map[string]string{"x": "y"}})
	for kind, all := range map[mcp.FeatureKind][]string{
		mcp.ToolFeature:     {"", "a", "a_b", "b__x", "__x", "a__x", "A__b", "a__é", "a__" + strings.Repeat("x", 62)},
		mcp.ResourceFeature: {"", "a", "file:///x", "mcp:", "mcp:b:x", "mcp:a", "ui://a", "ui://b/x", "MCP:a:x", "skill:a:x"},
		mcp.TaskFeature:     {"", "a", "b:x", ":x"},
		0:                   {"a"},
	} {
		for _, shown := range all {
			if b, own, known := n.Own(kind, shown); b != nil || known {
				t.Errorf("%q is %q of %v", shown, own, b)
			}
		}
	}
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		s    naming.Selection
		name string
		want bool
	}{
		{naming.Selection{}, "x", true},
		{naming.Selection{Include: []string{}}, "x", false},
		{naming.Selection{Include: []string{"read_*", "list"}}, "read_file", true},
		{naming.Selection{Include: []string{"read_*", "list"}}, "listing", false},
		{naming.Selection{Include: []string{"*"}, Exclude: []string{"*secret*"}}, "a_secret_b", false},
		{naming.Selection{Include: []string{"file:///docs/*.md"}}, "file:///docs/a/b.md", true},
		{naming.Selection{Include: []string{"?"}}, "漢", true},
		{naming.Selection{Include: []string{"a*b*c"}}, "aXbXbXc", true},
		{naming.Selection{Include: []string{"a*b*c"}}, "aXbXbX", false},
		{naming.Selection{Include: []string{""}}, "", true},
		{naming.Selection{Include: []string{"*"}}, "", true},
		{naming.Selection{Include: []string{"[a-z]"}}, "b", false},
	} {
		if got := c.s.Has(c.name); got != c.want {
			t.Errorf("%+v has %q: %v", c.s, c.name, got)
		}
	}
}
