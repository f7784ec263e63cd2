package schemas

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The result types that the revisions themselves define.
const (
	typeComplete      = "complete"
	typeInputRequired = "input_required"
)

// result says what to judge a successful response by.
func (s *Schema) result(m Message, object map[string]any) []part {
	envelope := part{definition: s.first("JSONRPCResultResponse", "JSONRPCResponse"), v: object}
	definition := s.resultOf(m, object["result"])
	if definition == "" {
		return []part{envelope}
	}
	result := part{definition: definition, at: "/result", v: object["result"]}
	result.open = definition == anyResult && m.Answers != ""
	return []part{envelope, result}
}

// anyResult is the definition of results in general.
const anyResult = "Result"

// resultOf returns the definition of a result, or "" if the envelope says all.
func (s *Schema) resultOf(m Message, value any) string {
	definition := s.methods.results[route{m.Answers, direction(m.FromServer)}]
	switch {
	case definition == "":
		return ""
	case m.AsTask && hasMember(value, "task") && s.has("CreateTaskResult"):
		return "CreateTaskResult"
	case !s.stateless:
		return definition
	}
	switch kind, typed := resultType(value); {
	case !typed || kind == typeComplete:
		return definition
	case kind == typeInputRequired && s.mayRequireInput(definition):
		return "InputRequiredResult"
	case kind == typeInputRequired:
		return definition
	}
	return anyResult // a type that an extension has
}

// resultType returns what a result says it is; typed is false if it does not.
func resultType(value any) (kind string, typed bool) {
	members, _ := value.(map[string]any)
	kind, typed = members["resultType"].(string)
	return kind, typed
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
