package main

import (
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	p, err := parsePage("p.md", strings.Join([]string{
		"# One, `two`", "a [link](x.md#y) and `[none](z.md)`", "<!-- check: in func()", "type t int", "-->", "<!-- check: exits 1 2 -->",
		"```go", "x := 1", "```", "## One, `two`", "- item:", "", "  ```sh", "  ls", "  ```", "",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.blocks) != 2 || p.blocks[0].text != "x := 1\n" || p.blocks[0].line != 8 || p.blocks[1].text != "ls\n" || p.blocks[1].lang != "sh" {
		t.Errorf("blocks: %+v", p.blocks)
	}
	if d, ok := p.blocks[0].has("in"); !ok || d.arg != "func()" || d.body != "type t int\n" {
		t.Errorf("directive: %+v", d)
	}
	if len(p.links) != 1 || p.links[0].to != "x.md#y" {
		t.Errorf("links: %v", p.links)
	}
	if got := slugs(p.headings); len(got) != 2 || got[0] != "one-two" || got[1] != "one-two-1" {
		t.Errorf("anchors: %v", got)
	}
}

func TestPageMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"<!-- check: inn func() -->\n```go\n```\n": `"inn func()" is not one of`,
		"<!-- check: run -->\nno block\n":          "no block follows",
		"<!-- check: in func()\n":                  "this comment does not end",
		"```go\nx := 1\n":                          "this block does not end",
	} {
		if _, err := parsePage("p.md", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestSource(t *testing.T) {
	b := &block{lang: "go", line: 7, text: "c, err := client.Connect(ctx, transport, nil)\nif err != nil {\n\treturn err\n}\nfmt.Println(c)\n"}
	b.dirs = []directive{{verb: "in", arg: "func(ctx context.Context, transport mcp.Transport) error"}}
	src, err := makeSource(b, "p.md", known{"client": "x/client", "mcp": "x/mcp"}, "page")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\"x/client\"\n", "\"x/mcp\"\n", "\"fmt\"\n", "\"context\"\n", "//line p.md:7\n", "_ = &c\n", "panic("} {
		if !strings.Contains(src.text, want) {
			t.Errorf("no %q in\n%s", want, src.text)
		}
	}
	b.text = "x:=1\n"
	if _, err := makeSource(b, "p.md", nil, "page"); err == nil || !strings.Contains(err.Error(), "gofmt") {
		t.Errorf("error %v for what gofmt would change", err)
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		got, want string
		fits      bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\n", false},
		{"a\nb\nc\n", "a\n…\nc\n", true},
		{"took 12 ms\n", "took … ms\n", true},
		{"a\n12\n", "a\n…\n", true},
		{"a.b\n", "axb\n", false},
	} {
		if err := compare(test.got, test.want); (err == nil) != test.fits {
			t.Errorf("%q for %q: %v", test.got, test.want, err)
		}
	}
}

func TestServes(t *testing.T) {
	for line, want := range map[string]string{
		"parley serve --http :7331 &   # comment": "parley serve --http :7331",
		"parley gateway g.yaml --http :7331":      "parley gateway g.yaml --http :7331",
		"parley inspect -- parley serve --stdio":  "parley inspect -- parley serve --stdio",
		"parley gateway validate g.yaml":          "",
		"make && echo done":                       "",
		"parley inspect --help":                   "",
	} {
		if bare, is := serves(line); is != (want != "") || is && bare != want {
			t.Errorf("%q: %q, %v", line, bare, is)
		}
	}
}

func TestLocal(t *testing.T) {
	v := &visit{ports: map[string]string{"7331": "5"}, lets: []string{"npx x", "parley serve --stdio"}}
	if got := v.local("npx x --http :7331 http://127.0.0.1:7331/mcp 12:30"); got != "parley serve --stdio --http :5 http://127.0.0.1:5/mcp 12:30" {
		t.Error(got)
	}
}
