package schemas

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// batch checks a frame that is an array.
func (r *Recorder) batch(p *problems, dir direction, elements []any) {
	_, violations := r.schema.batch(Message{FromServer: dir == toClient}, elements)
	for _, v := range violations {
		p.addf("%s", v)
	}
	for _, element := range elements {
		if m, _ := element.(map[string]any); m["method"] == "initialize" {
			p.addf("method %q must not be part of a batch", "initialize")
		}
		r.message(p, dir, element)
	}
}

// message checks one message.
func (r *Recorder) message(p *problems, dir direction, v any) {
	m := Message{FromServer: dir == toClient}
	object, _ := v.(map[string]any)
	var c *call
	switch {
	case isCall(object) && hasMember(object, "id"):
		r.known(p, dir, object, r.schema.methods.requests)
		r.remember(p, dir, object)
	case isCall(object):
		r.known(p, dir, object, r.schema.methods.notifications)
	case object != nil:
		if c = r.answered(p, dir, object); c != nil {
			m.Answers, m.AsTask = c.method, c.isTask
		}
	}
	parts, violations := r.schema.parts(m, v)
	for _, v := range violations {
		p.addf("%s", v)
	}
	for _, at := range parts {
		p.strict(r.schema, at)
	}
	if hasMember(object, "error") {
		r.code(p, object)
	} else if c != nil && hasMember(object, "result") {
		r.outcome(p, dir, c, object["result"])
	}
}

// known checks that the revision, or the test, knows a method.
func (r *Recorder) known(p *problems, dir direction, m map[string]any, methods map[route]string) {
	method, _ := m["method"].(string)
	switch {
	case methods[route{method, dir}] != "":
	case r.schema.stateless && dir == toClient && hasMember(m, "id"):
		p.addf("method %q: the server sends no requests in revision %s", method, r.schema.revision)
	case !r.custom[method]:
		p.addf("method %q is not in revision %s for the %s direction", method, r.schema.revision, dir)
	}
}

// remember stores a request so that its answer can be checked.
func (r *Recorder) remember(p *problems, dir direction, m map[string]any) {
	id, ok := idKey(m["id"])
	if !ok {
		return // the schema has rejected the id already
	}
	key := callKey{dir, id}
	method, _ := m["method"].(string)
	if old := r.calls[key]; old != nil && !old.answered {
		p.addf("request id %s is in flight already, for method %q", id, old.method)
	}
	params, _ := m["params"].(map[string]any)
	_, isTask := params["task"]
	c := &call{method: method, isTask: isTask}
	if strings.HasPrefix(method, "tasks/") {
		c.taskID, _ = params["taskId"].(string)
	}
	r.calls[key] = c
}

// answered finds the request that a response travelling in direction dir
// belongs to, and marks it as answered. It returns nil if there is none.
func (r *Recorder) answered(p *problems, dir direction, m map[string]any) *call {
	id, ok := idKey(m["id"])
	if !ok {
		return nil // the schema decides whether that is acceptable
	}
	c := r.calls[callKey{!dir, id}]
	if c == nil {
		p.addf("the response answers no request: id %s is unknown", id)
		return nil
	}
	if c.answered {
		p.addf("request id %s, for method %q, has been answered already", id, c.method)
	}
	c.answered = true
	return c
}

// code checks the code of an error.
func (r *Recorder) code(p *problems, m map[string]any) {
	code := codeOf(m)
	if r.schema.stateless && r.schema.errors[code] == "" && isReserved(json.Number(code)) {
		p.addf("error code %s must not be used in revision %s", code, r.schema.revision)
	}
}

// outcome checks what only the text says about results, and what depends on
// earlier messages.
func (r *Recorder) outcome(p *problems, dir direction, c *call, value any) {
	definition := r.schema.methods.results[route{c.method, !dir}]
	switch {
	case definition == "":
	case r.schema.stateless:
		r.typed(p, c, definition, value)
	case c.isTask && hasMember(value, "task"):
		r.rememberTask(!dir, definition, value)
	case definition == openDefinition:
		// The outcome of a task looks like the result that the request which created
		// the task would have had. If its creation was not recorded, it may be anything.
		if of := r.tasks[taskKey{!dir, c.taskID}]; of != "" {
			p.strict(r.schema, part{definition: of, at: "/result", v: value})
		}
	}
}

// typed checks the type of a result that says what kind it is.
func (r *Recorder) typed(p *problems, c *call, definition string, value any) {
	kind, _ := resultType(value)
	switch {
	case kind == typeComplete || r.resultTypes[kind]:
	case kind != typeInputRequired:
		p.addf("resultType %q of the answer to %q is none of %q, %q and %q",
			kind, c.method, typeComplete, typeInputRequired, sortedKeys(r.resultTypes))
	case !r.schema.mayRequireInput(definition):
		p.addf("resultType %q must not answer method %q", typeInputRequired, c.method)
	case !hasMember(value, "inputRequests") && !hasMember(value, "requestState"):
		// Only the text requires this: without either, the client could do nothing.
		p.addf("a result of type %q needs %q or %q", typeInputRequired, "inputRequests", "requestState")
	}
}

// rememberTask notes which result the task that a request created will have.
func (r *Recorder) rememberTask(dir direction, result string, value any) {
	members, _ := value.(map[string]any)
	task, _ := members["task"].(map[string]any)
	if id, ok := task["taskId"].(string); ok {
		r.tasks[taskKey{dir, id}] = result
	}
}

// isReserved reports whether 2026-07-28 and later revisions reserve an error
// code for the specification, which so far defines such codes in its schema
// only, or have retired it. This rule is only in the specification's text.
func isReserved(code json.Number) bool {
	n, err := code.Int64()
	return err == nil && (n == -32002 || -32099 <= n && n <= -32020)
}

// idKey returns a key for a request id that tells strings from numbers.
func idKey(id any) (string, bool) {
	switch id := id.(type) {
	case string:
		text, err := json.Marshal(id)
		return string(text), err == nil
	case json.Number:
		return integer(id), true
	}
	return "", false
}

// integer returns a number in decimal, so that 1 and 1.0 are the same.
func integer(n json.Number) string {
	if rat, ok := new(big.Rat).SetString(n.String()); ok && rat.IsInt() {
		return rat.Num().String()
	}
	return n.String()
}

// sortedKeys returns the keys of a set in order, for errors.
func sortedKeys(set map[string]bool) []string {
	return slices.Sorted(maps.Keys(set))
}
