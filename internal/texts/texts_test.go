package texts

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var everything = SetOf(Hidden, Instructions, Secrets)

// The tables are whole, and what is made of them is within its bounds.
func TestTables(t *testing.T) {
	patterns, err := readPatterns()
	if err != nil {
		t.Fatal(err)
	}
	if len(patterns) > maxPatterns {
		t.Errorf("there are %d patterns, and room for %d", len(patterns), maxPatterns)
	}
	secrets, err := readSecrets()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	dated := regexp.MustCompile(`^\d{4}-\d{2}(-\d{2})?$`)
	check := func(id, says, source, date string, triggers []string) {
		url := strings.HasPrefix(source, "https://")
		if ids[id] || says == "" || url != dated.MatchString(date) || !url && source != "heuristic of parley" {
			t.Errorf("the row %s is incomplete, or there are two", id)
		}
		ids[id] = true
		for _, word := range triggers {
			if word == "" || word != strings.ToLower(word) {
				t.Errorf("%s: the trigger %q is not in lower case", id, word)
			}
		}
	}
	for _, p := range patterns {
		check(p.ID, p.Says, p.Source, p.Date, p.triggers)
	}
	for _, s := range secrets {
		check(s.ID, s.Says, s.Source, s.Date, s.triggers)
	}
	for id := range unlikely {
		if !ids[id] {
			t.Errorf("there is no secret %s", id)
		}
	}
	for _, x := range indexes() {
		if n := len(x.automaton.ends); n > 4000 {
			t.Errorf("the automaton has %d states", n)
		}
	}
}

// The estimate of tokens is by characters, not bytes.
func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "天气": 2, "ab天": 2} {
		if got := Tokens([]byte(text)); got != want {
			t.Errorf("%q costs %d, want %d", text, got, want)
		}
	}
}

// An automaton finds what a search for each word finds.
func TestAutomaton(t *testing.T) {
	words := []string{"he", "she", "his", "hers", "<", "e r"}
	text := []byte("uSHErs he r ahis < hershe")
	var got, want []string
	newAutomaton(words).each(text, func(word, end int) { got = append(got, fmt.Sprint(word, end)) })
	for i, word := range words {
		for at := range text {
			if bytes.HasPrefix(bytes.ToLower(text[at:]), []byte(word)) {
				want = append(want, fmt.Sprint(i, at+len(word)))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// examples reads testdata: after a line "# RULE", lines "bad TEXT" and "good TEXT", where
// «x*9» is nine times x and \u{…} a character.
func examples(t *testing.T, each func(at, rule string, bad bool, text []byte)) {
	t.Helper()
	repeated := regexp.MustCompile(`«(.*?)\*(\d+)»`)
	character := regexp.MustCompile(`\\u\{([0-9A-F]+)\}`)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || files == nil {
		t.Fatal("there are no examples", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rule := ""
		for i, line := range strings.Split(string(source), "\n") {
			word, rest, _ := strings.Cut(line, " ")
			rest = repeated.ReplaceAllStringFunc(rest, func(s string) string {
				m, n := repeated.FindStringSubmatch(s), 0
				_, _ = fmt.Sscan(m[2], &n)
				return strings.Repeat(m[1], n)
			})
			rest = character.ReplaceAllStringFunc(rest, func(s string) string {
				var r rune
				_, _ = fmt.Sscanf(s, `\u{%X}`, &r)
				return string(r)
			})
			rest = strings.ReplaceAll(rest, `\n`, "\n")
			switch word {
			case "#":
				rule = rest
			case "bad", "good":
				each(fmt.Sprintf("%s:%d", file, i+1), rule, word == "bad", []byte(rest))
			case "", "//":
			default:
				t.Fatalf("%s:%d: %q is nothing that stands here", file, i+1, word)
			}
		}
	}
}

// Each row of the tables finds what it is for, and leaves alone what is near it.
func TestExamples(t *testing.T) {
	bad := map[string]bool{}
	examples(t, func(at, rule string, isBad bool, text []byte) {
		found := Find(text, Definition, everything, nil)
		has := slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == rule })
		if rule == "" {
			has = len(found) > 0
		}
		if has != isBad {
			t.Errorf("%s: %q: found %+v", at, text, found)
		}
		for _, f := range found {
			if f.Begin < 0 || f.Begin >= f.End || f.End > len(text) {
				t.Errorf("%s: %+v is not in a text of %d bytes", at, f, len(text))
			}
		}
		bad[rule] = bad[rule] || isBad
	})
	for _, p := range Patterns() {
		if !bad[p.ID] {
			t.Errorf("the pattern %s has no example", p.ID)
		}
	}
	for _, s := range SecretForms() {
		if !bad[s.ID] {
			t.Errorf("the secret %s has no example", s.ID)
		}
	}
	for _, c := range []Character{Tags, Direction, Invisible, Selectors, Private, Control, Escape} {
		if !bad[string(c)] {
			t.Errorf("characters of the kind %s have no example", c)
		}
	}
}

// What nobody means to be secret is not taken for it: the documents of this repository,
// its sums of modules, and what programs commonly print.
func TestBenign(t *testing.T) {
	files, size := 0, 0
	for _, root := range []string{"testdata/benign", "../../docs", "../../go.sum", "../../cmd/parley/go.sum", "../../README.md", "../../CHANGELOG.md"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) == ".png" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, f := range Find(text, Result, everything, nil) {
				t.Errorf("%s: %s: %q", path, f.Rule, text[f.Begin:f.End])
			}
			files++
			size += len(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files with %d bytes", files, size)
}

// FuzzFind sees that findings are in order and in the text, and that a text without its
// hidden characters has none.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"a\u200bb", "\U0001F3F4\U000E0067\U000E007F", "x\ufe0f\ufe0f", "ghp_0123456789012345678901234567890123456789", "password = aB3dE5fG7hI9jK1lM", "\xff\xfe", "a\u200d\u200d\U0001F468", "Σ\u200d\u200f0", "Σ\u200d\U000E01000"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		for _, f := range Find(text, Definition, everything, nil) {
			if f.Begin < last || f.Begin >= f.End || f.End > len(text) {
				t.Fatalf("%q: %+v after %d", text, f, last)
			}
			last = f.Begin
		}
		if !utf8.Valid(text) {
			return // parts can become a character
		}
		var kept []byte
		at := 0
		for _, f := range Find(text, Definition, SetOf(Hidden), nil) {
			kept = append(kept, text[at:f.Begin]...)
			at = f.End
		}
		kept = append(kept, text[at:]...)
		if again := Find(kept, Definition, SetOf(Hidden), nil); len(again) > 0 {
			t.Fatalf("%q without what is hidden is %q, which has %+v", text, kept, again)
		}
	})
}

// Hostile texts take a time that is linear in their length: here, none takes as long as a
// quadratic search of them would by orders of magnitude.
func BenchmarkFind(b *testing.B) {
	for name, piece := range map[string]string{
		"prose": "The quick brown fox jumps over the lazy dog, and reads a file. ", "tools": "tool", "passwords": "password=", "jwt": ".eyJ", "keys": "-----BEGIN ",
		"markup": "<", "never": "never ", "chinese": "我们看天气", "hidden": "a\u200b", "base64": "QUJDREVGR0hJSktMTU5PUA0KQ",
	} {
		text := []byte(strings.Repeat(piece, 1<<20/len(piece)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Find(text, Result, everything, nil)
			}
		})
	}
}
