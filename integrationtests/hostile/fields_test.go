package hostile_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wrong are values of each JSON type.
var wrong = []struct{ kind, text string }{
	{"null", "null"},
	{"boolean", "true"},
	{"integer", "5"},
	{"number", "1.5"},
	{"string", `"x"`},
	{"array", `[]`},
	{"object", `{}`},
}

// tables makes cases from a table: each of its fields with each type that it
// does not have. member is the subject of the table: params or result.
func tables(t *testing.T, list []*entry, member string) (cases []*entry) {
	t.Helper()
	for _, table := range list {
		whole := table.one(member, route{})
		if err := json.Unmarshal([]byte(whole), new(map[string]any)); err != nil {
			t.Fatalf("%s: %s: %v", table.name, member, err)
		}
		for _, f := range table.fields["field"] {
			cases = append(cases, table.spoilt(t, f, member, whole)...)
		}
	}
	return cases
}

// spoilt returns the cases of one field: "path type|type [required] [want=…]".
func (e *entry) spoilt(t *testing.T, field, member, whole string) (cases []*entry) {
	t.Helper()
	words := strings.Fields(field)
	kinds, required, want := words[1], false, "-32602"
	for _, w := range words[2:] {
		required = required || w == "required"
		if v, ok := strings.CutPrefix(w, "want="); ok {
			want = v
		}
	}
	if w := e.one("want", route{}); w != "" {
		want = w
	}
	for _, v := range wrong {
		if fits(v.kind, kinds, required) {
			continue
		}
		c := &entry{file: e.file, name: fmt.Sprintf("%s: %s is %s", e.name, words[0], v.kind), fields: map[string][]string{}}
		maps.Copy(c.fields, e.fields)
		c.fields[member] = []string{replaced(t, whole, strings.Split(words[0], ">"), v.text)}
		c.fields["want"] = []string{want}
		if (member == "result" || e.file == "asks") && len(cases) > 0 {
			// The decoding of these does not depend on the transport: one
			// transport is enough.
			c.fields["on"] = append(slices.Clone(e.fields["on"]), "stdio")
		}
		cases = append(cases, c)
	}
	return cases
}

// asks turns cases with spoilt params into questions of a server.
func asks(cases []*entry) []*entry {
	for _, c := range cases {
		request := fmt.Sprintf(`"method":%q,"params":%s}`, c.one("method-name", route{}), c.one("params", route{}))
		if strings.Contains(request, `"method":"notifications/`) {
			c.fields["want"] = []string{"ok"}
			c.fields["send"] = []string{`{"jsonrpc":"2.0",` + request}
			continue
		}
		c.fields["reply/session"] = c.fields["want"]
		c.fields["want/session"], c.fields["want/stateless"] = []string{"ok"}, []string{"error"}
		c.fields["answer/stateless"] = []string{"no"}
		c.fields["send/session"] = []string{`{"jsonrpc":"2.0","id":"q",` + request}
		c.fields["send/stateless"] = []string{`{"jsonrpc":"2.0","id":«id»,"result":{"resultType":"input_required","inputRequests":{"a":{` + request + `}}}`}
	}
	return cases
}

func fits(kind, kinds string, required bool) bool {
	for k := range strings.SplitSeq(kinds, "|") {
		if k == kind || k == "number" && kind == "integer" {
			return true
		}
	}
	return kind == "null" && !required
}

// replaced returns doc with the member at path replaced.
func replaced(t *testing.T, doc string, path []string, value string) string {
	t.Helper()
	if len(path) == 0 {
		return value
	}
	var parts map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal([]byte(doc), &items) == nil {
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(items) {
			t.Fatalf("no item %s in %s", path[0], doc)
		}
		items[i] = json.RawMessage(replaced(t, string(items[i]), path[1:], value))
		return encoded(t, items)
	}
	if err := json.Unmarshal([]byte(doc), &parts); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	if _, ok := parts[path[0]]; !ok && len(path) > 1 {
		t.Fatalf("no member %q in %s", path[0], doc)
	}
	parts[path[0]] = json.RawMessage(replaced(t, string(parts[path[0]]), path[1:], value))
	return encoded(t, parts)
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
