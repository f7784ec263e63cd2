package schemas

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Message is a message on its way.
type Message struct {
	// JSON is the message as it was sent.
	JSON []byte
	// FromServer says who sent it.
	FromServer bool
	// Answers is the method of the request that a response belongs to. If it is
	// "", what the response brings is judged as results in general are.
	Answers string
	// AsTask says that this request asked to be run as a task, in the form of
	// sessions (a member "task" of its params).
	AsTask bool
}

// Check returns where a message breaks the schema, in the order of the places;
// none means that it fits. A message is judged by the envelope of its kind, and
// by the definition of its method if the revision lists the method for this
// sender. Whether it may send the method at all is not judged: see [Schema.Has].
func (s *Schema) Check(m Message) []Violation {
	v, faulty := decode(m.JSON)
	if faulty != nil {
		return faulty
	}
	parts, violations := s.parts(m, v)
	for _, p := range parts {
		violations = append(violations, s.check(p)...)
	}
	return tidy(violations)
}

// Unknown returns the JSON pointers of the members of a message that its
// definition does not mention, sorted. Not even the members of a message that is
// no JSON are known, so it has none that are not. See [Schema.UnknownIn] for what
// is looked at.
func (s *Schema) Unknown(m Message) []string {
	v, faulty := decode(m.JSON)
	if faulty != nil {
		return nil
	}
	var unknown []string
	parts, _ := s.parts(m, v)
	for _, p := range parts {
		if !p.open {
			unknown = append(unknown, s.unknown(p)...)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// CheckIn returns where a value breaks one definition of the revision, such as
// "CallToolResult", and a violation if there is no such definition.
func (s *Schema) CheckIn(definition string, value []byte) []Violation {
	v, faulty := decode(value)
	if faulty != nil {
		return faulty
	}
	return tidy(s.check(part{definition: definition, v: v}))
}

// part is a value in a message, and the definition that it has to fit.
type part struct {
	definition string
	at         string // the pointer of the value
	v          any
	open       bool // the definition does not list all members
}

// parts says what to judge a decoded message by. What is wrong with it before
// any definition applies is in violations.
func (s *Schema) parts(m Message, v any) (parts []part, violations []Violation) {
	if elements, ok := v.([]any); ok {
		return s.batch(m, elements)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, []Violation{wrongType("", []string{"object"}, v)}
	}
	switch {
	case isCall(object) && hasMember(object, "id"):
		return s.request(m, object), nil
	case isCall(object):
		return s.notification(m, object), nil
	case hasMember(object, "result") && hasMember(object, "error"):
		return nil, []Violation{{Text: `has both "result" and "error"`}}
	case hasMember(object, "result"):
		return s.result(m, object), nil
	case hasMember(object, "error"):
		return s.failure(object), nil
	}
	return nil, []Violation{{Text: `has none of "method", "result" and "error"`, Keyword: "required"}}
}

// batch judges each message of an array, which only one revision has.
func (s *Schema) batch(m Message, elements []any) (parts []part, violations []Violation) {
	switch {
	case !s.has(batchOfRequests):
		return nil, []Violation{{Text: "is a batch, which the revision does not have", Keyword: "type"}}
	case len(elements) == 0:
		return nil, []Violation{{Text: "is a batch without messages"}}
	}
	m.Answers = "" // of which of them?
	calls := slices.ContainsFunc(elements, isCall)
	for i, element := range elements {
		p, v := s.parts(m, element)
		if calls && !isCall(element) {
			v = append(v, Violation{Text: "is no request or notification, but in a batch of those"})
		}
		if _, nested := element.([]any); nested {
			p, v = nil, []Violation{wrongType("", []string{"object"}, element)}
		}
		at := pointer(strconv.Itoa(i))
		for i := range p {
			p[i].at = at + p[i].at
		}
		for i := range v {
			v[i].Pointer = at + v[i].Pointer
		}
		parts, violations = append(parts, p...), append(violations, v...)
	}
	return parts, violations
}

const batchOfRequests = "JSONRPCBatchRequest"

// isCall reports whether a message is a request or a notification.
func isCall(v any) bool { return hasMember(v, "method") }

func (s *Schema) request(m Message, object map[string]any) []part {
	method, _ := object["method"].(string)
	envelope := part{definition: "JSONRPCRequest", v: object, open: true}
	if definition, known := s.methods.requests[route{method, direction(!m.FromServer)}]; known {
		return []part{envelope, {definition: definition, v: object}}
	}
	envelope.open = false
	if m.FromServer || !s.has("RequestParams") {
		return []part{envelope}
	}
	// This is what every request carries, whatever its method.
	params, ok := object["params"]
	if !ok {
		params = map[string]any{}
	}
	return []part{envelope, {definition: "RequestParams", at: "/params", v: params, open: true}}
}

func (s *Schema) notification(m Message, object map[string]any) []part {
	method, _ := object["method"].(string)
	envelope := part{definition: "JSONRPCNotification", v: object, open: true}
	if definition, known := s.methods.notifications[route{method, direction(!m.FromServer)}]; known {
		return []part{envelope, {definition: definition, v: object}}
	}
	envelope.open = false
	return []part{envelope}
}

func (s *Schema) failure(object map[string]any) []part {
	general := part{definition: s.first("JSONRPCErrorResponse", "JSONRPCError"), v: object}
	specific, ok := s.errors[codeOf(object)]
	if !ok {
		return []part{general}
	}
	general.open = true
	return []part{general, {definition: specific, v: object}}
}

// codeOf returns the code of an error response in decimal, or "".
func codeOf(object map[string]any) string {
	body, _ := object["error"].(map[string]any)
	code, _ := body["code"].(json.Number)
	return integer(code)
}

// first returns the first name that is a definition: some were renamed.
func (s *Schema) first(names ...string) string {
	for _, name := range names {
		if s.has(name) {
			return name
		}
	}
	return names[len(names)-1]
}

func hasMember(v any, name string) bool {
	members, _ := v.(map[string]any)
	_, ok := members[name]
	return ok
}
