package adapt

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/lint"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/vendors"
	"github.com/parley-mcp/parley/internal/wire"
)

// The tables name profiles that there are, and each profile has rules that this package
// knows how to follow.
func TestTables(t *testing.T) {
	follows := []string{"name", "property-name", "description-length", "root-keyword", "other-keyword", "root-properties", "array-items", "ref-siblings", "max-items-sum", "enum-empty-text", "required-undeclared"}
	for _, m := range modes {
		seen := map[string]bool{}
		for _, r := range vendors.Of(m.mode) {
			if !slices.Contains(follows, r.Construct) && r.Effect != "limited" || seen[r.Construct] {
				t.Errorf("%s: the profile does not follow it", r.ID)
			}
			seen[r.Construct] = true
		}
		if Named(m.profile) == nil || len(Named(m.profile).rules) == 0 {
			t.Errorf("%s has no rules", m.profile)
		}
	}
}

func tool(schema string) json.RawMessage {
	return json.RawMessage(`{"name":"a__b","description":"Does it.","inputSchema":` + schema + `,"x":1.0}`)
}

func TestAdapt(t *testing.T) {
	for _, c := range []struct{ profile, input, want string }{
		{"claude", `{"type":"object","properties":{"a":{"const":1.0}}}`, ""},
		{"claude", `{"type":"object","oneOf":[{"required":["a"],"properties":{"a":{"type":"string"}}},{"properties":{"b":{}}}],"x":1}`, `{"type":"object","x":1,"properties":{"a":{"type":"string"},"b":{}}}`},
		{"claude", `{"type":"object","allOf":[{"$ref":"#/$defs/p"}],"$defs":{"p":{"required":["a"],"properties":{"a":{"type":"string"}}}}}`, `{"type":"object","$defs":{"p":{"required":["a"],"properties":{"a":{"type":"string"}}}},"properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"claude", `{"type":"object","properties":{"a b":{},"c":{}},"additionalProperties":false}`, `{"type":"object","properties":{"c":{}}}`},
		{"claude", `{ "type" : "object", "properties": {"c": { "anyOf": [ {"x": 1} ] } } }`, ""},
		{"openai", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		{"openai", `{"type":"object","properties":{"a":{"type":"array"},"b":{"items":[{"type":"array","x":1e3}]}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"items":[{"type":"array","x":1e3,"items":{}}]}}}`},
		{"openai", `{"type":"object","properties":{},"not":{"required":["a"]}}`, `{"type":"object","properties":{}}`},
		{"gemini", `{"type":"object","properties":{"a":{"const":1.0},"b":{"type":"string","description":"B","minLength":3,"pattern":"^a"},"x-y":{"x-z":1}}}`, `{"type":"object","properties":{"a":{"enum":[1.0]},"b":{"type":"string","description":"B (at least 3 characters; matches the pattern \"^a\")"},"x-y":{"x-z":1}}}`},
		{"gemini", `{"type":"object","properties":{"a":{"$ref":"#/definitions/d","description":"A"}},"definitions":{"d":{"type":"string","enum":["","x"]}}}`, `{"type":"object","properties":{"a":{"description":"A","anyOf":[{"$ref":"#/$defs/d"}]}},"$defs":{"d":{"type":"string","enum":["x"],"description":"can also be an empty text"}}}`},
		{"gemini", `{"type":"object","required":["a"],"properties":{"b":{"type":"array","items":{},"maxItems":1000}}}`, `{"type":"object","required":["a"],"properties":{"b":{"type":"array","items":{},"description":"at most 1000 items"},"a":{}}}`},
	} {
		want := c.want
		if want == "" {
			want = c.input
		}
		got, unfit := Named(c.profile).Adapt(tool(c.input))
		if in := string(wire.Find(got, "inputSchema")); in != want || unfit != "" || string(wire.Find(got, "x")) != "1.0" {
			t.Errorf("%s\nis  %s %s\nnot %s", c.input, in, unfit, want)
		}
		if c.want == "" && string(got) != string(tool(c.input)) {
			t.Errorf("%s has become %s", tool(c.input), got)
		}
	}
}

// Words about arguments stand in the description of the tool, or of the schema where that
// has no room; what cannot be shown is said.
func TestWords(t *testing.T) {
	got, _ := Named("claude").Adapt(tool(`{"type":"object","anyOf":[{"required":["a"]}]}`))
	if text, _ := wire.Text(wire.Find(got, "description")); text != "Does it.\n\nArguments: fits at least one of the schemas [{\"required\":[\"a\"]}]." {
		t.Errorf("%q", text)
	}
	long := strings.Replace(string(tool(`{"type":"object","properties":{},"anyOf":[{"required":["a"]}]}`)), "Does it.", strings.Repeat("é", 1025), 1)
	got, _ = Named("openai").Adapt(json.RawMessage(long))
	if text, _ := wire.Text(wire.Find(got, "description")); text != strings.Repeat("é", 1023)+"…" {
		t.Errorf("%d bytes", len(text))
	}
	if text, _ := wire.Text(wire.Find(wire.Find(got, "inputSchema"), "description")); text != `fits at least one of the schemas [{"required":["a"]}]` {
		t.Errorf("%q", text)
	}
	for _, c := range []struct{ profile, tool string }{
		{"claude", `{"name":"a","inputSchema":{"type":"object","required":["a b"],"properties":{"a b":{}}}}`},
		{"gemini", `{"name":"3d__render","inputSchema":{"type":"object"}}`},
		{"openai", `{"name":"a.b","inputSchema":{"type":"object"}}`},
	} {
		if _, unfit := Named(c.profile).Adapt(json.RawMessage(c.tool)); unfit == "" {
			t.Errorf("%s fits %s", c.tool, c.profile)
		}
	}
	if got, unfit := (*Profile)(nil).Adapt(tool(`{}`)); unfit != "" || string(got) != string(tool(`{}`)) {
		t.Errorf("%s %s", got, unfit)
	}
}

// documents are the examples of what vendors refuse, and of what they take.
func documents(t *testing.T) (tools []json.RawMessage) {
	t.Helper()
	repeated := regexp.MustCompile(`«(.*?)\*(\d+)»`)
	for _, file := range []string{"openai.txt", "anthropic.txt", "gemini.txt", "schemas.txt"} {
		text, err := os.ReadFile("../../check/lint/testdata/rules/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			word, doc, _ := strings.Cut(strings.TrimSpace(line), " ")
			doc = repeated.ReplaceAllStringFunc(doc, func(s string) string {
				m := repeated.FindStringSubmatch(s)
				n, _ := strconv.Atoi(m[2])
				return strings.Repeat(m[1], n)
			})
			if (word == "bad" || word == "good") && len(doc) < 20_000 {
				var d struct {
					Tools []json.RawMessage `json:"tools"`
				}
				if json.Unmarshal([]byte(doc), &d) == nil {
					tools = append(tools, d.Tools...)
				}
			}
		}
	}
	return tools
}

// A tool that was adapted has nothing that its vendor refuses or ignores, and its schema
// accepts what the tool's own does.
func TestVendorsTakeIt(t *testing.T) {
	tools := documents(t)
	if len(tools) < 50 {
		t.Fatalf("there are only %d examples", len(tools))
	}
	adaptedOnes, checked := 0, 0
	for _, m := range modes {
		for _, raw := range tools {
			adapted, unfit := Named(m.profile).Adapt(raw)
			if unfit != "" {
				continue
			}
			r := lint.Run([]lint.Definitions{{Items: []lint.Item{{Kind: lint.Tool, Raw: adapted}}}}, &lint.Options{Vendors: []string{m.mode}})
			for _, f := range r.Findings {
				if vendor, _, _ := strings.Cut(m.mode, "/"); strings.HasPrefix(f.Rule, vendor+"/") && f.Rule != "gemini/recursion" {
					t.Errorf("%s: %s at %s: %s\nof %s\nis %s", f.Rule, f.Text, f.Pointer, m.profile, raw, adapted)
				}
			}
			if string(adapted) == string(raw) {
				continue
			}
			adaptedOnes++
			checked += accepts(t, raw, adapted)
		}
	}
	t.Logf("%d of %d were adapted; %d arguments were checked", adaptedOnes, len(modes)*len(tools), checked)
	if checked == 0 {
		t.Error("nothing was checked")
	}
}

// accepts sees that arguments of the one tool are arguments of the other.
func accepts(t *testing.T, raw, adapted json.RawMessage) (n int) {
	t.Helper()
	own, shown := wire.Find(raw, "inputSchema"), wire.Find(adapted, "inputSchema")
	compiled, err := schema.Compile(shown)
	if err != nil {
		if _, was := schema.Compile(own); was == nil {
			t.Errorf("%s is no schema: %v", shown, err)
		}
		return 0
	}
	maker, err := sample.New(own)
	if err != nil || maker.Mended() {
		return 0
	}
	for _, all := range []bool{true, false} {
		value, err := maker.Value(all)
		if err != nil {
			continue
		}
		empty := strings.Contains(string(shown), "can also be an empty text") // an enum cannot say it
		if err := compiled.Validate(value); err != nil && !empty {
			t.Errorf("%s fits %s, and not %s: %v", value, own, shown, err)
		}
		n++
	}
	return n
}

func FuzzAdapt(f *testing.F) {
	for _, s := range []string{`{"type":"object","oneOf":[{}]}`, `{"allOf":[true,{"properties":1}]}`, `{"properties":{"a":{"$ref":"#/x"}},"required":["b"]}`, `{"const":1,"enum":[""]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if wire.Unmarshal(input, new(json.RawMessage)) != nil {
			return
		}
		for _, name := range Names() {
			got, unfit := Named(name).Adapt(tool(string(input)))
			if unfit != "" {
				continue
			}
			if wire.Unmarshal(got, new(json.RawMessage)) != nil {
				t.Fatalf("%s: %s has become %s", name, input, got)
			}
		}
	})
}
