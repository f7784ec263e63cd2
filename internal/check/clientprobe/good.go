package clientprobe

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// good answers a request as a good server does.
func (t *Turn) good() {
	switch {
	case t.foreign(t.Request):
		t.Error(-32601, "Method not found", nil)
	case t.Request.Method == "initialize":
		t.greet()
	case !t.Facts.Has(t.Request.Method):
		t.Error(-32601, "Method not found", nil)
	case goodAnswers[t.Request.Method] != nil:
		goodAnswers[t.Request.Method](t)
	default:
		t.Error(-32601, "Method not found", nil)
	}
}

var goodAnswers map[string]func(*Turn)

func init() { //nolint:gochecknoinits // the answers refer to what refers to them
	goodAnswers = map[string]func(*Turn){
		"server/discover":          (*Turn).discovered,
		"ping":                     func(t *Turn) { t.Result(object{}) },
		"logging/setLevel":         func(t *Turn) { t.setLevel(); t.Result(object{}) },
		"tools/list":               func(t *Turn) { t.page("tools", tools(t.Stage)) },
		"resources/list":           func(t *Turn) { t.page("resources", resources(t.Stage)) },
		"resources/templates/list": func(t *Turn) { t.page("resourceTemplates", templates(t.Stage)) },
		"prompts/list":             func(t *Turn) { t.page("prompts", prompts(t.Stage)) },
		"tools/call":               (*Turn).callTool,
		"resources/read":           (*Turn).readResource,
		"prompts/get":              (*Turn).getPrompt,
		"completion/complete":      (*Turn).complete,
		"resources/subscribe":      (*Turn).subscribe,
		"resources/unsubscribe":    (*Turn).unsubscribe,
		"subscriptions/listen":     (*Turn).listen,
	}
}

// greet answers initialize: in the revision of the stage, whatever was asked.
func (t *Turn) greet() {
	t.lmu.Lock()
	t.hello = t.Request
	t.lmu.Unlock()
	result := object{
		"protocolVersion": t.Revision, "capabilities": t.capabilities(), "serverInfo": t.info(),
		"instructions": "A server that judges its clients.",
	}
	t.Result(result)
}

func (t *Turn) discovered() {
	t.Result(object{
		"supportedVersions": list{t.Revision}, "capabilities": t.capabilities(),
		"_meta": object{mcp.MetaServerInfo: t.info()}, "instructions": "A server that judges its clients.",
	})
}

func (s *Stage) info() object {
	info := object{"name": "parley-check", "version": "1"}
	if s.Facts.Titles {
		info["title"] = "Parley's judge"
	}
	return info
}

func (s *Stage) capabilities() object {
	c := object{
		"tools": object{"listChanged": true}, "prompts": object{"listChanged": true}, "logging": object{},
		"resources": object{"listChanged": true, "subscribe": true},
	}
	if s.Facts.Completions {
		c["completions"] = object{}
	}
	return c
}

// page answers with a page of a list: two entries each, so that there are several.
func (t *Turn) page(member string, all list) {
	const size = 2
	from := 0
	if cursor, ok := t.Params["cursor"]; ok {
		text, _ := cursor.(string)
		if from = slices.Index(cursors, text); from < 0 || from*size >= len(all) {
			t.Error(-32602, "Invalid params: no such cursor", nil)
			return
		}
	}
	result := object{member: all[from*size : min(len(all), (from+1)*size)]}
	if (from+1)*size < len(all) {
		result["nextCursor"] = cursors[from+1]
	}
	t.Result(result)
}

// cursors are what pages begin with. They mean nothing to a client.
var cursors = []string{"", "eyJwIjogMn0=", "page three/3?&=", "4", "ü-5", "6 6", "7", "8", "9"}

func (t *Turn) setLevel() {
	t.lmu.Lock()
	defer t.lmu.Unlock()
	t.level = t.Request.Text("params/level")
}

func (t *Turn) complete() {
	prefix := t.Request.Text("params/argument/value")
	values := list{}
	for _, v := range []string{"apple", "apricot", "banana"} {
		if strings.HasPrefix(v, prefix) {
			values = append(values, v)
		}
	}
	t.Result(object{"completion": object{"values": values, "total": len(values), "hasMore": false}})
}

func (t *Turn) subscribe() {
	t.lmu.Lock()
	t.uris = append(t.uris, t.Request.Text("params/uri"))
	t.lmu.Unlock()
	t.Result(object{})
}

func (t *Turn) unsubscribe() {
	t.lmu.Lock()
	t.uris = slices.DeleteFunc(t.uris, func(uri string) bool { return uri == t.Request.Text("params/uri") })
	t.lmu.Unlock()
	t.Result(object{})
}

// listen keeps a subscription open until the client gives it up.
func (t *Turn) listen() {
	if t.visit != nil {
		t.open()
	}
	t.Notify("notifications/subscriptions/acknowledged", object{"notifications": t.Request.Object("params/notifications")})
	t.lmu.Lock()
	t.listeners = append(t.listeners, t)
	t.lmu.Unlock()
	t.begin()
	t.gone()
	t.lmu.Lock()
	t.listeners = slices.DeleteFunc(t.listeners, func(other *Turn) bool { return other == t })
	t.lmu.Unlock()
}

// gone waits until the client gives the request up, or the stage ends.
func (t *Turn) gone() {
	var gone <-chan struct{}
	if t.visit != nil {
		gone = t.visit.Gone()
	}
	select {
	case <-t.cancelling(string(t.Request.ID)):
	case <-gone:
	case <-t.ctx.Done():
	}
}

// logs reports whether the client wants log messages for the request.
//
// Spec: 2026-07-28 server/utilities/logging#per-request-log-level.
func (t *Turn) logs() bool {
	if t.Stateless {
		return t.Request.Text("params/_meta/"+pointer(mcp.MetaLogLevel)) != ""
	}
	return true
}

// notFound is the error for what does not exist.
func (t *Turn) notFound(what string) { t.Error(-32602, "Invalid params: there is no "+what, nil) }

func (t *Turn) readResource() {
	uri := t.Request.Text("params/uri")
	for _, v := range resources(t.Stage) {
		if r, _ := v.(object); r["uri"] == uri {
			t.Result(object{"contents": contents(r)})
			return
		}
	}
	if name, ok := strings.CutPrefix(uri, "test://item/"); ok {
		t.Result(object{"contents": list{object{"uri": uri, "mimeType": "text/plain", "text": name}}})
		return
	}
	t.Error(int(t.Facts.ResourceNotFound), "Resource not found", object{"uri": uri})
}

func (t *Turn) getPrompt() {
	for _, v := range prompts(t.Stage) {
		if p, _ := v.(object); p["name"] == t.Request.Text("params/name") {
			t.Result(object{"description": "A prompt.", "messages": promptMessages(t.Stage)})
			return
		}
	}
	t.notFound("such prompt")
}

func (t *Turn) callTool() {
	name := t.Request.Text("params/name")
	if play := toolPlays[name]; play != nil {
		play(t)
		return
	}
	t.notFound("such tool")
}

// textResult is the result of a tool that says something.
func textResult(text string) object {
	return object{"content": list{object{"type": "text", "text": text}}}
}

// arguments are those of a call, as they came.
func (t *Turn) argument(name string) (any, bool) {
	return peer.Get(t.Params, "arguments/"+pointer(name))
}
