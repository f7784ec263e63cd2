package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/vendors"
)

// example is a line of testdata/rules: a document that has a finding, or one near it
// that has none.
type example struct {
	rule, file, doc string
	line            int
	bad             bool
	options         Options
}

var repeated = regexp.MustCompile(`«(.*?)\*(\d+)»`)

// examples reads testdata/rules. A file has sections that begin with "# RULE", and in
// each lines "bad DOCUMENT" and "good DOCUMENT", after lines "vendors LIST" and
// "tokens N" with options. «x*9» is nine times x, and \u{…} a character.
func examples(t *testing.T) []example {
	t.Helper()
	files, err := filepath.Glob("testdata/rules/*.txt")
	if err != nil || files == nil {
		t.Fatal("there are no examples", err)
	}
	var all []example
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var e example
		for i, line := range strings.Split(string(text), "\n") {
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "", "//":
			case "#":
				e = example{rule: rest, file: file}
			case "vendors":
				e.options.Vendors = strings.Split(rest, ",")
			case "tokens":
				e.options.MaxTokens, _ = strconv.Atoi(rest)
			case "accept":
				e.options.Accepted, err = ParseAcceptances(rest)
				if err != nil {
					t.Fatalf("%s:%d: %v", file, i+1, err)
				}
			case "bad", "good":
				e.line, e.bad, e.doc = i+1, word == "bad", expand(rest)
				all = append(all, e)
			default:
				t.Fatalf("%s:%d: %q is nothing that stands here", file, i+1, word)
			}
		}
	}
	return all
}

func expand(s string) string {
	return repeated.ReplaceAllStringFunc(s, func(m string) string {
		parts := repeated.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

func lintText(t *testing.T, doc string, o *Options) *Report {
	t.Helper()
	servers, err := Read([]byte(doc), "")
	if err != nil {
		t.Fatalf("the document can't be read: %v", err)
	}
	return Run(servers, o)
}

// Each rule finds what it is for, and leaves alone what is near it.
func TestRules(t *testing.T) {
	bad, good := map[string]bool{}, map[string]bool{}
	for _, e := range examples(t) {
		t.Run(fmt.Sprintf("%s/%d", e.rule, e.line), func(t *testing.T) {
			r := lintText(t, e.doc, &e.options)
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Rule == e.rule })
			switch {
			case e.bad && i < 0:
				t.Errorf("%s:%d: no finding of %s; there are %v", e.file, e.line, e.rule, ruleIDs(r))
			case !e.bad && i >= 0:
				t.Errorf("%s:%d: there is a finding: %s at %s", e.file, e.line, r.Findings[i].Text, r.Findings[i].Pointer)
			}
			if i >= 0 && (strings.ContainsAny(r.Findings[i].Text, "\n\x1b") || r.Findings[i].Text == "" || r.Findings[i].Mend == "" || r.Findings[i].Source == "") {
				t.Errorf("%s:%d: the finding is %+v", e.file, e.line, r.Findings[i])
			}
		})
		if e.bad {
			bad[e.rule] = true
		} else {
			good[e.rule] = true
		}
	}
	for _, r := range Rules() {
		if !bad[r.ID] || !good[r.ID] {
			t.Errorf("the rule %s has no example of each kind in testdata/rules", r.ID)
		}
	}
}

func ruleIDs(r *Report) []string {
	var ids []string
	for _, f := range r.Findings {
		ids = append(ids, f.Rule)
	}
	return ids
}

// The tables are whole: each rule has a severity, a sentence and a source, and each
// that is not our own opinion says when.
func TestTables(t *testing.T) {
	all, err := readRules()
	if err != nil {
		t.Fatal(err)
	}
	dated := regexp.MustCompile(`^\d{4}-\d{2}(-\d{2})?$`)
	ids := map[string]bool{}
	for _, r := range all {
		if ids[r.ID] {
			t.Errorf("there are two rules %s", r.ID)
		}
		ids[r.ID] = true
		if r.Severity.rank() < 0 || !strings.HasSuffix(r.Finds, ".") || !strings.HasSuffix(r.Mend, ".") || !strings.Contains(r.ID, "/") {
			t.Errorf("the rule %s is incomplete: %+v", r.ID, r)
		}
		url := strings.HasPrefix(r.Source, "https://")
		if url != (r.Date != "") || url && !dated.MatchString(r.Date) {
			t.Errorf("the rule %s has the source %q and the date %q", r.ID, r.Source, r.Date)
		}
		if r.Vendor != "" {
			if vendors.Names()[r.Vendor] == "" || !slices.Contains([]string{"refused", "ignored", "limited"}, r.Effect) || !slices.Contains([]string{"documented", "reported", "uncertain"}, r.Certainty) {
				t.Errorf("the rule %s is incomplete: %+v", r.ID, r)
			}
			if r.construct == "name" || r.construct == "property-name" {
				form(r.limit)
			}
		}
	}
	for _, m := range vendors.Defaults() {
		if !slices.Contains(Modes(), m) {
			t.Errorf("there is no mode %s", m)
		}
	}
}

const two = `{"servers":{"a":{"tools":[{"name":"x y","inputSchema":{"type":"object"}}]},"b":{"tools":[{"name":"x y","inputSchema":{"type":"object"}}]}}}`

// The options choose what counts.
func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want func(r *Report) bool
	}{
		"rule":           {Options{Rules: []string{"names/characters"}}, func(r *Report) bool { return r.Warnings == 2 && len(r.Findings) == 2 }},
		"group":          {Options{Rules: []string{"names"}}, func(r *Report) bool { return r.Warnings == 3 && r.Notes == 0 }},
		"rule by name":   {Options{Rules: []string{"names/characters=x y"}}, func(r *Report) bool { return len(r.Findings) == 2 }},
		"rule by other":  {Options{Rules: []string{"names=z"}}, func(r *Report) bool { return len(r.Findings) == 0 }},
		"ignore":         {Options{Rules: []string{"names"}, Ignore: []string{"names/characters"}}, func(r *Report) bool { return r.Warnings == 1 }},
		"ignore by name": {Options{Rules: []string{"names/characters"}, Ignore: []string{"names=x y"}}, func(r *Report) bool { return len(r.Findings) == 0 }},
		"other name":     {Options{Rules: []string{"names/characters"}, Ignore: []string{"names=z"}}, func(r *Report) bool { return len(r.Findings) == 2 }},
		"strict":         {Options{Rules: []string{"names"}, Strict: true}, func(r *Report) bool { return r.Errors == 3 && !r.OK() }},
		"no vendor": {Options{Vendors: []string{}}, func(r *Report) bool {
			return !slices.ContainsFunc(ruleIDs(r), func(s string) bool { return vendors.Names()[group(s)] != "" })
		}},
		"one vendor": {Options{Vendors: []string{"anthropic"}}, func(r *Report) bool {
			return slices.Contains(ruleIDs(r), "anthropic/name") && !slices.Contains(ruleIDs(r), "openai/name")
		}},
		"a mode": {Options{Vendors: []string{"openai/strict"}}, func(r *Report) bool {
			return slices.Contains(ruleIDs(r), "openai/strict-closed") && !slices.Contains(ruleIDs(r), "openai/name")
		}},
		"accepted": {Options{Rules: []string{"names/characters"}, Accepted: []Acceptance{{"names/characters", "x y", "it is old"}}}, func(r *Report) bool {
			return r.Accepted == 2 && r.Warnings == 0 && r.Findings[0].Accepted == "it is old"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if r := lintText(t, two, &c.o); !c.want(r) {
				t.Errorf("the report is %+v", r)
			}
		})
	}
}

func TestAcceptances(t *testing.T) {
	got, err := ParseAcceptances("# why\n\nnames/style: they are old\ninjection/markup=a=b: a quotation: of HTML\n")
	if err != nil || !slices.Equal(got, []Acceptance{{"names/style", "", "they are old"}, {"injection/markup", "a=b", "a quotation: of HTML"}}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"names/style", "names/style:", "names/style: ", "nothing/such: why", ": why"} {
		if got, err := ParseAcceptances(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, got)
		}
	}
}

// Two runs over the same definitions say the same, in the same order.
func TestDeterministic(t *testing.T) {
	for _, e := range examples(t) {
		if len(e.doc) > 20_000 {
			continue // they are about size
		}
		e.options.Vendors = []string{"all"}
		if a, b := lintText(t, e.doc, &e.options).Markdown(), lintText(t, e.doc, &e.options).Markdown(); a != b {
			t.Fatalf("%s:%d: two reports differ:\n%s\n%s", e.file, e.line, a, b)
		}
	}
}
