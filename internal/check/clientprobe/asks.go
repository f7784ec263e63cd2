package clientprobe

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// askScenarios are servers that ask whatever the client can answer.
var askScenarios = []Scenario{
	{
		Name: scenarioAsks, Does: "Asks for all that the client says it can answer: forms, a visit to a page, messages of its model, its roots.",
		Do: "Connect; call the tools add, show and report, and answer what is asked; change the roots; list the tools again.",
		Tool: map[string]func(*Turn) bool{
			"report": func(t *Turn) bool {
				if t.inquire(t.everything()) {
					return true
				}
				t.completeVisits()
				return false
			},
			"add":  func(t *Turn) bool { return t.inquire([]round{{state: new("add")}}) },
			"show": func(t *Turn) bool { return t.inquire([]round{{questions: t.askRoots(), state: new("show")}}) },
		},
		On: map[string]func(*Turn) bool{
			"tools/list": askRootsInSession, "notifications/roots/list_changed": func(t *Turn) bool { return askRootsInSession(t) },
		},
		Visit: serveVisit,
	},
	{
		Name: scenarioBadAsks, Does: "Asks the client's model to go on with conversations that break the rules.",
		Do:     "Connect; call the tools report, show, change and go_on.",
		Tool:   map[string]func(*Turn) bool{"report": askUnbalanced, "show": askMixed, "change": askMalformed, "go_on": (*Turn).sayDone},
		Result: addGoOn,
	},
	{
		Name: scenarioUndeclared, Does: "Asks for what the client has not declared.",
		Do:   "Connect, and call the tool report.",
		Tool: map[string]func(*Turn) bool{"report": askUndeclared}, Visit: serveVisit,
	},
}

const (
	scenarioAsks       = "asks"
	scenarioBadAsks    = "bad-asks"
	scenarioUndeclared = "undeclared"
)

// pathVisit is where the pages are that users are asked to visit.
const pathVisit = "/visit/"

// serveVisit is such a page.
func serveVisit(_ *Stage, v *peer.Visit) bool {
	if !strings.HasPrefix(v.Path(), pathVisit) {
		return false
	}
	v.Respond(http.StatusOK, http.Header{"Content-Type": {"text/html"}}, []byte("<title>Thank you</title>"), false)
	return true
}

// oddState is a state that whoever reads it as something would change.
var oddState = "{\"n\": 1.0, \"s\": \"\\u00fc ü <&> 'x' \\\\ \u2028\", \"n\": 2} %2F+/= "

// everything is what can be asked of the client, in rounds.
func (t *Turn) everything() []round {
	has := t.declared()
	first := round{state: &oddState}
	second := round{questions: t.askRoots()} // without a state
	third := round{state: new("")}
	if t.Facts.Elicitation && declares(has, "elicitation/form") {
		first.questions = append(first.questions, t.form("form", "form", fullForm(t.Stage)))
		second.questions = append(second.questions, t.form("no-mode", "", shortForm()))
	}
	if t.Facts.ElicitURL && declares(has, "elicitation/url") {
		first.questions = append(first.questions, t.visitQuestion())
	}
	if declares(has, "sampling") {
		first.questions = append(first.questions, question{"model", "sampling/createMessage", sampling("Say something.", 5, nil)})
	}
	if t.Facts.SamplingTools && declares(has, "sampling/tools") {
		second.questions = append(second.questions,
			question{"must-use", "sampling/createMessage", sampling("What is the weather in Rome?", 1000, choose("required"))},
			question{"must-not-use", "sampling/createMessage", sampling("What is the weather in Rome?", 1000, choose("none"))})
	}
	return []round{first, second, third}
}

// form is a question for a form. A mode of "" leaves it out.
func (t *Turn) form(name, mode string, schema object) question {
	params := object{"message": "Please fill in this form.", "requestedSchema": schema}
	if mode != "" && t.Facts.ElicitURL {
		params["mode"] = mode
	}
	return question{name, "elicitation/create", params}
}

func shortForm() object {
	return object{"type": "object", "required": list{"name"}, "properties": object{
		"name": object{"type": "string", "title": "Name", "description": "Any name.", "minLength": 1, "maxLength": 20},
	}}
}

// fullForm has a field of each kind that the revision has.
//
// Spec: 2025-11-25 client/elicitation#requested-schema.
func fullForm(s *Stage) object {
	fields := object{
		"name":  object{"type": "string", "title": "Name", "minLength": 3, "maxLength": 20},
		"mail":  object{"type": "string", "format": "email", "title": "Address"},
		"age":   object{"type": "integer", "minimum": 18, "maximum": 150},
		"share": object{"type": "number", "minimum": 0, "maximum": 1},
		"agree": object{"type": "boolean", "default": false},
		"color": object{"type": "string", "enum": list{"red", "green", "blue"}},
	}
	required := list{"name", "age", "agree", "color"}
	if s.Facts.RichForms {
		fields["size"] = object{"type": "string", "default": "m", "oneOf": list{object{"const": "s", "title": "Small"}, object{"const": "m", "title": "Medium"}}}
		fields["days"] = object{"type": "array", "minItems": 1, "maxItems": 2, "items": object{"type": "string", "enum": list{"mo", "tu", "we"}}}
		required = append(required, "size", "days")
	}
	return object{"type": "object", "properties": fields, "required": required}
}

// visitQuestion asks for a visit to a page, which is at this server over HTTP.
func (t *Turn) visitQuestion() question {
	url := "https://parley-check.invalid"
	if t.Origin != "" {
		url = t.Origin
	}
	id := t.nextID()
	params := object{"mode": "url", "message": "Please look at this page.", "url": url + pathVisit + id}
	if t.Facts.ElicitationID {
		params["elicitationId"] = id
	}
	return question{"visit", "elicitation/create", params}
}

// completeVisits says that visits are over that the client does not know, or
// knows to be over, and pings.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
func (t *Turn) completeVisits() {
	const method = "notifications/elicitation/complete"
	if !t.Facts.ElicitationID || !declares(t.declared(), "elicitation/url") {
		return
	}
	for _, id := range []string{"no-such-elicitation", "ask-1", "ask-1"} {
		t.Notify(method, object{"elicitationId": id})
	}
	for _, m := range t.Log.Messages() {
		if m.Sent && m.Method == method {
			t.Mark("completed", m)
		}
	}
	t.Ask("ping", nil)
}

// askRoots is the question for the client's roots, if it has said that it has some.
func (t *Turn) askRoots() []question {
	if !declares(t.declared(), "roots") {
		return nil
	}
	return []question{{name: "roots", method: "roots/list"}}
}

// askRootsInSession asks for the roots while something else goes on.
func askRootsInSession(t *Turn) bool {
	if !t.Stateless && declares(t.declared(), "roots") {
		t.Ask("roots/list", nil)
	}
	return false
}

// sampling asks for a message of the client's model.
func sampling(text string, tokens int, more object) object {
	return conversation(list{said("user", object{"type": "text", "text": text})}, tokens, more)
}

func conversation(messages list, tokens int, more object) object {
	params := object{
		"messages": messages, "maxTokens": tokens, "systemPrompt": "Be brief.", "temperature": 0.5,
		"modelPreferences": object{"hints": list{object{"name": "small"}}, "costPriority": 0.5},
	}
	maps.Copy(params, more)
	return params
}

func said(role string, content any) object { return object{"role": role, "content": content} }

// choose offers a tool to the model.
func choose(mode string) object {
	return object{"toolChoice": object{"mode": mode}, "tools": list{object{
		"name": "weather", "description": "The weather in a city.",
		"inputSchema": object{"type": "object", "properties": object{"city": object{"type": "string"}}, "required": list{"city"}},
	}}}
}

// askBadly asks one thing that is wrong, if the client has the capability.
func (t *Turn) askBadly(name, capability string, params object) bool {
	if !declares(t.declared(), capability) {
		return false
	}
	return t.inquire([]round{{questions: []question{{name, "sampling/createMessage", params}}, state: new(name)}})
}

func using(id string) object {
	return object{"type": "tool_use", "id": id, "name": "weather", "input": object{"city": "Rome"}}
}

func resulting(id string) object {
	return object{"type": "tool_result", "toolUseId": id, "content": list{object{"type": "text", "text": "sunny"}}}
}

// addGoOn adds a tool that does nothing to the last page of the tools.
func addGoOn(t *Turn, result object) object {
	if all, ok := result["tools"].(list); ok && result["nextCursor"] == nil {
		result["tools"] = append(slices.Clip(all), t.tool("go_on", "Go on", noInput()))
	}
	return result
}

func (t *Turn) sayDone() bool {
	t.Result(textResult("done"))
	return true
}

// askUnbalanced leaves out the result of a tool.
//
// Spec: 2025-11-25 client/sampling#tool-use-and-result-balance.
func askUnbalanced(t *Turn) bool {
	if !t.Facts.SamplingTools {
		return false
	}
	return t.askBadly("unbalanced", "sampling/tools", conversation(list{
		said("user", object{"type": "text", "text": "What is the weather in Rome?"}),
		said("assistant", list{using("one"), using("two")}),
		said("user", list{resulting("one")}),
	}, 1000, choose("auto")))
}

// askMixed puts the result of a tool beside other content.
func askMixed(t *Turn) bool {
	if !t.Facts.SamplingTools {
		return false
	}
	return t.askBadly("mixed", "sampling/tools", conversation(list{
		said("user", object{"type": "text", "text": "What is the weather in Rome?"}),
		said("assistant", list{using("one")}),
		said("user", list{object{"type": "text", "text": "Here it is:"}, resulting("one")}),
	}, 1000, choose("auto")))
}

// askMalformed has an image without data in its messages.
func askMalformed(t *Turn) bool {
	return t.askBadly("malformed", "sampling", conversation(list{said("user", object{"type": "image", "mimeType": 7})}, 1000, nil))
}

// askUndeclared asks for all that the client has not declared, as a server must
// not do.
func askUndeclared(t *Turn) bool {
	has := t.declared()
	tools := question{"tools", "sampling/createMessage", sampling("What is the weather in Rome?", 1000, choose("auto"))}
	choice := question{"choice", "sampling/createMessage", sampling("What is the weather in Rome?", 1000, object{"toolChoice": object{"mode": "auto"}})}
	if t.Stateless {
		if !declares(has, "sampling") || declares(has, "sampling/tools") {
			return false
		}
		return t.inquire([]round{{questions: []question{tools}, state: new("tools")}})
	}
	for _, one := range []struct {
		lacks string
		known bool
		q     question
	}{
		{"roots", true, question{"roots", "roots/list", nil}},
		{"sampling", true, question{"model", "sampling/createMessage", sampling("Say something.", 5, nil)}},
		{"sampling/tools", t.Facts.SamplingTools && declares(has, "sampling"), tools},
		{"sampling/tools", t.Facts.SamplingTools && declares(has, "sampling"), choice},
		{"elicitation", t.Facts.Elicitation, t.form("form", "form", shortForm())},
		{"elicitation/form", t.Facts.ElicitURL && declares(has, "elicitation"), t.form("form", "form", shortForm())},
		{"elicitation/url", t.Facts.ElicitURL && declares(has, "elicitation"), t.visitQuestion()},
	} {
		if one.known && !declares(has, one.lacks) {
			t.Ask(one.q.method, one.q.params)
			t.Pause(time.Millisecond)
		}
	}
	t.askUndeclaredTasks(has)
	return false
}

// askUndeclaredTasks asks for tasks of kinds that the client answers, but not as tasks.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-support-and-handling.
func (t *Turn) askUndeclaredTasks(has object) {
	if !t.Facts.Tasks {
		return
	}
	if declares(has, "elicitation/form") && !declares(has, "tasks/requests/elicitation/create") {
		t.beginTask(elicit, t.form("form", "form", shortForm()).params)
	}
	if declares(has, "sampling") && !declares(has, "tasks/requests/sampling/createMessage") {
		t.beginTask(sample, sampling("Say something.", 5, nil))
	}
}
