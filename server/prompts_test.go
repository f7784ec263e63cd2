package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

type review struct {
	Code     string  `json:"code" title:"Code" description:"What to review"`
	Language string  `json:"language,omitempty" enum:"go, rust, python"`
	Depth    int     `json:"depth" default:"2"`
	Strict   *bool   `json:"strict"`
	Weight   float32 `json:"weight,omitzero"`
}

func userText(text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text(text))}}
}

func reviewPrompt(_ context.Context, _ *Call, in review) (*mcp.GetPromptResult, error) {
	strict := "unset"
	if in.Strict != nil {
		strict = fmt.Sprint(*in.Strict)
	}
	return userText(fmt.Sprintf("%s|%s|%d|%s|%g", in.Code, in.Language, in.Depth, strict, in.Weight)), nil
}

func getPrompt(t *testing.T, s *Server, name, args string) string {
	t.Helper()
	return serve(t, s, mcp.MethodGetPrompt, `{"name":"`+name+`","arguments":`+args+`}`)
}

func TestTypedPrompt(t *testing.T) {
	s, _ := newServer(Options{})
	AddPrompt(s, mcp.Prompt{Name: "review"}, reviewPrompt)
	same(t, serve(t, s, mcp.MethodListPrompts, ""), `{"prompts":[{"name":"review","arguments":[`+
		`{"name":"code","title":"Code","description":"What to review","required":true},`+
		`{"name":"language"},{"name":"depth"},{"name":"strict"},{"name":"weight"}]}]}`)
	text := func(s string) string {
		return `{"messages":[{"role":"user","content":{"type":"text","text":"` + s + `"}}]}`
	}
	for _, c := range []struct{ args, want string }{
		{`{"code":"x"}`, text("x||2|unset|0")},
		{`{"code":"","language":"go","depth":"-7","strict":"false","weight":"1.5"}`, text("|go|-7|false|1.5")},
		{`{}`, `error: prompt "review": missing required argument "code"`},
		{`null`, `error: prompt "review": missing required argument "code"`},
		{`{"code":"x","lang":"go"}`, `error: prompt "review": unknown argument "lang"; known are: "code", "language", "depth", "strict", "weight"`},
		{`{"code":"x","language":"c"}`, `error: argument "language" of prompt "review": "c" is not one of "go", "rust", "python"`},
		{`{"code":"x","depth":"two"}`, `error: argument "depth" of prompt "review": "two" is not an integer of the size wanted`},
		{`{"code":"x","strict":"yes"}`, `error: argument "strict" of prompt "review": "yes" is not one of "true", "false"`},
		{`{"code":"x","weight":"NaN"}`, `error: argument "weight" of prompt "review": "NaN" is not a number of the size wanted`},
		{`{"code":1}`, `error: params of prompts/get: arguments.code: unexpected number`},
	} {
		same(t, getPrompt(t, s, "review", c.args), c.want)
	}
	same(t, getPrompt(t, s, "other", `{}`), `error: unknown prompt: "other"`)
}

func TestRawPrompt(t *testing.T) {
	s, _ := newServer(Options{})
	result, fail := userText("hi"), error(nil)
	s.AddRawPrompt(mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "a", Required: true}, {Name: "b"}}},
		func(_ context.Context, c *Call, args map[string]string) (*mcp.GetPromptResult, error) {
			if args["b"] != "" {
				return result, c.SetResultMeta("b", args["b"])
			}
			return result, fail
		})
	same(t, getPrompt(t, s, "p", `{"a":"1"}`), `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`)
	same(t, getPrompt(t, s, "p", `{"a":"1","b":"2"}`), `{"_meta":{"b":"2"},"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`)
	same(t, getPrompt(t, s, "p", `{"b":"1"}`), `error: prompt "p": missing required argument "a"`)
	result = &mcp.GetPromptResult{}
	same(t, getPrompt(t, s, "p", `{"a":"1"}`), `{"messages":[]}`)
	for _, bad := range []*mcp.GetPromptResult{nil, {Messages: []*mcp.PromptMessage{nil}}, {Messages: []*mcp.PromptMessage{{Role: "user"}}}, {Messages: []*mcp.PromptMessage{{Content: mcp.Text("")}}}} {
		result = bad
		same(t, getPrompt(t, s, "p", `{"a":"1"}`), `error: internal error (-32603)`)
	}
	fail = errors.New("secret")
	same(t, getPrompt(t, s, "p", `{"a":"1"}`), `error: internal error (-32603)`)
	fail = &DeclinedError{"k", ErrDeclined}
	same(t, getPrompt(t, s, "p", `{"a":"1"}`), `error: the user declined: "k" (-32603)`)
	s.RemovePrompts("p")
	same(t, serve(t, s, mcp.MethodListPrompts, ""), `{"prompts":[]}`)
}

func TestPromptRegistrationErrors(t *testing.T) {
	s, _ := newServer(Options{})
	raw := func(context.Context, *Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil }
	for _, c := range []struct {
		err  error
		want string
	}{
		{s.TryAddRawPrompt(mcp.Prompt{}, raw), "without a name"},
		{s.TryAddRawPrompt(mcp.Prompt{Name: "p"}, nil), "no handler"},
		{s.TryAddRawPrompt(mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{}}}, raw), "need names"},
		{s.TryAddRawPrompt(mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "a"}, {Name: "a"}}}, raw), "need names"},
		{TryAddPrompt(s, mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{}}, reviewPrompt), "inferred"},
		{TryAddPrompt(s, mcp.Prompt{Name: "p"}, func(context.Context, *Call, struct {
			N string `enums:"a,b"`
		},
		) (*mcp.GetPromptResult, error) {
			return nil, nil
		}), `there is no tag "enums"; the nearest is "enum"`},
		{TryAddPrompt(s, mcp.Prompt{Name: "p"}, func(context.Context, *Call, struct{ L []string }) (*mcp.GetPromptResult, error) { return nil, nil }), "no list"},
		{TryAddPrompt(s, mcp.Prompt{Name: "p"}, func(context.Context, *Call, struct{ M map[string]int }) (*mcp.GetPromptResult, error) {
			return nil, nil
		}), "cannot be converted"},
		{TryAddPrompt(s, mcp.Prompt{Name: "p"}, func(context.Context, *Call, struct {
			N int `default:"x"`
		},
		) (*mcp.GetPromptResult, error) {
			return nil, nil
		}), "not an integer"},
		{TryAddPrompt(s, mcp.Prompt{Name: "p"}, func(context.Context, *Call, struct {
			A string
			B string `json:"A"`
		},
		) (*mcp.GetPromptResult, error) {
			return nil, nil
		}), "another field"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
}

func complete(t *testing.T, s *Server, ref, argument, value string) string {
	t.Helper()
	return serve(t, s, mcp.MethodComplete, `{"ref":`+ref+`,"argument":{"name":"`+argument+`","value":"`+value+`"},"context":{"arguments":{"o":"p"}}}`)
}

func TestCompletion(t *testing.T) {
	s, _ := newServer(Options{})
	AddPrompt(s, mcp.Prompt{Name: "review"}, reviewPrompt)
	AddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:{a}/{b}", Name: "x"},
		func(context.Context, *Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
			return nil, nil
		})
	s.AddResource(mcp.Resource{URI: "x:r", Name: "r"}, readText(""))
	s.CompleteTemplate("x:{a}/{b}", "a", func(_ context.Context, c *Call, what Completing) (mcp.Completion, error) {
		return mcp.Completion{Values: []string{what.Argument, what.Prefix, what.Context["o"]}}, c.SetResultMeta("k", 1)
	})
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprint("v", i)
	}
	s.CompletePrompt("review", "code", CompleteFrom(many...))
	const prompt, tmpl = `{"type":"ref/prompt","name":"review"}`, `{"type":"ref/resource","uri":"x:{a}/{b}"}`
	for _, c := range []struct{ ref, arg, value, want string }{
		{prompt, "language", "", `{"completion":{"values":["go","rust","python"]}}`},
		{prompt, "language", "O", `{"completion":{"values":["go","python"]}}`},
		{prompt, "language", "PTN", `{"completion":{"values":["python"]}}`},
		{prompt, "language", "ppython", `{"completion":{"values":[]}}`},
		{prompt, "language", "RU", `{"completion":{"values":["rust"]}}`},
		{prompt, "strict", "t", `{"completion":{"values":["true"]}}`},
		{prompt, "depth", "1", `{"completion":{"values":[]}}`},
		{prompt, "nope", "", `error: ref/prompt "review": unknown argument "nope"; known are: "code", "language", "depth", "strict", "weight"`},
		{`{"type":"ref/prompt","name":"other"}`, "a", "", `error: unknown ref/prompt: "other"`},
		{tmpl, "a", "1", `{"_meta":{"k":1},"completion":{"values":["a","1","p"]}}`},
		{tmpl, "b", "1", `{"completion":{"values":[]}}`},
		{`{"type":"ref/resource","uri":"x:r"}`, "b", "1", `{"completion":{"values":[]}}`},
		{`{"type":"ref/resource","uri":"x:s"}`, "b", "1", `error: unknown ref/resource: "x:s"`},
		{`{"type":"ref/tool","name":"x"}`, "b", "1", `error: unknown type of reference "ref/tool"`},
	} {
		same(t, complete(t, s, c.ref, c.arg, c.value), c.want)
	}
	// Spec: 2026-07-28 server/utilities/completion#error-handling.
	for _, params := range []string{
		``, `{}`, `{"ref":` + prompt + `}`, `{"argument":{"name":"language","value":""}}`, `{"ref":{},"argument":{"name":"language","value":""}}`,
		`{"ref":` + prompt + `,"argument":{}}`, `{"ref":` + prompt + `,"argument":{"value":""}}`,
		`{"ref":` + prompt + `,"argument":{"name":"language"}}`, `{"ref":` + prompt + `,"argument":{"name":"language","value":null}}`,
	} {
		same(t, serve(t, s, mcp.MethodComplete, params), `error: params of completion/complete must have "ref" with a type and "argument" with a name and a value`)
	}
	got := complete(t, s, prompt, "code", "v")
	if !strings.HasSuffix(got, `"v99"],"total":150,"hasMore":true}}`) {
		t.Errorf("not cut: %s", got)
	}
	if message := mustPanic(t, func() { s.CompletePrompt("review", "x", CompleteFrom()) }); !strings.Contains(message, `no argument "x"`) {
		t.Error(message)
	}
	mustPanic(t, func() { s.CompletePrompt("review", "code", nil) })
	mustPanic(t, func() { s.CompleteTemplate("y:{a}", "a", CompleteFrom()) })
}

// Completions from a typed prompt follow the prompt; those set by hand stay.
func TestChoicesFollowThePrompt(t *testing.T) {
	s, _ := newServer(Options{})
	get := func(context.Context, *Call, map[string]string) (*mcp.GetPromptResult, error) {
		return userText(""), nil
	}
	AddPrompt(s, mcp.Prompt{Name: "review"}, reviewPrompt)
	s.CompletePrompt("review", "strict", CompleteFrom("maybe"))
	s.AddRawPrompt(mcp.Prompt{Name: "review", Arguments: []*mcp.PromptArgument{{Name: "language"}, {Name: "strict"}}}, get)
	const ref = `{"type":"ref/prompt","name":"review"}`
	same(t, complete(t, s, ref, "language", ""), `{"completion":{"values":[]}}`)
	same(t, complete(t, s, ref, "strict", ""), `{"completion":{"values":["maybe"]}}`)
	s.RemovePrompts("review")
	s.AddRawPrompt(mcp.Prompt{Name: "review", Arguments: []*mcp.PromptArgument{{Name: "strict"}}}, get)
	same(t, complete(t, s, ref, "strict", ""), `{"completion":{"values":[]}}`)
}

func FuzzPromptArguments(f *testing.F) {
	s, _ := newServer(Options{})
	AddPrompt(s, mcp.Prompt{Name: "review"}, reviewPrompt)
	f.Add(`{"name":"review","arguments":{"code":"x","depth":"3"}}`)
	f.Add(`{"name":"review","arguments":{"code":"x","weight":"1e400","strict":"1"}}`)
	f.Add(`{"name":"review","arguments":[]}`)
	f.Fuzz(func(t *testing.T, params string) {
		_, err := s.Serve(t.Context(), request(mcp.MethodGetPrompt, params))
		var invalid *mcp.InvalidParamsError
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%s: %v", params, err)
		}
	})
}

// Spec: 2026-07-28 server/utilities/completion#implementation-considerations (1).
func TestCompleteFrom(t *testing.T) {
	complete := CompleteFrom("Hong Kong", "Oslo", "Zürich", "Kampala", "Angkor", "Oklahoma")
	for typed, want := range map[string]string{
		"":     "[Hong Kong Oslo Zürich Kampala Angkor Oklahoma]",
		"k":    "[Kampala Hong Kong Angkor Oklahoma]", // starting with it, then containing it
		"ok":   "[Oklahoma Hong Kong]",                // then the letters in this order
		"OL":   "[Oslo Oklahoma]",
		"zrch": "[Zürich]",
		"ür":   "[Zürich]",
		"aaaa": "[]",
		"olso": "[]",
	} {
		got, err := complete(t.Context(), nil, Completing{Prefix: typed})
		if err != nil || fmt.Sprint(got.Values) != want {
			t.Errorf("%q completes to %v, %v; want %s", typed, got.Values, err, want)
		}
	}
}
