package serverprobe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// How much of an offer the survey uses.
const (
	mostPages     = 20
	mostTools     = 30
	mostResources = 10
	mostPrompts   = 10
	mostRounds    = 5 // of questions within a call
)

// offerTools lists the tools of the server, and chooses those to be called.
func (x *X) offerTools() {
	if x.Offer.Has("tools") {
		x.Offer.Tools = x.list("tools/list", "tools")
		x.choose()
	}
}

// survey lists what else the server offers, and uses a part of all, so that the
// probes that look have something to look at.
func (x *X) survey() {
	if x.Offer.Has("resources") {
		x.Offer.Resources = x.list("resources/list", "resources")
		x.Offer.Templates = x.list("resources/templates/list", "resourceTemplates")
	}
	if x.Offer.Has("prompts") {
		x.Offer.Prompts = x.list("prompts/list", "prompts")
	}
	over := x.overhear()
	defer over()
	for _, tool := range x.Offer.Callable[:min(mostTools, len(x.Offer.Callable))] {
		for _, arguments := range x.everyArguments(tool) {
			x.use(tool, arguments)
		}
	}
	x.review()
	x.complete()
	for _, uri := range append(x.readable(), x.expansions()...) {
		x.Finish("resources/read", map[string]any{"uri": uri})
	}
	for _, p := range x.Offer.Prompts[:min(mostPrompts, len(x.Offer.Prompts))] {
		if name, ok := p["name"].(string); ok {
			for _, arguments := range x.promptArguments(name, p) {
				x.Finish("prompts/get", map[string]any{"name": name, "arguments": arguments})
			}
		}
	}
}

// list asks for a list, page by page.
func (x *X) list(method, member string) []map[string]any {
	all, _, _ := x.Main.list(method, member)
	return all
}

// list asks for a list, page by page. It returns what could be had, the first
// page, and whether that is all.
func (c *Conn) list(method, member string) (all []map[string]any, first *peer.Message, whole bool) {
	params := map[string]any{}
	for range mostPages {
		r := c.Call(method, params)
		if r.Response == nil || !r.Response.IsResult() {
			return all, first, false
		}
		if first == nil {
			first = r.Response
		}
		for _, v := range r.Response.List("result/" + member) {
			if object, ok := v.(map[string]any); ok {
				all = append(all, object)
			}
		}
		next, ok := r.Response.Get("result/nextCursor")
		if !ok || next == nil || next == "" && !c.x.Facts.EmptyCursors {
			return all, first, true
		}
		params = map[string]any{"cursor": next}
	}
	c.x.Note(fmt.Sprintf("%s has more than %d pages: the rest was not looked at", method, mostPages))
	return all, first, true
}

// choose picks the tools that may be called.
func (x *X) choose() {
	var left []string
	for _, tool := range x.Offer.Tools {
		name, ok := tool["name"].(string)
		if !ok {
			continue
		}
		if !x.mayCall(tool, name) {
			left = append(left, name)
			continue
		}
		if x.common.has(x.common.slow, name) {
			continue
		}
		arguments, err := x.arguments(name, tool)
		if err != nil {
			x.Note(fmt.Sprintf("the tool %s was not called: %v (give arguments with --examples FILE)", name, err))
			continue
		}
		x.Offer.Callable = append(x.Offer.Callable, Callable{tool, name, arguments})
	}
	if len(left) > 0 {
		x.Note("not called, because they do not say that they only read: " + strings.Join(left, ", ") + " (allow them with --allow NAME or --allow-all)")
	}
}

func (x *X) mayCall(tool map[string]any, name string) bool {
	if x.opts.AllowAll || slices.Contains(x.opts.Allow, name) {
		return true
	}
	if !x.Facts.ToolAnnotations {
		return x.common.has(x.common.readers, name)
	}
	reads, _ := peer.Get(tool, "annotations/readOnlyHint")
	if reads == true {
		x.common.add(x.common.readers, name)
	}
	return reads == true
}

// Finish sends a request and, as long as a stateless server asks for input,
// sends it again with answers. It returns the last reply.
func (x *X) Finish(method string, params map[string]any) *peer.Reply {
	_ = x.renew() // a conversation that has ended says so again
	return x.Main.Finish(method, params)
}

// Finish is X.Finish in this conversation.
func (c *Conn) Finish(method string, params map[string]any) *peer.Reply {
	r := c.Call(method, params)
	for range mostRounds {
		if r.Response == nil || r.Response.Text("result/resultType") != "input_required" {
			return r
		}
		r = c.Call(method, c.Again(params, r.Response))
	}
	if r.Silent {
		c.giveUp(r)
	}
	return r
}

// giveUp cancels a request that was not answered in time: its handler may take as
// long as it likes. A tool that did is left alone from now on.
func (c *Conn) giveUp(r *peer.Reply) {
	if r.Sent == nil {
		return
	}
	if !c.x.Stateless || c.x.Transport == needsStdio {
		c.Notify(mcp.NoteCancelled, map[string]any{"requestId": r.Sent.ID, "reason": "no answer in time"})
	}
	if name := r.Sent.Text("params/name"); r.Sent.Method == mcp.MethodCallTool {
		c.x.common.add(c.x.common.slow, name)
		c.x.Offer.Callable = slices.DeleteFunc(slices.Clone(c.x.Offer.Callable), func(t Callable) bool { return t.Name == name })
		c.x.Note("the tool " + name + " did not answer in time: it was cancelled, and not called again (give it more with --patience)")
	}
}

// Again are the params of the next round: with the answers to what a server
// asked, and the state that it gave.
//
// Spec: 2026-07-28 basic/patterns/mrtr#request-flow.
func (c *Conn) Again(params map[string]any, asked *peer.Message) map[string]any {
	next := map[string]any{}
	maps.Copy(next, params)
	answers := map[string]any{}
	for key, v := range asked.Object("result/inputRequests") {
		request, _ := v.(map[string]any)
		method, _ := request["method"].(string)
		asking, _ := request["params"].(map[string]any)
		if result := answerTo(method, asking); result != nil {
			answers[key] = result
		}
	}
	next["inputResponses"] = answers
	if state, ok := asked.Get("result/requestState"); ok {
		next["requestState"] = state
	}
	return next
}
