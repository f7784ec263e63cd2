package spec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// toolWith is a list with one tool, t, that has these members.
func toolWith(members string) string {
	return `{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}` + members + `}],"ttlMs":0,"cacheScope":"private"}`
}

// lister answers tools/list and tools/call.
func lister(list, call *string) *scripted {
	return &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		if m.Method == mcp.MethodListTools {
			s.result(m, *list)
			return
		}
		s.result(m, *call)
	}}
}

// Spec: 2026-07-28 server/tools#output-schema.
// Spec: 2026-07-28 basic#implementation-requirements.
// A structured result that does not fit the output schema of a tool that was
// listed is an error that still holds it, and so is one whose schema is in a
// dialect that is not supported.
func TestSpec2026OutputsAreValidated(t *testing.T) {
	const schema = `,"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	for _, tt := range []struct {
		name, tool, result, want string
		off                      bool
	}{
		{name: "fits", tool: schema, result: `{"content":[],"structuredContent":{"n":1}}`},
		{name: "wrong type", tool: schema, result: `{"content":[],"structuredContent":{"n":"1"}}`, want: "n"},
		{name: "absent", tool: schema, result: `{"content":[]}`, want: "no structuredContent"},
		{name: "failed", tool: schema, result: `{"content":[],"isError":true}`},
		{name: "turned off", tool: schema, result: `{"content":[],"structuredContent":5}`, off: true},
		{name: "no schema", tool: ``, result: `{"content":[],"structuredContent":5}`},
		{name: "not an object", tool: `,"outputSchema":{"type":"array","items":{"type":"string"}}`, result: `{"content":[],"structuredContent":["a",5]}`, want: "1"},
		{name: "unsupported dialect", tool: `,"outputSchema":{"$schema":"https://example.com/dialect","type":"object"}`, result: `{"content":[],"structuredContent":{}}`, want: `dialect "https://example.com/dialect"`},
		{name: "a pattern of JavaScript", tool: `,"outputSchema":{"type":"object","properties":{"mail":{"type":"string","pattern":"^(?!\\.)[a-z.]+@[a-z.]+$"}}}`, result: `{"content":[],"structuredContent":{"mail":"a@b.c"}}`},
		{name: "schema elsewhere", tool: `,"outputSchema":{"$ref":"https://example.com/schema"}`, result: `{"content":[],"structuredContent":{}}`, want: "https://example.com/schema"},
	} {
		list, result := toolWith(tt.tool), tt.result
		s := lister(&list, &result)
		c := connectScripted(t, s, &client.Options{NoOutputValidation: tt.off})
		_, err := c.CallTool(t.Context(), "t", nil)
		check(t, tt.name+", before the tool is listed", err)
		_, err = client.Collect(c.Tools(t.Context()))
		check(t, tt.name, err)
		for range 2 {
			_, err = c.CallTool(t.Context(), "t", nil)
			var mismatch *client.OutputError
			if tt.off && err == nil {
				raw, _ := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"t"}`))
				r := new(mcp.CallToolResult)
				check(t, "decode", json.Unmarshal(raw, r))
				if !errors.As(c.CheckOutput("t", r), &mismatch) {
					t.Errorf("%s: CheckOutput finds nothing wrong", tt.name)
				}
				continue
			}
			switch {
			case tt.want == "":
				check(t, tt.name, err)
			case !errors.As(err, &mismatch) || !strings.Contains(err.Error(), tt.want):
				t.Errorf("%s: error %v, want an *OutputError with %q", tt.name, err, tt.want)
			case mismatch.Tool != "t" || mismatch.Result == nil:
				t.Errorf("%s: the error holds %q and %v", tt.name, mismatch.Tool, mismatch.Result)
			}
		}
	}
}

// A tool that is listed again is judged by what it is then, and after its list has
// changed, it is not judged by what it was.
func TestSpec2026OutputsFollowTheList(t *testing.T) {
	list, result := toolWith(`,"outputSchema":{"type":"object","required":["a"]}`), `{"content":[],"structuredContent":{"b":1}}`
	s := lister(&list, &result)
	c := connectScripted(t, s, nil)
	call := func(why string, fits bool) {
		t.Helper()
		if _, err := c.CallTool(t.Context(), "t", nil); (err == nil) != fits {
			t.Errorf("%s: %v", why, err)
		}
	}
	_, err := c.ListTools(t.Context(), nil)
	check(t, "list", err)
	call("as listed", false)
	list = toolWith(`,"outputSchema":{"type":"object","required":["b"]}`)
	_, err = c.ListTools(t.Context(), nil)
	check(t, "list", err)
	call("as listed again", true)
	list = toolWith(`,"outputSchema":{"type":"object","required":["a"]}`)
	_, err = c.ListTools(t.Context(), nil)
	check(t, "list", err)
	call("as listed once more", false)
	s.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	call("after a change", true)
}

// Spec: 2026-07-28 basic#icons.
// The application gets no icon with a URI that nobody should fetch or open, and
// the log says that there was one.
func TestSpec2026UnsafeIcons(t *testing.T) {
	const icons = `[{"src":"https://example.com/a.png"},{"src":"javascript:alert(1)"},{"src":"file:///etc/passwd"},{"src":"ftp://example.com/a"},` +
		`{"src":"ws://example.com/a"},{"src":"app://open"},{"src":"http://example.com/a.png"},{"src":"data:image/png;base64,aGk="}]`
	const link = `{"type":"resource_link","uri":"x:a","name":"a","icons":` + icons + `}`
	s := &scripted{discovers: true, script: func(s *scripted, m *jsonrpc.Message) {
		s.result(m, map[string]string{
			mcp.MethodDiscover:      `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1","icons":` + icons + `}}}`,
			mcp.MethodListTools:     toolWith(`,"icons":` + icons),
			mcp.MethodListResources: `{"resources":[{"uri":"x:a","name":"a","icons":` + icons + `}]}`,
			mcp.MethodListTemplates: `{"resourceTemplates":[{"uriTemplate":"x:{a}","name":"a","icons":` + icons + `}]}`,
			mcp.MethodListPrompts:   `{"prompts":[{"name":"a","icons":` + icons + `}]}`,
			mcp.MethodCallTool:      `{"content":[` + link + `]}`,
			mcp.MethodGetPrompt:     `{"messages":[{"role":"user","content":` + link + `}]}`,
		}[m.Method])
	}}
	var log bytes.Buffer
	c, stop := connectTo(t, s, &client.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer stop()
	ctx := t.Context()
	for what, get := range map[string]func() ([]mcp.Icon, error){
		"server": func() ([]mcp.Icon, error) { return c.ServerInfo().Icons, nil },
		"tool": func() ([]mcp.Icon, error) {
			r, err := c.ListTools(ctx, nil)
			return r.Tools[0].Icons, err
		},
		"resource": func() ([]mcp.Icon, error) {
			r, err := c.ListResources(ctx, nil)
			return r.Resources[0].Icons, err
		},
		"template": func() ([]mcp.Icon, error) {
			r, err := c.ListResourceTemplates(ctx, nil)
			return r.ResourceTemplates[0].Icons, err
		},
		"prompt": func() ([]mcp.Icon, error) {
			r, err := c.ListPrompts(ctx, nil)
			return r.Prompts[0].Icons, err
		},
		"link in a result": func() ([]mcp.Icon, error) {
			r, err := c.CallTool(ctx, "t", nil)
			return r.Content[0].(*mcp.ResourceLink).Icons, err
		},
		"link in a prompt": func() ([]mcp.Icon, error) {
			r, err := c.GetPrompt(ctx, "a", nil)
			return r.Messages[0].Content.(*mcp.ResourceLink).Icons, err
		},
	} {
		log.Reset()
		got, err := get()
		if err != nil || len(got) != 2 || got[0].Src != "https://example.com/a.png" || !strings.HasPrefix(got[1].Src, "data:") {
			t.Errorf("%s: %v, %v", what, got, err)
		}
		if what != "server" && !strings.Contains(log.String(), "icons=6 first=javascript:alert(1)") {
			t.Errorf("%s: the log is %q", what, log.String())
		}
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// A tool that can only be called as a task is called as one, if the server runs tools as
// tasks, and not at all by a client that does without; any other is called plainly.
func TestSessionToolsThatAreTasks(t *testing.T) {
	for _, tt := range []struct {
		caps, support string
		task          bool
	}{
		{`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, "required", true},
		{`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, "optional", false},
		{`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, "forbidden", false},
		{`{"tools":{},"tasks":{"list":{}}}`, "required", false},
		{`{"tools":{}}`, "required", false},
	} {
		for _, without := range []bool{false, true} {
			f := &sessFake{}
			var calls []string
			f.on = sessOpens("2025-11-25", tt.caps, func(m *jsonrpc.Message, say func(string)) {
				result := toolWith(`,"execution":{"taskSupport":"` + tt.support + `"}`)
				switch m.Method {
				case mcp.MethodCallTool:
					calls = append(calls, string(m.Params))
					result = `{"content":[]}`
				case mcp.MethodListTools:
				default:
					return
				}
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
			})
			sessClient(t, f, &client.Options{NoTasks: without}, func(t *testing.T, c *client.Client) {
				tools, err := client.Collect(c.Tools(t.Context()))
				if err != nil || len(tools) != 1 || tools[0].Execution == nil || string(tools[0].Execution.TaskSupport) != tt.support {
					t.Fatalf("%v, %v", tools, err)
				}
				_, err = c.CallTool(t.Context(), "t", nil)
				switch refused := tt.task && without; {
				case errors.Is(err, client.ErrTaskRequired) != refused, err != nil && !refused, (len(calls) == 0) != refused:
					t.Errorf("%s with %s, without tasks %t: %v after %d calls", tt.support, tt.caps, without, err, len(calls))
				case !refused && strings.Contains(calls[0], `"task":{}`) != tt.task:
					t.Errorf("%s with %s: called with %s", tt.support, tt.caps, calls[0])
				}
			})
		}
	}
}

// Spec: 2025-11-25 basic#implementation-requirements.
// A tool whose schema is in a dialect that is not supported is listed, and the log
// names the dialect.
func TestSpec2026UnsupportedDialects(t *testing.T) {
	list, result := toolWith(`,"outputSchema":{"$schema":"https://example.com/theirs"}`), `{"content":[]}`
	var log bytes.Buffer
	c, stop := connectTo(t, lister(&list, &result), &client.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer stop()
	for dialect, supported := range map[string]bool{
		"https://example.com/theirs": false, "http://json-schema.org/draft-03/schema#": false,
		"https://json-schema.org/draft/2020-12/schema": true, "http://json-schema.org/draft-07/schema#": true,
	} {
		log.Reset()
		list = `{"tools":[{"name":"t","inputSchema":{"type":"object","$schema":"` + dialect + `"}}]}`
		tools, err := client.Collect(c.Tools(t.Context()))
		if err != nil || len(tools) != 1 || strings.Contains(log.String(), dialect) == supported {
			t.Errorf("%s: %d tools, %v; the log is %q", dialect, len(tools), err, log.String())
		}
		_, err = c.CallTool(t.Context(), "t", nil)
		check(t, dialect, err)
	}
}

// A list of tasks with null in it is malformed, not a crash.
func TestSessionListOfTasksWithNull(t *testing.T) {
	f := &sessFake{}
	f.on = sessOpens("2025-11-25", `{"tasks":{"list":{}}}`, func(m *jsonrpc.Message, say func(string)) {
		if m.Method == mcp.MethodListTasks {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tasks":[null]}}`, m.ID))
		}
	})
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		if _, err := client.Collect(c.Tasks(t.Context())); err == nil || !strings.Contains(err.Error(), "null") {
			t.Errorf("error = %v", err)
		}
	})
}
