package sample

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestReadExamples(t *testing.T) {
	const want = `{"Tools":{"none":[{}],"weather":[{"big":9007199254740993,"city":"Oslo","on":"2026-01-02"},{"city":"Bergen"}]},` +
		`"Prompts":{"review":[{"code":"1"}]},"Templates":{"file:///{path}":[{"path":"README.md"}]},"Resources":["file:///a"]}`
	for name, text := range map[string]string{
		"yaml": `
tools:
  weather:
    - {city: Oslo, big: 9007199254740993, on: 2026-01-02}
    - city: Bergen
  none: [{}]
prompts:
  review:
    - code: "1"
templates:
  "file:///{path}":
    - path: README.md
resources:
  - file:///a
`,
		"json": `{"tools":{"weather":[{"city":"Oslo","big":9007199254740993,"on":"2026-01-02"},{"city":"Bergen"}],"none":[{}]},
			"prompts":{"review":[{"code":"1"}]},"templates":{"file:///{path}":[{"path":"README.md"}]},"resources":["file:///a"]}`,
	} {
		e, err := ReadExamples("x", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var v any
		got, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(strings.NewReader(string(got)))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		var order struct{ Tools, Prompts, Templates, Resources any }
		members := v.(map[string]any)
		order.Tools, order.Prompts, order.Templates, order.Resources = members["Tools"], members["Prompts"], members["Templates"], members["Resources"]
		if got, _ := json.Marshal(order); string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "{}"} {
		if e, err := ReadExamples("x", []byte(text)); err != nil || len(e.Tools) != 0 {
			t.Errorf("ReadExamples(%q) = %v, %v", text, e, err)
		}
	}
}

func TestReadExamplesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"- a":                                  "x.yaml: line 1: the file must be a mapping, not a list",
		"tool:\n  a: [{}]":                     "x.yaml: line 2: tool is none of tools, prompts, templates and resources",
		"tools:":                               "x.yaml: line 1: tools must be a mapping, not nothing",
		"tools:\n  a: {b: 1}":                  `x.yaml: line 2: tools["a"] must be a list, not a mapping`,
		"tools:\n  a:\n    - 1":                `x.yaml: line 3: tools["a"][0] must be a mapping of arguments, not a number`,
		"tools:\n  a: [{}]\n  a: [{}]":         `x.yaml: line 3: tools has "a" twice`,
		"tools:\n  a:\n    - b: 1\n      b: 2": `x.yaml: tools["a"][0], line 4: "b" is there twice`,
		"tools:\n  a:\n    - b: .inf":          `x.yaml: tools["a"][0], line 3: ".inf"`,
		"prompts:\n  a:\n    - b: 1":           `x.yaml: line 3: prompts["a"][0]["b"] must be a string, not a number: put it in quotes`,
		"templates:\n  a:\n    - true":         `x.yaml: line 3: templates["a"][0] must be a mapping, not true or false`,
		"resources: a":                         "x.yaml: line 1: resources must be a list, not a string",
		"resources: [{}]":                      "x.yaml: line 1: resources[0] must be a string, not a mapping",
		"tools: [":                             "x.yaml: it is not YAML",
		"? [a]\n: 1":                           "x.yaml: line 1: the file has a key that is no name",
		"resources: [" + strings.Repeat("a,", 10_001) + "]": "resources goes beyond the 10000 examples",
		"{}\n---\n{}": "x.yaml: it is not YAML: it has more than one document",
		"\xff":        "x.yaml: it is not UTF-8",
		"#" + strings.Repeat("x", maxFile) + "\n": "x.yaml has more than",
	} {
		if _, err := ReadExamples("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadExamples(%.60q) = %v; want %q", text, err, want)
		}
	}
}

func TestSkeleton(t *testing.T) {
	text := Skeleton(Offer{
		Tools: []Tool{
			{"weather \"now\"", []byte(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)},
			{"bad", []byte(`{"type":"object","properties":{"a":false},"required":["a"]}`)},
			{"worse", nil},
		},
		Prompts:   []Prompt{{"review", []string{"code"}}, {"none", nil}},
		Templates: []Template{{"file:///{path}", []string{"path"}}},
		Resources: []string{"file:///a"},
	})
	const want = `tools:
  # "bad": "no value could be made for \"/a\": nothing was found that the schema accepts"
  "weather \"now\"":
    - {"city":"sample"}
  # "worse": "schema is empty"
prompts:
  "none":
    - {}
  "review":
    - {"code":"sample"}
templates:
  "file:///{path}":
    - {"path":"sample"}
resources:
  - "file:///a"
`
	if !strings.HasSuffix(string(text), want) {
		t.Errorf("Skeleton:\n%s\nwant\n%s", text, want)
	}
	e, err := ReadExamples("skeleton", text)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %v %v %v", e.Tools, e.Prompts, e.Templates, e.Resources); got != `map[weather "now":[{"city":"sample"}]] map[none:[map[]] review:[map[code:sample]]] map[file:///{path}:[map[path:sample]]] [file:///a]` {
		t.Errorf("read again, it is %s", got)
	}
	for _, o := range []Offer{{}, {Tools: []Tool{{"bad", []byte(`false`)}}}} {
		if _, err := ReadExamples("skeleton", Skeleton(o)); err != nil {
			t.Errorf("%v:\n%s", err, Skeleton(o))
		}
	}
}

// A file is read or refused, and what is read is JSON.
func FuzzReadExamples(f *testing.F) {
	f.Add([]byte("tools:\n  a: [{b: 1}]\nprompts: {p: [{q: r}]}\nresources: [a]"))
	f.Add([]byte("tools: &a\n  a: [*a]\n"))
	f.Add([]byte("tools:\n  a: &x [{b: [1, 2]}]\n  c: *x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := ReadExamples("f", text)
		if err != nil {
			return
		}
		for _, list := range e.Tools {
			for _, arguments := range list {
				var o map[string]any
				if err := json.Unmarshal(arguments, &o); err != nil {
					t.Fatalf("%q: %s: %v", text, arguments, err)
				}
			}
		}
	})
}
