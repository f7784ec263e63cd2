package era

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// FuzzRaise raises what a server of a session might say of tasks, and reads the params
// that ask for one: what comes out is JSON again, and a task that can be read means the
// same after it was lowered and raised.
func FuzzRaise(f *testing.F) {
	for _, s := range []string{
		`{"task":{"taskId":"a","status":"working","createdAt":"x","lastUpdatedAt":"x","ttl":1.0,"pollInterval":2.5}}`,
		`{"taskId":"a","status":"failed","ttl":null,"ttlMs":5,"x":1e999}`, `{"tasks":[{"taskId":"a","ttl":-0.5},5,null],"nextCursor":"c"}`,
		`{"task":{"ttl":60000}}`, `{"task":{"ttl":1e999}}`, `{"task":{"ttl":"x"}}`, `{"task":5}`, `{"tasks":{}}`, `{"task":{"taskId":"a"},"_meta":{}}`, `[]`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if wire.Unmarshal(doc, new(any)) != nil {
			return // the frame is refused
		}
		if offer, err := readTaskParam(doc); err == nil && offer != nil && offer.TTLMs != nil && *offer.TTLMs < 0 {
			t.Errorf("%s asks for %d ms", doc, *offer.TTLMs)
		}
		for name, raise := range map[string]func(json.RawMessage) json.RawMessage{"task": raiseTask, "created": raiseCreated, "list": raiseList} {
			if raised := raise(doc); !json.Valid(raised) {
				t.Fatalf("%s: %s became %s", name, doc, raised)
			}
		}
		var task mcp.Task
		if wire.Unmarshal(raiseTask(doc), &task) != nil {
			return
		}
		lowered, err := sessionTask(&task)
		if err != nil {
			return // it has no JSON form, so nobody sent it
		}
		before, err := wire.Marshal(&task)
		if again := new(mcp.Task); err != nil || wire.Unmarshal(raiseTask(lowered), again) != nil {
			t.Errorf("%s cannot be raised: %v", lowered, err)
		} else if after, err := wire.Marshal(again); err != nil || string(after) != string(before) {
			t.Errorf("%s became %s: %v", before, after, err)
		}
	})
}
