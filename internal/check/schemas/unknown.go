package schemas

import (
	"maps"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// UnknownIn returns the JSON pointers of the members of a value that the named
// definition does not mention, sorted. The schemas do not forbid such members,
// but what a revision does not define does not belong on its wire.
//
// Only objects whose members the specification enumerates are examined.
// Objects that carry free-form data are not: the contents of _meta beyond the
// members the schema lists there, of the JSON Schemas of tools, of the
// properties of a form, and any object whose schema declares no properties,
// which takes care of arguments, structured content, experimental and
// extension capabilities, metadata and the data of log messages and errors.
//
// Where a union applies, a member counts as known if any branch that validates
// mentions it. Nothing is validated; see [Schema.CheckIn]. For a value that is
// not JSON, or a definition the revision lacks, it returns the root.
func (s *Schema) UnknownIn(definition string, value []byte) []string {
	v, faulty := decode(value)
	if faulty != nil || !s.has(definition) {
		return []string{""}
	}
	return s.unknown(part{definition: definition, v: v})
}

// unknown returns the members of a part that its definition does not mention.
func (s *Schema) unknown(p part) []string {
	def := s.defs[p.definition]
	if def == nil {
		return nil
	}
	schemas := []*jsonschema.Schema{def}
	switch s.methods.wire[p.definition] {
	case request:
		schemas = append(schemas, requestBase)
	case notification:
		schemas = append(schemas, notificationBase)
	default: // parts of messages have no base
	}
	var w walker
	w.value(p.at, "", p.v, schemas)
	slices.Sort(w.unknown)
	return w.unknown
}

// The bases hold the members that any request or notification may have on the
// wire. Until 2025-06-18 the definitions of the methods described the message
// without its envelope, and until 2025-11-25 some of them restated params
// without the _meta they inherit.
var (
	notificationBase = object("jsonrpc", "method", "params")
	requestBase      = object("jsonrpc", "method", "params", "id")
)

// object returns a schema that knows the given members, and _meta in params.
func object(members ...string) *jsonschema.Schema {
	properties := map[string]*jsonschema.Schema{}
	for _, name := range members {
		properties[name] = &jsonschema.Schema{}
	}
	properties["params"] = &jsonschema.Schema{
		Properties: map[string]*jsonschema.Schema{"_meta": {}},
	}
	return &jsonschema.Schema{Properties: properties}
}

// openMembers lists, per definition, the members whose contents other
// definitions describe: these are envelopes around messages in general.
var openMembers = map[string]string{
	"Request":               "params",
	"Notification":          "params",
	"JSONRPCRequest":        "params",
	"JSONRPCNotification":   "params",
	"JSONRPCResponse":       "result",
	"JSONRPCResultResponse": "result",
}

// openDefinition is the one definition that stands for an arbitrary result.
const openDefinition = "GetTaskPayloadResult"

// walker collects the paths of unknown members.
type walker struct {
	unknown []string
}

// value examines one value, known to its parent under the given name, to which
// all of the schemas apply.
func (w *walker) value(path, name string, v any, schemas []*jsonschema.Schema) {
	switch v := v.(type) {
	case map[string]any:
		w.object(path, name, v, applicable(v, schemas))
	case []any:
		w.array(path, v, applicable(v, schemas))
	}
}

func (w *walker) array(path string, elements []any, schemas []*jsonschema.Schema) {
	items := itemSchemas(schemas)
	for i, element := range elements {
		w.value(path+"/"+strconv.Itoa(i), "", element, items)
	}
}

func (w *walker) object(path, name string, members map[string]any, schemas []*jsonschema.Schema) {
	if len(schemas) == 0 {
		return // not even valid; that is for Check to report
	}
	// The contents of _meta are free, yet the members it does list are not.
	open := name == "_meta" || slices.ContainsFunc(schemas, isOpen)
	for _, member := range slices.Sorted(maps.Keys(members)) {
		if isFree(name, member) {
			continue
		}
		at := path + pointer(member)
		known := memberSchemas(member, schemas)
		switch {
		case len(known) > 0:
			w.value(at, member, members[member], known)
		case !open:
			w.unknown = append(w.unknown, at)
		}
	}
}

// isFree reports whether the member of a known name holds a JSON Schema, or a
// part of one, rather than an object of the protocol.
func isFree(parent, member string) bool {
	switch member {
	case "inputSchema", "outputSchema":
		return true
	case "properties":
		return parent == "requestedSchema"
	}
	return false
}

// isOpen reports whether a schema says nothing about the members of an object.
func isOpen(s *jsonschema.Schema) bool {
	return len(s.Properties) == 0 || nameOf(s) == openDefinition
}

// memberSchemas returns the schemas for a member of an object; none means that
// no schema knows it.
func memberSchemas(member string, schemas []*jsonschema.Schema) []*jsonschema.Schema {
	var known []*jsonschema.Schema
	for _, s := range schemas {
		if p := s.Properties[member]; p != nil {
			if openMembers[nameOf(s)] == member {
				p = &jsonschema.Schema{}
			}
			known = append(known, p)
			continue
		}
		// A map from arbitrary names has no properties of its own. If it does,
		// then the schema merely says that the object is open.
		if p, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(s.Properties) == 0 {
			known = append(known, p)
		}
	}
	return known
}

// itemSchemas returns the schemas for the elements of an array.
func itemSchemas(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	var items []*jsonschema.Schema
	for _, s := range schemas {
		if s.Items2020 != nil {
			items = append(items, s.Items2020)
		}
		if p, ok := s.Items.(*jsonschema.Schema); ok { // draft 7
			items = append(items, p)
		}
	}
	return items
}

// applicable resolves references, conjunctions and unions to the plain schemas
// that apply to v, leaving out the branches of unions that reject it.
func applicable(v any, schemas []*jsonschema.Schema) []*jsonschema.Schema {
	var plain []*jsonschema.Schema
	for _, s := range schemas {
		plain = append(plain, resolve(v, s)...)
	}
	return plain
}

func resolve(v any, s *jsonschema.Schema) []*jsonschema.Schema {
	var parts []*jsonschema.Schema
	if s.Ref != nil {
		parts = append(parts, s.Ref)
	}
	parts = append(parts, s.AllOf...)
	for _, union := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		for _, branch := range union {
			if branch.Validate(v) == nil {
				parts = append(parts, branch)
			}
		}
	}
	plain := applicable(v, parts)
	combines := s.Ref != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0
	if !combines || len(s.Properties) > 0 {
		plain = append(plain, s)
	}
	return plain
}
