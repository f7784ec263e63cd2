package skill

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestFrontmatter(t *testing.T) {
	for _, tt := range []struct{ name, yaml, want string }{
		{"plain", "name: a\ndescription: d", `{"name":"a","description":"d"}`},
		{"order", "z: 1\na: 2\nm: 3", `{"z":1,"a":2,"m":3}`},
		{"CRLF", "name: a\r\ndescription: d\r", `{"name":"a","description":"d"}`},
		{"quotes", `a: "1"` + "\nb: 'true'\nc: \"x\\ty\\u00e9\"", `{"a":"1","b":"true","c":"x\tyé"}`},
		{"blocks", "a: |\n  one\n  two\nb: >-\n  one\n  two", `{"a":"one\ntwo\n","b":"one two"}`},
		{"integers", "a: 7\nb: -7\nc: +7\nd: 123456789012345678901234567890\ne: 0x1F\nf: 0o17\ng: 1_000", `{"a":7,"b":-7,"c":7,"d":123456789012345678901234567890,"e":31,"f":15,"g":1000}`},
		{"fractions", "a: 1.0\nb: 1.50\nc: .5\nd: 1.\ne: 6.02e23\nf: -0", `{"a":1.0,"b":1.50,"c":0.5,"d":1,"e":6.02e23,"f":-0}`},
		{"versions", "a: 1.2.3\nb: v2\nc: 1e", `{"a":"1.2.3","b":"v2","c":"1e"}`},
		{"words", "a: true\nb: False\nc: yes\nd: off\ne: null\nf: ~\ng:", `{"a":true,"b":false,"c":"yes","d":"off","e":null,"f":null,"g":null}`},
		{"dates", "a: 2026-07-28\nb: 2026-07-28T10:00:00Z\nc: 2001-12-14 21:59:43.10 -5", `{"a":"2026-07-28","b":"2026-07-28T10:00:00Z","c":"2001-12-14 21:59:43.10 -5"}`},
		{"nested", "a:\n  - x\n  - {y: [1, 2]}\nb: {}\nc: []", `{"a":["x",{"y":[1,2]}],"b":{},"c":[]}`},
		{"keys", "1: a\ntrue: b\n2026-07-28: c\n\"\": d", `{"1":"a","true":"b","2026-07-28":"c","":"d"}`},
		{"anchors", "a: &x {k: v}\nb: *x\nc: [*x, *x]", `{"a":{"k":"v"},"b":{"k":"v"},"c":[{"k":"v"},{"k":"v"}]}`},
		{"tags", "a: !!str 7\nb: !!int \"7\"\nc: !!float 3\nd: !!binary aGk=\ne: ! 7", `{"a":"7","b":7,"c":3,"d":"aGk=","e":"7"}`},
		{"comments", "# one\na: b # two\n", `{"a":"b"}`},
		{"colon in text", "a: \"x: y\"\nb: http://example.com/", `{"a":"x: y","b":"http://example.com/"}`},
		{"hyphens within", "a: |\n  --- x\n  ----\nb: ---x", `{"a":"--- x\n----\n","b":"---x"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, end := range []string{"\n---\n# Body\n---\n", "\n---", "\n--- \t\r\nx"} {
				got, err := Frontmatter([]byte("---\n" + tt.yaml + end))
				if err != nil || string(got) != tt.want {
					t.Errorf("%s (%v)", got, err)
				}
			}
		})
	}
}

func TestFrontmatterRefused(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, tt := range []struct{ name, doc, want string }{
		{"empty", "", `the first line must be "---"`},
		{"none", "# Title\n", `the first line must be "---"`},
		{"late", "\n---\na: b\n---\n", `the first line must be "---"`},
		{"byte order mark", "\ufeff---\na: b\n---\n", `the first line must be "---"`},
		{"four hyphens", "----\na: b\n---\n", `the first line must be "---"`},
		{"no end", "---\na: b\n", "has no end"},
		{"no end at all", "---", "has no end"},
		{"nothing in it", "---\n---\n", "not"},
		{"a list", "---\n- a\n---\n", "not a mapping"},
		{"a text", "---\na\n---\n", "not a mapping"},
		{"tab", "---\na:\n\tb: c\n---\n", "not YAML"},
		{"no YAML", "---\na: [\n---\n", "not YAML"},
		{"unquoted colon", "---\na: b: c\n---\n", "not YAML"},
		{"two documents", "---\na: b\n...\nc: d\n---\n", "not YAML"},
		{"twice", "---\na: 1\nb: 2\na: 3\n---\n", `line 4: "a" is there twice`},
		{"twice within", "---\nm:\n  k: 1\n  \"k\": 2\n---\n", `line 4: "k" is there twice`},
		{"twice by alias", "---\n&k a: 1\n*k : 2\n---\n", `"a" is there twice`},
		{"merge", "---\na: &x {k: v}\nb:\n  <<: *x\n---\n", "line 4: merge keys"},
		{"key", "---\n? [a]\n: b\n---\n", "a key must be a string"},
		{"null key", "---\n~: b\n---\n", "a key must be a string"},
		{"infinity", "---\na: .inf\n---\n", "line 2: \".inf\": JSON has no such number: put it in quotes"},
		{"no number", "---\na: !!int x\n---\n", "JSON has no such number"},
		{"own tag", "---\na: !secret x\n---\n", "the tag \"!secret\" has no meaning"},
		{"own tag of a mapping", "---\na: !!set {x}\n---\n", "has no meaning"},
		{"unknown alias", "---\na: *x\n---\n", "not YAML"},
		{"itself", "---\na: &x [*x]\n---\n", ""},
		{"deep", "---\na: " + deep + "\n---\n", ""},
		{"Latin-1", "---\na: caf\xe9\n---\n", "not UTF-8"},
		{"control character", "---\na: \x01\n---\n", "not YAML"},
		{"long", "---\na: " + strings.Repeat("x", maxFrontmatter) + "\n---\n", "has more than 262144 bytes"},
		{"long, without an end", "---\n" + strings.Repeat("a\n", maxFrontmatter), "has more than 262144 bytes"},
		{"a billion laughs", "---\n" + laughs(30) + "---\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Frontmatter([]byte(tt.doc))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%.100s (%v), want %q", got, err, tt.want)
			}
		})
	}
}

// laughs returns YAML of n lines that stands for 10 to the power of n words.
func laughs(n int) string {
	var s strings.Builder
	s.WriteString("a0: &a0 lol\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&s, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return s.String()
}

func TestSame(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{`{"a":1,"b":[true,null,"x",{"c":{}}]}`, `{"b":[true,null,"x",{"c":{}}],"a":1}`, ""},
		{`{"a":1.0,"b":1e3,"c":"\u0061"}`, `{"a":1,"b":1000.0,"c":"a"}`, ""},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, `"a"`},
		{`{"a":1}`, `{"a":"1"}`, `"a" is "1" in the file and 1 in its entry`},
		{`{"a":null}`, `{}`, "the entry has the field"},
		{`{}`, `{"a":null}`, "the file has the field"},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, `"a"`},
		{`{"a":[1]}`, `{"a":[1,1]}`, `"a"`},
		{`{"a":{"b":1}}`, `{"a":{"b":2}}`, `"a"`},
		{`{"a":{}}`, `{"a":[]}`, `"a"`},
		{`{"a":true}`, `{"a":1.0}`, `"a"`},
		{`[]`, `{}`, "not a JSON object"},
		{`{}`, ``, "not a JSON object"},
		{`{"a":1,"a":2}`, `{"a":2}`, "duplicate"},
	} {
		err := Same(json.RawMessage(tt.a), json.RawMessage(tt.b))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s and %s: %v, want %q", tt.a, tt.b, err, tt.want)
		}
	}
}

// Whatever a stranger writes is rendered as a JSON object that stays the same when
// it is compared with itself, or refused.
func FuzzFrontmatter(f *testing.F) {
	for _, s := range []string{
		"name: a\ndescription: d\n", "a: &x [*x]\n", laughs(8), "? [a]\n: b\n", "a: !!binary aGk=\n", "a: \"\\ud800\"\n", "a: 0b11\nb: 012\nc: 1__0\n",
		"a: |\n  x\n", "{a: b, c: [d, e]}", "a: .nan\n", "<<: {}\n", "a: !!timestamp x\n", "%YAML 1.2\n--- \na: b\n",
	} {
		f.Add([]byte("---\n" + s + "---\n"))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, err := Frontmatter(doc)
		if err != nil {
			return
		}
		if err := Same(got, got); err != nil {
			t.Fatalf("%q became %q: %v", doc, got, err)
		}
		if Check(got) == nil {
			if name, _, err := Texts(got); err != nil || CheckName(name) != nil {
				t.Fatalf("%q passes, with the name %q (%v)", got, name, err)
			}
		}
	})
}
