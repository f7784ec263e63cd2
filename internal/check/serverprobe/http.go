package serverprobe

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// foreign is the origin of a page that no server has reason to trust.
const foreign = "http://parley-check.example"

// eachExchange looks at all HTTP exchanges while the log is locked: some may be
// running. look must not use the log.
func (x *X) eachExchange(look func(*peer.Exchange)) {
	all := x.Log.Exchanges()
	x.Log.Look(func() {
		for _, e := range all {
			look(e)
		}
	})
}

// eachPost looks at the POST requests that were answered.
func (x *X) eachPost(look func(*peer.Exchange)) {
	x.eachExchange(func(e *peer.Exchange) {
		if e.Method == http.MethodPost && e.Status != 0 {
			look(e)
		}
	})
}

// ofExchange points at an exchange, and at the message in its request.
func ofExchange(e *peer.Exchange) []probe.Blame {
	return []probe.Blame{{Message: e.Message, Exchange: e}}
}

// peek sends an HTTP request and waits for the head of the response only. The
// status is 0 if none came.
func (c *Conn) peek(out *peer.Out) *peer.Reply {
	r := c.Start(c.x.Ctx, out)
	c.headOf(r)
	r.Stop()
	return r
}

// simplest is a request that every server answers: one without params, and
// without consequences.
func (x *X) simplest() map[string]any {
	if x.Stateless {
		return x.Request("server/discover", nil)
	}
	return x.Request("ping", nil)
}

// wantStatusOf is wantStatus if a reply is an error of a code. Otherwise it is
// another rule that is broken, or nothing was to be seen.
func wantStatusOf(r *peer.Reply, code, status int) probe.Finding {
	if r.Response == nil && (r.Exchange == nil || r.Exchange.Status != status) {
		return unanswered(r)
	}
	if r.Response == nil {
		return probe.Fail(probe.OfReply(r), "the response has the status %d, but no error %d", status, code)
	}
	if got, _ := r.Response.Code(); got != code {
		return probe.Unverified("the answer was not the error %d", code)
	}
	return wantStatus(r, status)
}

// wantHeaderRefusal is the finding for a request whose headers are wrong. In what
// form it was refused is judged by another probe, for all such requests.
func (x *X) wantHeaderRefusal(r *peer.Reply) probe.Finding {
	f := wantRefusal(r)
	if f.Outcome == verdict.Pass {
		x.refusals = append(x.refusals, r)
	}
	return f
}

// named is a request that succeeded before and names its subject, which a header
// mirrors. The method is "" if there was none.
func (x *X) named() (method string, params map[string]any) {
	for _, method := range []string{"prompts/get", "resources/read", "tools/call"} {
		for _, found := range x.Results(method) {
			params := maps.Clone(found.Request.Object("params"))
			if found.Response.Text("result/resultType") == "input_required" || params["inputResponses"] != nil {
				continue
			}
			delete(params, "_meta")
			return method, params
		}
	}
	return "", nil
}

// subject is the name or URI in the params of a request.
func subject(params map[string]any) string {
	for _, name := range []string{"name", "uri"} {
		if s, ok := params[name].(string); ok {
			return s
		}
	}
	return ""
}

// noSubject is the finding where nothing could be called by its name.
func noSubject() probe.Finding {
	return probe.Unverified("no tool, resource or prompt could be used")
}

// marked is a parameter of a tool that a header mirrors.
type marked struct {
	tool     Callable
	property string
	header   string
	kind     string // string, integer or boolean
}

// marked finds a parameter at the top of a tool's schema that is mirrored into a
// header, of one of some types.
func (x *X) marked(kinds ...string) (marked, bool) {
	for _, tool := range x.Offer.Callable {
		if !wellMarked(tool.Tool) {
			continue
		}
		properties, _ := peer.Get(tool.Tool, "inputSchema/properties")
		members, _ := properties.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			property, _ := members[name].(map[string]any)
			header, _ := property["x-mcp-header"].(string)
			kind, _ := property["type"].(string)
			if header != "" && slices.Contains(kinds, kind) {
				return marked{tool, name, "Mcp-Param-" + header, kind}, true
			}
		}
	}
	return marked{}, false
}

// call is a call of the tool with a value for the parameter; no value leaves it
// out.
func (m marked) call(x *X, value ...any) map[string]any {
	arguments := maps.Clone(m.tool.Arguments)
	delete(arguments, m.property)
	for _, v := range value {
		arguments[m.property] = v
	}
	return x.Request("tools/call", map[string]any{"name": m.tool.Name, "arguments": arguments})
}

// value is a value for the parameter: the one that was chosen for it, or the
// least that its type has.
func (m marked) value() any {
	if v, ok := m.tool.Arguments[m.property]; ok && v != nil {
		return v
	}
	property, _ := peer.Get(m.tool.Tool, "inputSchema/properties/"+pointer(m.property))
	if v, ok := peer.Get(property, "minimum"); ok && m.kind == "integer" {
		return v
	}
	switch m.kind {
	case "integer":
		return 1
	case "boolean":
		return true
	default:
		return "example"
	}
}

// noMark is the finding where no parameter is mirrored.
func noMark(x *X) probe.Finding {
	for _, tool := range x.Offer.Tools {
		if len(marks(part{v: tool})) > 0 {
			return probe.Unverified("no tool that may be called has such a parameter: allow more with --allow NAME")
		}
	}
	return probe.NotApplicable("no tool mirrors parameters into headers")
}

// wellMarked reports whether clients take the x-mcp-header marks of a tool.
func wellMarked(tool map[string]any) bool {
	seen := map[string]bool{}
	for _, m := range marks(part{v: tool}) {
		name, _ := m.value.v.(string)
		if !headerToken.MatchString(name) || seen[strings.ToLower(name)] || !m.reachable {
			return false
		}
		seen[strings.ToLower(name)] = true
	}
	return true
}
