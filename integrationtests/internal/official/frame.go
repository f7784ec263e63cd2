package official

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// batch checks a frame that is an array, which only one revision has.
func (r *Recorder) batch(p *problems, dir direction, v any, elements []any) {
	definition := "JSONRPCBatchResponse"
	if slices.ContainsFunc(elements, isCall) {
		definition = "JSONRPCBatchRequest"
	}
	switch {
	case !r.schema.has(definition):
		p.addf("revision %s has no batches", r.schema.revision)
	case len(elements) == 0:
		p.addf("the batch is empty")
	default:
		p.add(r.schema.check(definition, v))
	}
	for _, element := range elements {
		if m, _ := element.(map[string]any); m["method"] == "initialize" {
			p.addf("method %q must not be part of a batch", "initialize")
		}
		r.message(p, dir, element)
	}
}

// isCall reports whether a message is a request or a notification.
func isCall(v any) bool { return hasMember(v, "method") }

// message checks one message.
func (r *Recorder) message(p *problems, dir direction, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		p.addf("a message must be an object, not %T", v)
		return
	}
	switch {
	case isCall(m) && hasMember(m, "id"):
		r.request(p, dir, m)
	case isCall(m):
		r.notification(p, dir, m)
	case hasMember(m, "result") && hasMember(m, "error"):
		p.addf("a response must not have both %q and %q", "result", "error")
	case hasMember(m, "result"):
		r.result(p, dir, m)
	case hasMember(m, "error"):
		r.failure(p, dir, m)
	default:
		p.addf("the message has none of %q, %q and %q", "method", "result", "error")
	}
}

// request checks a request and remembers it.
func (r *Recorder) request(p *problems, dir direction, m map[string]any) {
	p.add(r.schema.check("JSONRPCRequest", m))
	method, _ := m["method"].(string)
	at := route{method, dir}
	definition, known := r.schema.methods.requests[at]
	switch {
	case known:
		p.strict(r.schema, definition, m)
	case r.schema.stateless && dir == toClient:
		p.addf("method %q: the server sends no requests in revision %s", method, r.schema.revision)
	case r.custom[method]:
		p.closed(r.schema, "JSONRPCRequest", m)
		r.customParams(p, m)
	default:
		p.addf("method %q is not in revision %s for the %s direction", method, r.schema.revision, dir)
	}
	r.remember(p, dir, m, r.schema.methods.results[at])
}

// customParams checks what every request must carry, whatever its method.
func (r *Recorder) customParams(p *problems, m map[string]any) {
	if !r.schema.has("RequestParams") {
		return
	}
	params, ok := m["params"]
	if !ok {
		params = map[string]any{}
	}
	p.add(r.schema.check("RequestParams", params))
}

// remember stores a request so that its answer can be checked.
func (r *Recorder) remember(p *problems, dir direction, m map[string]any, result string) {
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
	c := &call{method: method, result: result, isTask: isTask}
	if strings.HasPrefix(method, "tasks/") {
		c.taskID, _ = params["taskId"].(string)
	}
	r.calls[key] = c
}

// notification checks a notification.
func (r *Recorder) notification(p *problems, dir direction, m map[string]any) {
	p.add(r.schema.check("JSONRPCNotification", m))
	method, _ := m["method"].(string)
	definition, known := r.schema.methods.notifications[route{method, dir}]
	switch {
	case known:
		p.strict(r.schema, definition, m)
	case r.custom[method]:
		p.closed(r.schema, "JSONRPCNotification", m)
	default:
		p.addf("method %q is not in revision %s for the %s direction", method, r.schema.revision, dir)
	}
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

// failure checks an error response.
func (r *Recorder) failure(p *problems, dir direction, m map[string]any) {
	definition := "JSONRPCErrorResponse"
	if !r.schema.has(definition) {
		definition = "JSONRPCError"
	}
	p.add(r.schema.check(definition, m))
	body, _ := m["error"].(map[string]any)
	code, _ := body["code"].(json.Number)
	if specific, ok := r.schema.errors[integer(code)]; ok {
		definition = specific
		p.add(r.schema.check(specific, m))
	} else if r.schema.stateless && isReserved(code) {
		p.addf("error code %s must not be used in revision %s", code, r.schema.revision)
	}
	p.closed(r.schema, definition, m)
	r.answered(p, dir, m)
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
