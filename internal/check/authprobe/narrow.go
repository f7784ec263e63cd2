package authprobe

import (
	"net/http"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/revision"
)

// What the endpoint says to a token with too few scopes.
var narrowProbes = []Probe{
	{
		Info: probe.Info{
			ID: "scopes/forbidden",
			Rows: []string{
				"26.basic.authorization.index-057", "2511.basic.authorization-068", "26.basic.authorization.index-059", "2511.basic.authorization-069",
			},
			Does:    "Lists features and calls tools that say that they only read, with a token of too few scopes.",
			Accepts: "403 where the scopes do not suffice.",
			Mend:    "Answer 403 if the token is good and its scopes are not enough.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsNarrow}, Run: forbids,
	},
	{
		Info: probe.Info{
			ID:      "scopes/error",
			Rows:    []string{"26.basic.authorization.index-060", "2511.basic.authorization-069"},
			Does:    "Looks at the challenge of the 403.",
			Accepts: `Bearer with error="insufficient_scope".`,
			Mend:    `Send WWW-Authenticate: Bearer error="insufficient_scope" with the 403.`,
			After:   []string{"scopes/forbidden"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsNarrow}, Run: saysInsufficient,
	},
	{
		Info: probe.Info{
			ID:      "scopes/named",
			Rows:    []string{"26.basic.authorization.index-061", "2511.basic.authorization-070"},
			Does:    "Looks at the challenge of the 403.",
			Accepts: "scope names what is needed.",
			Mend:    "Name the scopes that the operation needs in the parameter scope.",
			After:   []string{"scopes/forbidden", "scopes/error"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsNarrow}, Run: namesScopes,
	},
	{
		Info: probe.Info{
			ID:      "scopes/metadata",
			Rows:    []string{"26.basic.authorization.index-062", "2511.basic.authorization-069"},
			Does:    "Looks at the challenge of the 403.",
			Accepts: "resource_metadata, as with 401.",
			Mend:    "Name the metadata in the parameter resource_metadata.",
			After:   []string{"scopes/forbidden", "scopes/error"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsNarrow}, Run: namesMetadataAgain,
	},
	{
		Info: probe.Info{
			ID:      "scopes/same",
			Rows:    []string{"26.basic.authorization.index-064", "2511.basic.authorization-071"},
			Does:    "Repeats the operation that was forbidden.",
			Accepts: "The same scopes are asked for.",
			Mend:    "Ask for the same scopes for the same operation.",
			After:   []string{"scopes/forbidden", "scopes/named"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsNarrow}, Run: forbidsTheSame,
	},
	{
		Info: probe.Info{
			ID:      "scopes/at-once",
			Rows:    []string{"26.basic.authorization.index-063"},
			Does:    "Logs in for the scopes that the 403 asked for, with those of the first challenge, and repeats the operation.",
			Accepts: "It is not forbidden again.",
			Mend:    "Name all scopes that the operation needs in one challenge.",
			After:   []string{"scopes/forbidden", "scopes/named"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsNarrow, needsLogin}, Run: asksAtOnce,
	},
}

// operation is something that a token may be too narrow for.
type operation struct {
	out    func() *peer.Out
	answer *peer.Exchange
}

// forbidden tries what the narrow token may do, until something is refused.
func (x *X) forbidden() *operation {
	if x.narrow != nil {
		return x.narrow
	}
	x.narrow = &operation{}
	facts := revision.Default(nil, true)
	if e := x.Ask(Bearer(x.list(), x.opts.NarrowToken)); !took(e) && e.Status != http.StatusForbidden && x.open().id != "" {
		facts = revision.Default(nil, false) // it is no stateless server
	}
	message := func(method string, params map[string]any) func() *peer.Out {
		return func() *peer.Out {
			out := x.Message(facts, method, params)
			if name, ok := params["name"].(string); ok && facts.Stateless {
				out.Header.Set("Mcp-Name", name)
			}
			if !facts.Stateless {
				out = x.within(out)
			}
			return Bearer(out, x.opts.NarrowToken)
		}
	}
	var all []func() *peer.Out
	for _, method := range []string{"tools/list", "resources/list", "prompts/list"} {
		all = append(all, message(method, nil))
	}
	for _, name := range x.readers(all[0]()) {
		all = append(all, message("tools/call", map[string]any{"name": name, "arguments": map[string]any{}}))
	}
	for _, out := range all {
		e := x.Ask(out())
		c := bearer(e)
		if e.Status == http.StatusForbidden || c != nil && c.Get("error") == "insufficient_scope" {
			x.narrow = &operation{out, e}
			break
		}
	}
	return x.narrow
}

// readers are the names of tools that only read, ten at most.
func (x *X) readers(list *peer.Out) []string {
	if x.token() != "" {
		list = Bearer(list, x.token())
	}
	e := x.Ask(list)
	var names []string
	for _, m := range e.Messages {
		for _, v := range m.List("result/tools") {
			name, _ := peer.Get(v, "name")
			reads, _ := peer.Get(v, "annotations/readOnlyHint")
			if s, ok := name.(string); ok && reads == true && len(names) < 10 {
				names = append(names, s)
			}
		}
	}
	return names
}

// refused returns the refusal, or why there is none.
func (x *X) refused() (*peer.Exchange, probe.Finding) {
	if o := x.forbidden(); o.answer != nil {
		return o.answer, probe.Finding{}
	}
	return nil, probe.Unverified("nothing was refused for want of scopes: the token sufficed for the lists and for the tools that only read, or was not good")
}

// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func forbids(x *X) probe.Finding {
	e, f := x.refused()
	switch {
	case e == nil:
		return f
	case e.Status != http.StatusForbidden:
		return fault(e, "too few scopes are answered with %d instead of 403", e.Status)
	}
	return probe.Pass(Of(e)...)
}

// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func saysInsufficient(x *X) probe.Finding {
	e, f := x.refused()
	if e == nil {
		return f
	}
	if c := bearer(e); c == nil || c.Get("error") != "insufficient_scope" {
		return fault(e, `the 403 has no challenge Bearer with error="insufficient_scope"`)
	}
	return probe.Pass(Of(e)...)
}

// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func namesScopes(x *X) probe.Finding {
	e, f := x.refused()
	if e == nil {
		return f
	}
	if len(scopesOf(e)) == 0 {
		return fault(e, "the challenge of the 403 does not name the scopes that are needed")
	}
	return probe.Pass(Of(e)...)
}

// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func namesMetadataAgain(x *X) probe.Finding {
	e, f := x.refused()
	if e == nil {
		return f
	}
	if c := bearer(e); c == nil || c.Get("resource_metadata") == "" {
		return fault(e, "the challenge of the 403 does not name resource_metadata")
	}
	return probe.Pass(Of(e)...)
}

// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func forbidsTheSame(x *X) probe.Finding {
	e, f := x.refused()
	if e == nil {
		return f
	}
	again := x.Ask(x.narrow.out())
	if a, b := scopesOf(e), scopesOf(again); !slices.Equal(a, b) {
		return probe.Fail(Of(e, again), "the same operation is asked for %q and then for %q", strings.Join(a, " "), strings.Join(b, " "))
	}
	return probe.Pass(Of(e, again)...)
}

// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func asksAtOnce(x *X) probe.Finding {
	e, f := x.refused()
	if e == nil {
		return f
	}
	wanted := scopesOf(e)
	for _, s := range scopesOf(x.First) {
		if !slices.Contains(wanted, s) {
			wanted = append(wanted, s)
		}
	}
	l := x.login(wanted...)
	if l.why != "" {
		return probe.Unverified("the login for the scopes brought nothing: %s", l.why)
	}
	again := x.Ask(Bearer(x.narrow.out(), l.access))
	if again.Status == http.StatusForbidden && len(scopesOf(again)) > 0 && !hasAll(scopesOf(again), strings.Fields(text(l.values, "scope"))) {
		return probe.Fail(Of(e, again), "with the scopes that were asked for the operation needs %q as well", strings.Join(scopesOf(again), " "))
	}
	return probe.Pass(Of(again)...)
}

// hasAll reports whether scopes that are asked for were granted already, so that
// something else is wrong.
func hasAll(asked, granted []string) bool {
	return !slices.ContainsFunc(asked, func(s string) bool { return !slices.Contains(granted, s) })
}
