package official

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// result checks a successful response.
func (r *Recorder) result(p *problems, dir direction, m map[string]any) {
	definition := "JSONRPCResultResponse"
	if !r.schema.has(definition) {
		definition = "JSONRPCResponse"
	}
	p.strict(r.schema, definition, m)
	c := r.answered(p, dir, m)
	if c == nil || c.result == "" {
		return
	}
	value := m["result"]
	switch {
	case r.schema.stateless:
		r.typedResult(p, c, value)
	case c.isTask && hasMember(value, "task"):
		p.strict(r.schema, "CreateTaskResult", value)
		r.rememberTask(!dir, c, value)
	case c.result == openDefinition:
		r.payload(p, !dir, c, value)
	default:
		p.strict(r.schema, c.result, value)
	}
}

// The result types that the revisions themselves define.
const (
	typeComplete      = "complete"
	typeInputRequired = "input_required"
)

// typedResult checks a result that says in resultType what kind it is.
func (r *Recorder) typedResult(p *problems, c *call, value any) {
	members, _ := value.(map[string]any)
	kind, _ := members["resultType"].(string)
	switch {
	case kind == typeComplete:
		p.strict(r.schema, c.result, value)
	case kind == typeInputRequired:
		r.inputRequired(p, c, value)
	case r.resultTypes[kind]:
		p.add(r.schema.check("Result", value))
	default:
		p.addf("resultType %q of the answer to %q is none of %q, %q and %q",
			kind, c.method, typeComplete, typeInputRequired, sortedKeys(r.resultTypes))
		p.strict(r.schema, c.result, value)
	}
}

// inputRequired checks a result that asks the client for input first.
func (r *Recorder) inputRequired(p *problems, c *call, value any) {
	if !r.schema.mayRequireInput(c.result) {
		p.addf("resultType %q must not answer method %q", typeInputRequired, c.method)
	}
	// Only the text requires this: without either, the client could do nothing.
	if !hasMember(value, "inputRequests") && !hasMember(value, "requestState") {
		p.addf("a result of type %q needs %q or %q", typeInputRequired, "inputRequests", "requestState")
	}
	p.strict(r.schema, "InputRequiredResult", value)
}

// mayRequireInput reports whether the response that carries a kind of result
// may ask for input instead.
func (s *Schema) mayRequireInput(result string) bool {
	response := s.defs[result+"Response"]
	if response == nil || response.Properties["result"] == nil {
		return false
	}
	return slices.ContainsFunc(branches(response.Properties["result"]), func(b *jsonschema.Schema) bool {
		return nameOf(b) == "InputRequiredResult"
	})
}

// rememberTask notes which result the task that a request created will have.
func (r *Recorder) rememberTask(dir direction, c *call, value any) {
	members, _ := value.(map[string]any)
	task, _ := members["task"].(map[string]any)
	if id, ok := task["taskId"].(string); ok {
		r.tasks[taskKey{dir, id}] = c.result
	}
}

// payload checks the outcome of a task, which looks like the result that the
// request which created the task would have had. The outcome of a task whose
// creation was not recorded may be anything.
func (r *Recorder) payload(p *problems, dir direction, c *call, value any) {
	p.strict(r.schema, openDefinition, value)
	if definition := r.tasks[taskKey{dir, c.taskID}]; definition != "" {
		p.strict(r.schema, definition, value)
	}
}

func hasMember(v any, name string) bool {
	members, _ := v.(map[string]any)
	_, ok := members[name]
	return ok
}
