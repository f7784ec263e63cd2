package serverprobe

import (
	"strconv"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// part is a value within a message that came.
type part struct {
	m  *peer.Message
	at string // its JSON pointer
	v  any
}

func (p part) get(path string) (any, bool) { return peer.Get(p.v, path) }

func (p part) has(name string) bool {
	_, ok := p.get(name)
	return ok
}

func (p part) text(path string) string {
	v, _ := p.get(path)
	s, _ := v.(string)
	return s
}

// member returns a member as a part of its own.
func (p part) member(name string) (part, bool) {
	v, ok := p.get(pointer(name))
	return part{p.m, p.at + "/" + pointer(name), v}, ok
}

// items returns the elements of an array below p.
func (p part) items(path string) []part {
	v, _ := p.get(path)
	list, _ := v.([]any)
	var all []part
	for n, item := range list {
		all = append(all, part{p.m, p.at + "/" + path + "/" + strconv.Itoa(n), item})
	}
	return all
}

// fault says of a part that it breaks the rule.
func (p part) fault(w *probe.Watch, format string, args ...any) { w.Fault(p.m, p.at, format, args...) }

// listing is a kind of list that servers have.
type listing struct {
	method, member string // the member of the result that holds the entries
	key            string // the member that tells entries apart
	capability     string
	what           string // an entry, in words
}

// The lists.
var (
	toolList     = listing{mcp.MethodListTools, "tools", "name", "tools", "tool"}
	resourceList = listing{mcp.MethodListResources, "resources", "uri", "resources", "resource"}
	templateList = listing{mcp.MethodListTemplates, "resourceTemplates", "uriTemplate", "resources", "template"}
	promptList   = listing{mcp.MethodListPrompts, "prompts", "name", "prompts", "prompt"}
)

func lists() []listing { return []listing{toolList, resourceList, templateList, promptList} }

// complete reports whether a message is a result that is no question and no task.
func complete(m *peer.Message) bool {
	kind, ok := m.Get("result/resultType")
	return m.IsResult() && (!ok || kind == "complete") && !peerHas(m, "result/task")
}

func peerHas(m *peer.Message, path string) bool {
	_, ok := m.Get(path)
	return ok
}

// results returns the whole results of a method, as parts.
func (x *X) results(method string) []part {
	var all []part
	for _, a := range x.Results(method) {
		if complete(a.Response) && !x.excused[a.Response] {
			v, _ := a.Response.Get("result")
			all = append(all, part{a.Response, "/result", v})
		}
	}
	return all
}

// entries returns the elements of all lists that came.
func (x *X) entries(l listing) []part {
	var all []part
	for _, r := range x.results(l.method) {
		all = append(all, r.items(l.member)...)
	}
	return all
}

// blocksOfTools returns the blocks of content in results of tools.
func (x *X) blocksOfTools() []part {
	var all []part
	for _, r := range x.results(mcp.MethodCallTool) {
		all = append(all, r.items("content")...)
	}
	return all
}

// messagesOfPrompts returns the messages of prompts.
func (x *X) messagesOfPrompts() []part {
	var all []part
	for _, r := range x.results(mcp.MethodGetPrompt) {
		all = append(all, r.items("messages")...)
	}
	return all
}

// blocksOfPrompts returns the content of messages of prompts.
func (x *X) blocksOfPrompts() []part {
	var all []part
	for _, m := range x.messagesOfPrompts() {
		if block, ok := m.member("content"); ok {
			all = append(all, block)
		}
	}
	return all
}

// blocks returns all blocks of content.
func (x *X) blocks() []part { return append(x.blocksOfTools(), x.blocksOfPrompts()...) }

// ofType returns the parts that are of a type.
func ofType(parts []part, name string) []part {
	var all []part
	for _, p := range parts {
		if p.text("type") == name {
			all = append(all, p)
		}
	}
	return all
}

// embedded returns the resources within blocks.
func embedded(blocks []part) []part {
	var all []part
	for _, b := range ofType(blocks, "resource") {
		if r, ok := b.member("resource"); ok {
			all = append(all, r)
		}
	}
	return all
}

// contents returns what reading resources gave.
func (x *X) contents() []part {
	var all []part
	for _, r := range x.results(mcp.MethodReadResource) {
		all = append(all, r.items("contents")...)
	}
	return all
}

// walks returns the pages of lists that were followed from the first one on.
func (x *X) walks(l listing) [][]part {
	answers := x.Results(l.method)
	var all [][]part
	for n, a := range answers {
		if cursor, ok := a.Request.Get("params/cursor"); ok && cursor != nil {
			continue
		}
		walk := []part{pageOf(a)}
		for _, next := range answers[n+1:] {
			last := walk[len(walk)-1]
			cursor, ok := last.get("nextCursor")
			asked, _ := next.Request.Get("params/cursor")
			if ok && next.Request.Conn == last.m.Conn && asked != nil && same(asked, cursor) && next.Request.Number > last.m.Number {
				walk = append(walk, pageOf(next))
			}
		}
		all = append(all, walk)
	}
	return all
}

func pageOf(a Answered) part {
	v, _ := a.Response.Get("result")
	return part{a.Response, "/result", v}
}

// same reports whether two decoded values have the same JSON.
func same(a, b any) bool { return string(peer.Encode(a)) == string(peer.Encode(b)) }

// textOf returns a member that is a string, or "".
func textOf(object map[string]any, name string) string {
	s, _ := object[name].(string)
	return s
}
