package clientprobe

import (
	"encoding/base64"
	"encoding/json"
)

// what a good server offers, in the form of the revision

var png = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))

// fit leaves out of a definition what the revision does not have.
func (s *Stage) fit(v object) object {
	for name, has := range map[string]bool{
		"title": s.Facts.Titles, "icons": s.Facts.Icons, "_meta": s.Facts.MetaOnTypes, "outputSchema": s.Facts.StructuredContent,
	} {
		if !has {
			delete(v, name)
		}
	}
	if !s.Facts.ToolAnnotations && v["inputSchema"] != nil {
		delete(v, "annotations")
	}
	return v
}

func icons() list {
	return list{object{"src": "data:image/png;base64," + png, "mimeType": "image/png", "sizes": list{"48x48"}}}
}

// meta is what anybody may add, with a number that only careful readers keep.
func meta() object {
	return object{"com.example/judge": object{"big": json.Number("9223372036854775808")}}
}

func (s *Stage) tool(name, title string, input object) object {
	return s.fit(object{
		"name": name, "title": title, "description": title + ", for the judge of clients.", "inputSchema": input,
		"annotations": object{"title": title, "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false},
		"icons":       icons(), "_meta": meta(),
	})
}

func noInput() object { return object{"type": "object"} }

// tools are the tools of a good server.
func tools(s *Stage) list {
	number := object{"type": "number"}
	add := s.tool("add", "Add numbers", object{
		"type": "object", "required": list{"a", "b"},
		"properties": object{"a": object{"type": "number", "default": 2}, "b": object{"type": "number", "default": 3}},
	})
	add["outputSchema"] = object{"type": "object", "properties": object{"sum": number}, "required": list{"sum"}}
	all := list{
		s.fit(add),
		s.tool("show", "Show content", noInput()),
		s.tool("report", "Report progress", noInput()),
		s.tool("fail", "Fail", noInput()),
	}
	if s.Stateless { // before the list changes, as what is marked is known for certain until then
		all = append(all, s.tool("mirror", "Mirror values into headers", mirrored()))
	}
	return append(all, s.tool("change", "Change everything", noInput()))
}

// mirrored is a schema whose values go into headers, each of a kind of its own.
//
// Spec: 2026-07-28 basic/transports/streamable-http#custom-headers-from-tool-parameters.
func mirrored() object {
	one := func(kind, header string, v any) object {
		return object{"type": kind, "x-mcp-header": header, "default": v, "enum": list{v}}
	}
	return object{
		"type":     "object",
		"required": list{"plain", "spaced", "foreign", "marked", "count", "minus", "yes", "no", "place"},
		"properties": object{
			"plain":   one("string", "Plain", "north west"),
			"spaced":  one("string", "Spaced", " padded "),
			"foreign": one("string", "Foreign", "Zürich\n"),
			"marked":  one("string", "Marked", "=?base64?literal?="),
			"count":   one("integer", "Count", 42),
			"minus":   one("integer", "Minus", -7),
			"yes":     one("boolean", "Yes", true),
			"no":      one("boolean", "No", false),
			"absent":  object{"type": "string", "x-mcp-header": "Absent"},
			"place": object{"type": "object", "required": list{"zone"}, "properties": object{
				"zone": one("string", "Zone", "inner"),
			}},
		},
	}
}

var toolPlays map[string]func(*Turn)

func init() { //nolint:gochecknoinits // the plays refer to what refers to them
	toolPlays = map[string]func(*Turn){
		"add":    playAdd,
		"show":   func(t *Turn) { t.Result(object{"content": content(t.Stage)}) },
		"report": playReport,
		"fail":   func(t *Turn) { r := textResult("it always fails"); r["isError"] = true; t.Result(r) },
		"change": playChange,
		"mirror": func(t *Turn) { t.Result(textResult("mirrored")) },
	}
}

func playAdd(t *Turn) {
	sum := 0.0
	for _, name := range []string{"a", "b"} {
		v, _ := t.argument(name)
		n, _ := v.(json.Number)
		f, _ := n.Float64() // what is no number counts nothing
		sum += f
	}
	r := textResult("the sum")
	if t.Facts.StructuredContent {
		r["structuredContent"] = object{"sum": sum}
		r["content"] = list{object{"type": "text", "text": string(must(json.Marshal(object{"sum": sum})))}}
	}
	t.Result(r)
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err) // it is a value of the checker
	}
	return b
}

func playReport(t *Turn) {
	if t.logs() {
		t.Notify("notifications/message", object{"level": "error", "logger": "judge", "data": object{"stage": "begin"}})
	}
	t.Progress(1, 3, "first")
	t.Progress(json.Number("1.5"), 3, "second")
	if !t.Stateless {
		t.Mark("pinged", t.Ask("ping", nil))
	}
	t.Progress(3, 3, "third")
	t.Result(textResult("reported"))
}

func playChange(t *Turn) {
	t.Publish("notifications/tools/list_changed", "")
	if t.Scenario.Name != fewCapabilities {
		t.Publish("notifications/prompts/list_changed", "")
		t.Publish("notifications/resources/list_changed", "")
		t.Publish("notifications/resources/updated", "test://text")
	}
	t.Result(textResult("changed"))
}

func (s *Stage) annotations() object {
	a := object{"audience": list{"user", "assistant"}, "priority": json.Number("0.5")}
	if s.Facts.LastModified {
		a["lastModified"] = "2026-01-12T15:00:58Z"
	}
	return a
}

// content is content of each kind.
func content(s *Stage) list {
	all := list{
		object{"type": "text", "text": "text", "annotations": s.annotations()},
		object{"type": "image", "data": png, "mimeType": "image/png"},
		object{"type": "resource", "resource": object{"uri": "test://text", "mimeType": "text/plain", "text": "hello"}},
		object{"type": "resource", "resource": object{"uri": "test://blob", "mimeType": "image/png", "blob": png}},
	}
	if s.Facts.Audio {
		all = append(all, object{"type": "audio", "data": "AAA=", "mimeType": "audio/wav"})
	}
	if s.Facts.ResourceLinks {
		all = append(all, object{"type": "resource_link", "uri": "test://text", "name": "text"})
	}
	return all
}

func resources(s *Stage) list {
	return list{
		s.fit(object{
			"uri": "test://text", "name": "text", "title": "A text", "description": "A text.", "mimeType": "text/plain",
			"size": 5, "annotations": s.annotations(), "icons": icons(), "_meta": meta(),
		}),
		object{"uri": "test://blob", "name": "blob", "mimeType": "image/png"},
		object{"uri": "test://plain", "name": "plain"},
	}
}

func contents(resource object) list {
	c := object{"uri": resource["uri"]}
	if t, ok := resource["mimeType"]; ok {
		c["mimeType"] = t
	}
	if resource["name"] == "blob" {
		c["blob"] = png
	} else {
		c["text"] = "hello"
	}
	return list{c}
}

func templates(s *Stage) list {
	return list{s.fit(object{
		"uriTemplate": "test://item/{name}", "name": "item", "title": "An item", "description": "An item.",
		"mimeType": "text/plain", "icons": icons(), "_meta": meta(),
	})}
}

func prompts(s *Stage) list {
	return list{
		s.fit(object{
			"name": "greet", "title": "Greet", "description": "Greets somebody.", "icons": icons(), "_meta": meta(),
			"arguments": list{object{"name": "name", "description": "who", "required": true}, object{"name": "tone"}},
		}),
		object{"name": "plain"},
		object{"name": "third"},
	}
}

func promptMessages(s *Stage) list {
	messages := list{}
	for n, c := range content(s) {
		role := "user"
		if n%2 == 1 {
			role = "assistant"
		}
		messages = append(messages, object{"role": role, "content": c})
	}
	return messages
}
