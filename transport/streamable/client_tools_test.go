package streamable

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

const boundTool = `{"name":"t","inputSchema":{"type":"object","properties":{
	"s":{"type":"string","x-mcp-header":"S"},
	"i":{"type":"integer","x-mcp-header":"I"},
	"b":{"type":"boolean","x-mcp-header":"B"},
	"o":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"Deep"}}},
	"plain":{"type":"string"}}}}`

// param returns the Mcp-Param headers of a request.
func param(h http.Header) map[string]string {
	got := map[string]string{}
	for name, values := range h {
		if after, ok := strings.CutPrefix(name, "Mcp-Param-"); ok {
			got[after] = strings.Join(values, "|")
		}
	}
	return got
}

func TestMirroredParameters(t *testing.T) {
	var got map[string]string
	s := scripted(t, func(p *posted) {
		if p.Method == mcp.MethodListTools {
			p.result(`{"tools":[` + boundTool + `]}`)
			return
		}
		got = param(p.Header)
		p.result(`{}`)
	})
	conn := dial(t, s, Client{}, newEar())
	call := func(arguments string) map[string]string {
		t.Helper()
		if m, err := conn.RoundTrip(t.Context(), modern(2, mcp.MethodCallTool, `"name":"t",`+arguments)); err != nil {
			t.Fatal(outcome(m, err))
		}
		return got
	}
	if h := call(`"arguments":{"s":"x"},`); len(h) != 0 {
		t.Errorf("a tool that is not known has the headers %v", h)
	}
	before := json.RawMessage(`{"tools":[` + boundTool + `]}`)
	if m, err := conn.RoundTrip(t.Context(), modern(1, mcp.MethodListTools, "")); err != nil || string(m.Result) != string(before) {
		t.Errorf("the list came as %s", outcome(m, err))
	}
	tests := []struct {
		arguments string
		want      map[string]string
	}{
		{`"arguments":{"s":"us-west1","i":42,"b":true,"o":{"x":"y"},"plain":"z"},`, map[string]string{"S": "us-west1", "I": "42", "B": "true", "Deep": "y"}},
		{`"arguments":{"s":"Hello, 世界","i":-7,"b":false},`, map[string]string{"S": "=?base64?SGVsbG8sIOS4lueVjA==?=", "I": "-7", "B": "false"}},
		{`"arguments":{"s":"","i":9007199254740991},`, map[string]string{"S": "", "I": "9007199254740991"}},
		{`"arguments":{"i":"x","s":1e2},`, map[string]string{"I": "x", "S": "1e2"}},
		{`"arguments":{"i":42.0},`, map[string]string{"I": "42"}},
		{`"arguments":{"i":1e3},`, map[string]string{"I": "1000"}},
		{`"arguments":{"s":null,"i":null,"o":null},`, map[string]string{}},
		{`"arguments":{"s":"a\nb","o":{}},`, map[string]string{"S": "=?base64?YQpi?="}},
		{`"arguments":{"s":{"not":"a string"},"o":[1]},`, map[string]string{}},
		{`"arguments":{},`, map[string]string{}},
		{``, map[string]string{}},
	}
	for _, tt := range tests {
		if h := call(tt.arguments); fmt.Sprint(h) != fmt.Sprint(tt.want) {
			t.Errorf("%s has the headers %v, want %v", tt.arguments, h, tt.want)
		}
	}
}

// Spec: 2026-07-28 basic/transports/streamable-http#schema-extension.
func TestIntegersThatHeadersCannotHave(t *testing.T) {
	calls := 0
	s := scripted(t, func(p *posted) {
		if p.Method == mcp.MethodListTools {
			p.result(`{"tools":[` + boundTool + `]}`)
			return
		}
		calls++
		p.result(`{}`)
	})
	conn := dial(t, s, Client{}, newEar())
	if m, err := conn.RoundTrip(t.Context(), modern(1, mcp.MethodListTools, "")); err != nil {
		t.Fatal(outcome(m, err))
	}
	for _, i := range []string{"9007199254740992", "-9007199254740992", "1e400", "1e99999", "1.5"} {
		m, err := conn.RoundTrip(t.Context(), modern(2, mcp.MethodCallTool, `"name":"t","arguments":{"i":`+i+`},`))
		if err == nil || !strings.Contains(err.Error(), `argument "i" of tool "t" is mirrored in the header Mcp-Param-I`) {
			t.Errorf("%s: %s", i, outcome(m, err))
		}
	}
	if calls > 0 {
		t.Errorf("%d such calls were sent", calls)
	}
}

// A tool whose annotations are invalid is left out, with a warning that says which
// and why; the others stay unchanged.
func TestInvalidToolsAreLeftOut(t *testing.T) {
	tool := func(name, property string) string {
		return `{"name":"` + name + `","inputSchema":{"type":"object","properties":{` + property + `}},"x":1e400}`
	}
	good := tool("good", `"a":{"type":"string","x-mcp-header":"A"}`)
	s := scripted(t, func(p *posted) {
		p.result(`{"ttlMs":5,"tools":[` + strings.Join([]string{
			tool("bad", `"a":{"type":"number","x-mcp-header":"A"}`), good,
			tool("worse", `"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}`),
		}, ",") + `],"nextCursor":"c"}`)
	})
	var l log
	conn := dial(t, s, Client{Logger: slog.New(slog.NewTextHandler(&l, nil))}, newEar())
	if got, want := outcome(conn.RoundTrip(t.Context(), modern(1, mcp.MethodListTools, ""))), `{"ttlMs":5,"tools":[`+good+`],"nextCursor":"c"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, want := range []string{"tool=bad", "the type must be", "tool=worse", "is also at"} {
		if !strings.Contains(l.String(), want) {
			t.Errorf("the log does not say %q: %s", want, l.String())
		}
	}
	// In a session there are no such headers, and no rules for them.
	m, err := conn.RoundTrip(t.Context(), request(2, mcp.MethodListTools, ""))
	if got := outcome(m, err); strings.Count(got, `"name"`) != 3 {
		t.Errorf("in a session: %s", got)
	}
}

const refusedHeaders = `"error":{"code":-32020,"message":"Header mismatch"}`

// A call that is refused because of its headers is repeated once, with the headers
// that the current tools require.
func TestHeaderMismatch(t *testing.T) {
	var seen []string
	s := scripted(t, func(p *posted) {
		var params struct {
			Cursor *string                    `json:"cursor"`
			Meta   map[string]json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal(p.Params, &params); err != nil {
			t.Error(err)
		}
		switch {
		case p.Method == mcp.MethodListTools && params.Cursor == nil:
			if params.Meta["progressToken"] != nil || params.Meta[mcp.MetaClientInfo] == nil {
				t.Errorf("the list was asked for with %s", p.Params)
			}
			seen = append(seen, "list")
			p.result(`{"tools":[],"nextCursor":""}`)
		case p.Method == mcp.MethodListTools:
			seen = append(seen, "list "+*params.Cursor)
			p.result(`{"tools":[` + boundTool + `]}`)
		case p.Header.Get("Mcp-Param-S") != "x":
			seen = append(seen, "refused "+string(p.ID))
			p.object(400, refusedHeaders)
		default:
			seen = append(seen, "served "+string(p.Params))
			p.result(`{"ok":true}`)
		}
	})
	conn := dial(t, s, Client{}, newEar())
	m := request(7, mcp.MethodCallTool, `{"name":"t","arguments":{"s":"x"},`+strings.Replace(versionMeta, `{`, `{"progressToken":3,`, 1)+`}`)
	answer, err := conn.RoundTrip(t.Context(), m)
	if got := outcome(answer, err); got != `{"ok":true}` || answer.ID != m.ID {
		t.Fatalf("got %s", got)
	}
	if want := []string{"refused 7", "list", "list ", "served " + string(m.Params)}; !slices.Equal(seen, want) {
		t.Errorf("the server saw %q, want %q", seen, want)
	}
}

// A second refusal is the answer, and so is the first if the tools cannot be listed.
func TestHeaderMismatchForGood(t *testing.T) {
	for name, list := range map[string]func(p *posted){
		"no use":  func(p *posted) { p.result(`{"tools":[` + boundTool + `]}`) },
		"no list": func(p *posted) { p.object(404, `"error":{"code":-32601,"message":"no"}`) },
		"broken":  func(p *posted) { p.w.WriteHeader(502) },
	} {
		t.Run(name, func(t *testing.T) {
			ids := map[string]bool{}
			calls := 0
			s := scripted(t, func(p *posted) {
				if ids[string(p.ID)] {
					t.Errorf("the ID %s was used twice", p.ID)
				}
				ids[string(p.ID)] = true
				if p.Method == mcp.MethodListTools {
					list(p)
					return
				}
				calls++
				p.object(400, refusedHeaders)
			})
			conn := dial(t, s, Client{}, newEar())
			m, err := conn.RoundTrip(t.Context(), modern(1, mcp.MethodCallTool, `"name":"t",`))
			if got := outcome(m, err); got != "-32020 Header mismatch" {
				t.Errorf("got %s", got)
			}
			if want := map[bool]int{true: 2, false: 1}[name == "no use"]; calls != want {
				t.Errorf("called %d times, want %d", calls, want)
			}
		})
	}
}
