package schemas

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// direction says which way a frame travels.
type direction bool

const (
	toServer direction = true
	toClient direction = false
)

// String returns the direction as it appears in errors.
func (d direction) String() string {
	if d == toServer {
		return "client→server"
	}
	return "server→client"
}

// route identifies a method together with the way its message travels.
type route struct {
	method string
	dir    direction
}

// methodTable maps what may be sent to the definitions that describe it.
type methodTable struct {
	requests      map[route]string // to the name of the request's definition
	results       map[route]string // to the name of its result's definition
	notifications map[route]string
	wire          map[string]messageKind // definitions of whole messages
}

// messageKind says what a definition describes.
type messageKind int

const (
	embedded messageKind = iota // not a message of its own
	request
	notification
)

// buildMethods reads the tables from the union definitions, which list who may
// send what. A revision without a union allows nothing of that sort.
func buildMethods(defs map[string]*jsonschema.Schema) (methodTable, error) {
	t := methodTable{
		requests:      map[route]string{},
		results:       map[route]string{},
		notifications: map[route]string{},
		wire:          map[string]messageKind{},
	}
	unions := []struct {
		name string
		kind messageKind
		dir  direction
		into map[route]string
	}{
		{"ClientRequest", request, toServer, t.requests},
		{"ServerRequest", request, toClient, t.requests},
		{"ClientNotification", notification, toServer, t.notifications},
		{"ServerNotification", notification, toClient, t.notifications},
	}
	for _, u := range unions {
		union := defs[u.name]
		if union == nil {
			continue
		}
		for _, member := range branches(union) {
			method := methodOf(member)
			name := nameOf(member)
			if member == union {
				// The generator inlines a union of one, and so loses the name.
				name = findMethod(defs, method, "Notification", u.name)
			}
			if method == "" || defs[name] == nil {
				return t, fmt.Errorf("union %q lists %q, which names no method", u.name, name)
			}
			u.into[route{method, u.dir}] = name
			t.wire[name] = u.kind
		}
	}
	for r, name := range t.requests {
		t.results[r] = resultOf(defs, name)
	}
	return t, nil
}

// resultOf names the result of a request by convention: FooRequest is answered
// by FooResult, or by EmptyResult if the revision has nothing more to say.
func resultOf(defs map[string]*jsonschema.Schema, request string) string {
	if name := strings.TrimSuffix(request, "Request") + "Result"; defs[name] != nil {
		return name
	}
	return "EmptyResult"
}

// branches returns the members of a union, or the schema itself if it is none.
func branches(s *jsonschema.Schema) []*jsonschema.Schema {
	if len(s.AnyOf) == 0 {
		return []*jsonschema.Schema{s}
	}
	members := make([]*jsonschema.Schema, len(s.AnyOf))
	for i, b := range s.AnyOf {
		members[i] = target(b)
	}
	return members
}

// target follows references.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != nil {
		s = s.Ref
	}
	return s
}

// nameOf returns the name of a definition.
func nameOf(s *jsonschema.Schema) string { return path.Base(s.Location) }

// findMethod returns the definition that describes a method, other than the
// union that has been inlined.
func findMethod(defs map[string]*jsonschema.Schema, method, suffix, union string) string {
	for name, def := range defs {
		if name != union && strings.HasSuffix(name, suffix) && methodOf(def) == method {
			return name
		}
	}
	return union
}

// methodOf returns the method that the schema of a message fixes, or "".
func methodOf(s *jsonschema.Schema) string {
	p := s.Properties["method"]
	if p == nil {
		return ""
	}
	method, _ := constant(p).(string)
	return method
}

// constant returns the only value a schema admits, or nil.
func constant(s *jsonschema.Schema) any {
	if s.Const != nil {
		return *s.Const
	}
	if s.Enum != nil && len(s.Enum.Values) == 1 {
		return s.Enum.Values[0]
	}
	return nil
}

// errorCodes maps the error codes that have a definition of their own to its
// name. Such a definition describes the whole message and fixes error.code.
func errorCodes(defs map[string]*jsonschema.Schema) map[string]string {
	codes := map[string]string{}
	for name, def := range defs {
		p := def.Properties["error"]
		if p == nil {
			continue
		}
		for _, part := range p.AllOf {
			if code := part.Properties["code"]; code != nil {
				if number, ok := constant(code).(json.Number); ok {
					codes[number.String()] = name
				}
			}
		}
	}
	return codes
}
