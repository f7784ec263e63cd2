package naming_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
)

// What is known of a name is what it is shown for.
func FuzzOwn(f *testing.F) {
	for _, s := range []string{"", "a__x", "a-b__", "mcp:a:file:///x", "ui://a/x", "skill://b/", "a:1", "a__x_ABCDEFGH", "short"} {
		f.Add(s)
	}
	rules := backends()
	rules[0].RenameTools = map[string]string{"a": "short"}
	n := names(f, rules...)
	f.Fuzz(func(t *testing.T, shown string) {
		for kind := mcp.ToolFeature; kind <= mcp.TaskFeature; kind++ {
			b, own, known := n.Own(kind, shown)
			if b == nil && known {
				t.Fatalf("%q is known, and nobody's", shown)
			}
			moved := kind != mcp.TaskFeature && (strings.HasPrefix(own, "ui://") || strings.HasPrefix(own, "skill://"))
			if known && !moved && b.Shown(kind, own) != shown {
				t.Fatalf("%q is %q, which is shown as %q", shown, own, b.Shown(kind, own))
			}
		}
	})
}

// Whatever is in a message, it stays valid, and nothing but strings differs.
func FuzzRewrite(f *testing.F) {
	f.Add(`{"content":[{"type":"resource_link","uri":"a"},{"type":"tool_result","content":[]}],"_meta":{"ui":{"resourceUri":"ui://a"}}}`)
	f.Add(`{"name":"a","taskId":"b","uri":"c","uriTemplate":"d","skill":{"resources":[{"uri":""}]},"ref":{"type":"ref/prompt","name":1}}`)
	f.Add(`{"inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[{"content":{"type":"resource","resource":{"uri":"\ud800"}}}]}}}}`)
	n := names(f, backends()...)
	b := n.Backend("a-b")
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || naming.Strict([]byte(text)) != nil {
			return
		}
		check := func(got []byte) {
			var before, after any
			if err := errors.Join(json.Unmarshal([]byte(text), &before), json.Unmarshal(got, &after)); err != nil {
				t.Fatalf("%s becomes %s: %v", text, got, err)
			}
			if !alike(before, after) {
				t.Fatalf("%s becomes %s", text, got)
			}
		}
		for _, m := range mcp.Methods() {
			doc := []byte(text)
			check(b.Result(m.Name, doc))
			check(b.Note(m.Name, doc))
			check(b.Question(m.Name, doc))
			check(b.Params(m.Name, doc, "own"))
			if got, err := b.Entry(m.Name, doc); err == nil {
				check(got)
			}
			naming.Subject(m.Name, doc)
			naming.EntryName(m.Name, doc)
		}
	})
}

// alike compares all but strings.
func alike(a, b any) bool {
	switch a := a.(type) {
	case string:
		_, ok := b.(string)
		return ok
	case []any:
		list, ok := b.([]any)
		if !ok || len(a) != len(list) {
			return false
		}
		for i := range a {
			if !alike(a[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		object, ok := b.(map[string]any)
		if !ok || len(a) != len(object) {
			return false
		}
		for name, value := range a {
			if other, ok := object[name]; !ok || !alike(value, other) {
				return false
			}
		}
		return true
	}
	return a == b
}

// A member that stands twice is found wherever a reader that keeps them all finds it.
func FuzzStrict(f *testing.F) {
	for _, s := range []string{small, `{"a":{"b":1,"b":2}}`, `{"\u0061":1,"a":2}`, `[{"":1,"":{}}]`, `{"Name":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		err := naming.Strict(doc)
		if !json.Valid(doc) || bytes.ContainsRune(doc, '\ufffd') || bytes.Contains(doc, []byte(`\u`)) || !bytes.Equal(doc, bytes.ToValidUTF8(doc, nil)) {
			return // readers differ about such names
		}
		dec := json.NewDecoder(bytes.NewReader(doc))
		twice := repeated(dec)
		if says := err != nil && strings.Contains(err.Error(), "twice"); twice && err == nil || says && !twice {
			t.Fatalf("%s: %v, want that a member stands twice: %v", doc, err, twice)
		}
	})
}

// repeated reads a value and reports whether an object in it has a member twice.
func repeated(dec *json.Decoder) bool {
	token, err := dec.Token()
	if err != nil {
		return false
	}
	found := false
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for dec.More() {
			name, _ := dec.Token()
			text, _ := name.(string)
			found = found || seen[text]
			seen[text] = true
			found = repeated(dec) || found
		}
		_, _ = dec.Token()
	case json.Delim('['):
		for dec.More() {
			found = repeated(dec) || found
		}
		_, _ = dec.Token()
	}
	return found
}
