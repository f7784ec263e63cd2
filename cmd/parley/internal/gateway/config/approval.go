package config

import (
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
)

// Approval says what a human must approve.
type Approval struct {
	Rules  []approval.Rule
	Ask    approval.Ask
	Wait   time.Duration
	Bounds approval.Bounds
}

func (a *Approval) keys() []key {
	return []key{
		{
			name: "rules", value: list[approval.Rule]{&a.Rules, func(into *approval.Rule) value { return checked{object{&demand{into}}, into.Check} }, 0}, example: `[{destructive: true}, {backend: shop, subject: "pay*", why: "it spends money"}]`,
			doc: "What needs it, besides what a policy with the annotation @approval permits. One rule that matches is enough.",
		},
		{
			name: "ask", value: asked(&a.Ask, approval.AskBoth),
			doc: `Who is asked: the person at the client, if it can ask one (elicitation); the operator of the gateway, by "parley gateway approvals"; or both, of whom the first who decides does.`,
		},
		{name: "wait", value: period{&a.Wait, 5 * time.Minute, time.Second, 24 * time.Hour}, doc: "How long is waited for an answer. Then the operation is denied. The person at a client has 15 minutes at most."},
		{
			name: "max_time", value: period{&a.Bounds.MaxTime, time.Hour, 0, maxTime},
			doc: "For how long people can approve something at most, so that they are not asked again; 0 is for one call only.",
		},
		{
			name: "tool_wide", value: boolean{&a.Bounds.ToolWide},
			doc: "Let people approve a tool with any arguments for a time, too, and not only with those that they have seen.",
		},
		{name: "max_waiting", value: number{&a.Bounds.MaxWaiting, 100, 1, 10_000}, doc: "How many operations may wait for a human. No principal has more than a quarter of them."},
	}
}

// Approvals says what a human must approve. Where the file does not say, it is what policies
// demand.
func (g *Guards) Approvals() *Approval {
	if g.Approval != nil {
		return g.Approval
	}
	a := new(Approval)
	object{a}.preset()
	return a
}

// asked is who is asked. The first of the words holds without the key.
func asked(into *approval.Ask, first approval.Ask) value {
	options := []option[approval.Ask]{{string(approval.AskBoth), approval.AskBoth}, {string(approval.AskClient), approval.AskClient}, {string(approval.AskOperator), approval.AskOperator}}
	if first == "" {
		return optional[approval.Ask]{choice[approval.Ask]{into, options}}
	}
	return choice[approval.Ask]{into, options}
}

// optional is a choice that need not be made.
type optional[T comparable] struct{ choice[T] }

func (v optional[T]) preset()          { *v.into = *new(T) }
func (v optional[T]) fallback() string { return "" }

// demand is the section of a rule of approvals.
type demand struct{ *approval.Rule }

func (d *demand) keys() []key {
	hint := func(into **bool) value { return maybe[bool]{into, func(into *bool) value { return boolean{into} }} }
	return []key{
		{name: "backend", value: word{&d.Backend, notEmpty}, example: "shop", doc: "A pattern of the backends that it is about."},
		{name: "subject", value: word{&d.Subject, notEmpty}, example: `"pay*"`, doc: "A pattern of the tools, prompts or URIs that it is about, as the backend names them."},
		{name: "method", value: word{&d.Method, notEmpty}, example: "resources/read", doc: "A pattern of the methods that it is about; without the key, it is about tools/call."},
		{name: "principal", value: word{&d.Principal, notEmpty}, example: `"*@example.com"`, doc: `A pattern of those that it is about: users by the subject of their token, and programs as "client ID".`},
		{name: "destructive", value: hint(&d.Destructive), example: "true", doc: "Only tools that say that they may destroy something, as those do that say nothing; or only others."},
		{name: "read_only", value: hint(&d.ReadOnly), example: "false", doc: "Only tools that say that they change nothing; or only others."},
		{name: "idempotent", value: hint(&d.Idempotent), example: "false", doc: "Only tools that say that it makes no difference how often they are called; or only others."},
		{name: "open_world", value: hint(&d.OpenWorld), example: "true", doc: "Only tools that deal with the world outside of their servers; or only others."},
		{name: "why", value: word{&d.Why, notEmpty}, example: `"it spends money"`, doc: "What those are told who are asked."},
		{name: "ask", value: asked(&d.Ask, ""), example: "operator", doc: "Who is asked, if not whom approval.ask says."},
	}
}
