package approval

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// A person sees everything that is in arguments, and nothing that is not.
func TestShown(t *testing.T) {
	for doc, want := range map[string]string{
		`{}`:                                           `{}`,
		`{"n":1.00,"m":1e400,"l":[]}`:                  "{\n  \"n\": 1.00,\n  \"m\": 1e400,\n  \"l\": []\n}",
		`[true,null,{"a":"b"}]`:                        "[\n  true,\n  null,\n  {\n    \"a\": \"b\"\n  }\n]",
		`"\u0072\u006d -rf \/"`:                        `"rm -rf /"`,
		`"é 漢字 ✓ ı̇"`:                                  `"é 漢字 ✓ ı̇"`,
		"\"a\u202eb\u200bc\u00a0d\u2028e\"":            `"a\u202eb\u200bc\u00a0d\u2028e"`,
		"\"\u007f\u0085\U000e0041\ufeff\u3164\ufe0f\"": `"\u007f\u0085\udb40\udc41\ufeff\u3164\ufe0f"`,
		`"\n\t\u0000\"\\"`:                             `"\n\t\u0000\"\\"`,
		"{\"a\u202e\":1}":                              "{\n  \"a\\u202e\": 1\n}",
	} {
		if got := shown(json.RawMessage(doc), brief); got != want {
			t.Errorf("%s is shown as\n%s\nwant\n%s", doc, got, want)
		}
	}
}

// What is too long is cut, and says so, whatever is too long in it.
func TestCut(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for name, doc := range map[string]string{
		"text":     `{"a":"` + long + `","b":"seen"}`,
		"name":     `{"` + long + `":1}`,
		"number":   `[1` + strings.Repeat("0", 5000) + `]`,
		"elements": `[` + strings.Repeat("1,", 5000) + `1]`,
		"depth":    strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000),
	} {
		got := shown(json.RawMessage(doc), brief)
		if len(got) > 2*brief || !strings.Contains(got, "[cut: ") || !strings.Contains(got, "sha256:") {
			t.Errorf("%s: %d bytes: %.300s", name, len(got), got)
		}
		if name == "text" && (!strings.Contains(got, `"b": "seen"`) || !strings.Contains(got, "10000 bytes")) {
			t.Errorf("what comes after a long text is cut, too: %s", got)
		}
	}
	r := &Request{Method: mcp.MethodCallTool, Shown: "a__b", Subject: "b", Backend: "a", Arguments: json.RawMessage(`"` + long + `"`)}
	if len(r.Full()) < len(long) || len(r.Text()) > 2*brief {
		t.Errorf("the operator sees %d bytes, the client %d", len(r.Full()), len(r.Text()))
	}
}

// The names of tools and the reasons are as harmless as arguments.
func TestText(t *testing.T) {
	r := &Request{
		Method: mcp.MethodReadResource, Shown: "mcp:a:x\nArguments: none\u202e", Subject: "x", Backend: "a", Why: []string{"one\ntwo"},
		Extra: json.RawMessage(`{"force":true}`),
	}
	const want = `Do you approve this reading of a resource?

Resource: mcp:a:x\nArguments: none\u202e (x of a)
Why you are asked: one\ntwo
Arguments: none
And besides:
{
  "force": true
}`
	if got := r.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzShown shows any arguments: what is not cut means the same, and nothing is hidden.
func FuzzShown(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":null}],"c":1e400}`, `"\ud83d\ude00\u202e"`, `[[],{},""]`, `-0.0`, `{"":{"":[]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		before, err := wire.Canonical([]byte(doc))
		if err != nil {
			t.Skip()
		}
		got := shown(json.RawMessage(doc), brief)
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q has something at %d that cannot be seen", got, i)
		}
		if strings.Contains(got, "[cut: ") {
			return
		}
		if after, err := wire.Canonical([]byte(got)); err != nil || string(after) != string(before) {
			t.Errorf("%s is shown as %s, which means %s, error %v", doc, got, after, err)
		}
	})
}

// FuzzRequest identifies calls: by what they mean, and not by how it is written.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"name":"pay","arguments":{"a":1,"b":[2]}}`, `{"arguments":{"b":[2],"a":1},"name":"pay","_meta":{"x":1}}`},
		{`{"name":"pay","arguments":{"a":1}}`, `{"name":"pay","arguments":{"a":1.0}}`},
		{`{"name":"pay"}`, `{"name":"pay","force":true,"task":{}}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		identity := func(params string) (*Request, string) {
			if len(params) == 0 || params[0] != '{' {
				t.Skip()
			}
			bare, err := wire.Canonical([]byte(params)) // what reaches a guard is strict JSON
			if err == nil {
				bare, err = wire.Canonical(wire.Except(bare, besides...))
			}
			if err != nil {
				t.Skip()
			}
			r, err := newRequest(&guard.Operation{
				Exchange: &mcp.Exchange{}, Method: mcp.MethodNamed(mcp.MethodCallTool), Params: json.RawMessage(params),
			}, nil, AskBoth)
			if err != nil {
				t.Fatal(err)
			}
			return r, string(bare)
		}
		a, meantA := identity(one)
		b, meantB := identity(other)
		if (a.call == b.call) != (meantA == meantB) || (a.Digest == b.Digest) != (meantA == meantB) || a.tool != b.tool {
			t.Errorf("%s and %s: the same call: %t", one, other, a.call == b.call)
		}
	})
}

// FuzzState reads states that nobody has sealed: none of them is an approval.
func FuzzState(f *testing.F) {
	for _, seed := range []string{`{"approval":"x","state":{"parked":"y"}}`, `{"approval":""}`, `"text"`, `null`, `{"approval":1}`, `{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, state string) {
		x := &mcp.Exchange{State: json.RawMessage(state), Answers: map[string]json.RawMessage{
			questionKey + "abc": json.RawMessage(`{}`), "own": json.RawMessage(`{}`),
		}}
		name, behind := unwrap(x)
		if name == "" {
			if behind != x {
				t.Error("the exchange is another one")
			}
			return
		}
		if len(behind.Answers) != 1 || len(x.Answers) != 2 {
			t.Errorf("answers behind: %v", behind.Answers)
		}
		if _, err := NewDesk(nil).take(name, "key"); err == nil {
			t.Error("it is good for something")
		}
	})
}
