package approval_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A human is asked about what rules are about, and what other guards demand one for.
func TestRules(t *testing.T) {
	yes, no := true, false
	for name, test := range map[string]struct {
		rules  []approval.Rule
		change func(op *guard.Operation)
		asked  bool
	}{
		"everything":               {rules: []approval.Rule{{}}, asked: true},
		"nothing":                  {rules: []approval.Rule{}},
		"by patterns":              {rules: []approval.Rule{{Backend: "sh*", Subject: "p?y", Principal: "a*", Method: "tools/*"}}, asked: true},
		"another backend":          {rules: []approval.Rule{{Backend: "files"}}},
		"another tool":             {rules: []approval.Rule{{Subject: "refund"}}},
		"another principal":        {rules: []approval.Rule{{Principal: "bob"}}},
		"another method":           {rules: []approval.Rule{{Method: "prompts/get"}}},
		"silent tools may destroy": {rules: []approval.Rule{{Destructive: &yes, OpenWorld: &yes, ReadOnly: &no, Idempotent: &no}}, asked: true},
		"one that reads": {rules: []approval.Rule{{Destructive: &yes}}, change: func(op *guard.Operation) {
			op.Definition.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true}
		}},
		"only tools have hints": {rules: []approval.Rule{{Destructive: &yes, Method: "*"}}, change: func(op *guard.Operation) {
			op.Method = mcp.MethodNamed(mcp.MethodGetPrompt)
		}},
		"tools only":  {rules: []approval.Rule{{}}, change: func(op *guard.Operation) { op.Method = mcp.MethodNamed(mcp.MethodReadResource) }},
		"also others": {rules: []approval.Rule{{Method: "*"}}, change: func(op *guard.Operation) { op.Method = mcp.MethodNamed(mcp.MethodReadResource) }, asked: true},
		"tasks":       {rules: []approval.Rule{{Method: "*"}}, change: func(op *guard.Operation) { op.Method = mcp.MethodNamed(mcp.MethodTaskResult) }},
		"a policy":    {rules: []approval.Rule{}, change: func(op *guard.Operation) { op.Demands = []string{"large sums"} }, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &back{text: accept("once")}
			op := paying(b, `{}`)
			if test.change != nil {
				test.change(op)
			}
			if newOffice(approval.Options{Rules: test.rules}, approval.Bounds{}).serve(t, op, ""); (b.asked > 0) != test.asked {
				t.Errorf("asked %d times", b.asked)
			}
		})
	}
}

// Of several rules, all are held: who decides must be one whom each of them lets decide.
func TestStricter(t *testing.T) {
	for _, test := range []struct {
		asks   []approval.Ask
		client bool
	}{
		{[]approval.Ask{""}, true},
		{[]approval.Ask{"", approval.AskClient}, true},
		{[]approval.Ask{approval.AskOperator, ""}, false},
		{[]approval.Ask{approval.AskClient, approval.AskOperator}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var rules []approval.Rule
			for i, ask := range test.asks {
				rules = append(rules, approval.Rule{Ask: ask, Why: string(rune('a' + i))})
			}
			o, b := newOffice(approval.Options{Rules: rules, Wait: time.Minute}, approval.Bounds{}), &back{text: accept("once")}
			want := "nobody answered"
			if test.client {
				want = ""
			}
			if o.serve(t, paying(b, `{}`), want); (b.asked > 0) != test.client {
				t.Errorf("%q: the client was asked %d times", test.asks, b.asked)
			}
		})
	}
}

// A rule that can be about nothing is a mistake.
func TestCheck(t *testing.T) {
	for method, want := range map[string]string{"": "", "tools/*": "", "resources/read": "", "tools/list": "tools/call, resources/read, prompts/get"} {
		err := (&approval.Rule{Method: method}).Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", method, err)
		}
	}
}

// What a policy permits only with a human is refused where none can be asked, and not done.
// A task was approved when it was made.
func TestDemandsOfOtherMethods(t *testing.T) {
	g := approval.New(approval.NewDesk(mcptest.Quiet()), approval.Options{})
	for method, refused := range map[string]bool{mcp.MethodSubscribe: true, mcp.MethodComplete: true, mcp.MethodGetTask: false} {
		op := &guard.Operation{
			Exchange: &mcp.Exchange{Method: method}, Method: mcp.MethodNamed(method),
			Backend: "shop", Subject: "a:b", Shown: "a:b", Demands: []string{"it spends money"},
		}
		var d done
		_, err := g.Serve(t.Context(), op, d.next)
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), "only with the approval of a human") || d != 0):
			t.Errorf("%s: done %d times, error %v", method, d, err)
		case !refused && (err != nil || d != 1):
			t.Errorf("%s: done %d times, error %v", method, d, err)
		}
	}
}
