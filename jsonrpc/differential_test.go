package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-mcp/parley/jsonrpc"
)

// plainly decodes a frame the slow way: the JSON library parses all of it, then
// the rules of JSON-RPC are checked one by one. It returns the code of the
// refusal, or 0 and the message.
func plainly(frame []byte) (code int64, m *jsonrpc.Message) {
	if !jsontext.Value(frame).IsValid(jsontext.AllowDuplicateNames(true)) {
		return jsonrpc.CodeParseError, nil
	}
	var members map[string]json.RawMessage
	if !jsontext.Value(frame).IsValid() || jsonv2.Unmarshal(frame, &members) != nil || members == nil {
		return jsonrpc.CodeInvalidRequest, nil
	}
	params, meta, ok := plainParams(members["params"])
	if !ok {
		return jsonrpc.CodeInvalidParams, nil
	}
	if string(members["jsonrpc"]) != `"2.0"` || miscased(members) {
		return jsonrpc.CodeInvalidRequest, nil
	}
	m = &jsonrpc.Message{Params: params, Meta: meta}
	if _, has := members["method"]; has {
		ok = plainCall(m, members)
	} else {
		ok = plainResponse(m, members)
	}
	if !ok {
		return jsonrpc.CodeInvalidRequest, nil
	}
	return 0, m
}

func plainParams(raw json.RawMessage) (params, meta json.RawMessage, ok bool) {
	if raw == nil || string(raw) == "null" {
		return nil, nil, true
	}
	var members map[string]json.RawMessage
	if raw[0] != '{' || jsonv2.Unmarshal(raw, &members) != nil {
		return nil, nil, false
	}
	meta = members["_meta"]
	return raw, meta, meta == nil || meta[0] == '{'
}

func plainCall(m *jsonrpc.Message, members map[string]json.RawMessage) bool {
	if members["result"] != nil || members["error"] != nil {
		return false
	}
	if jsonv2.Unmarshal(members["method"], &m.Method) != nil || m.Method == "" {
		return false
	}
	m.Kind = jsonrpc.Notification
	if members["id"] == nil {
		return true
	}
	m.Kind = jsonrpc.Request
	return plainID(m, members["id"])
}

func plainResponse(m *jsonrpc.Message, members map[string]json.RawMessage) bool {
	m.Kind, m.Result = jsonrpc.Response, members["result"]
	failed := members["error"]
	if (m.Result == nil) == (failed == nil) {
		return false
	}
	id := members["id"]
	none := m.Result == nil && (id == nil || string(id) == "null")
	if !none && !plainID(m, id) {
		return false
	}
	if failed == nil {
		return true
	}
	m.Error = new(jsonrpc.Error)
	return jsonv2.Unmarshal(failed, m.Error) == nil
}

// plainID reads an ID: two spellings of one string are the same ID, an integer
// is identified by its text.
func plainID(m *jsonrpc.Message, raw json.RawMessage) bool {
	var s string
	if len(raw) > 0 && raw[0] == '"' {
		m.ID = jsonrpc.StringID(s)
		if jsonv2.Unmarshal(raw, &s) != nil {
			return false
		}
		m.ID = jsonrpc.StringID(s)
		return true
	}
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') || bytes.ContainsAny(raw, ".eE") || string(raw) == "-0" {
		return false
	}
	return m.ID.UnmarshalJSON(raw) == nil
}

// miscased reports whether a member differs from one of the envelope in case
// only.
func miscased(members map[string]json.RawMessage) bool {
	for name := range maps.Keys(members) {
		switch strings.ToLower(name) {
		case name:
		case "jsonrpc", "id", "method", "params", "result", "error":
			return true
		}
	}
	return false
}

// mayBeDeep reports whether a frame could nest deeper than is accepted, which
// other tests cover.
func mayBeDeep(frame []byte) bool {
	return bytes.Count(frame, []byte("["))+bytes.Count(frame, []byte("{")) > jsonrpc.DefaultMaxDepth
}

// The decoder, which scans a frame once, agrees with one that parses all of it
// first: on which frames are refused, with which code, and on what the others
// mean.
func FuzzDecodeDifferential(f *testing.F) {
	seed(f)
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x","params":5,`, `{"id":1,"id":2,`, `{"jsonrpc":"2.0","ID":1,"method":"x"}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}`,
		`{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"\u0078","params":{"a":[{"b":[]}],"_meta":{"c":1}}}`,
		`{"jsonrpc":"2.0","method":"x","params":{"_meta":7}} `, `{"jsonrpc":"2.0","method":"x"} {}`, `null`, `"x"`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"a":2}}`, "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}",
	} {
		f.Add([]byte(s))
	}
	var dec jsonrpc.Decoder
	f.Fuzz(func(t *testing.T, frame []byte) {
		if mayBeDeep(frame) {
			t.Skip("nesting has tests of its own")
		}
		got, err := dec.Decode(bytes.Clone(frame))
		code, want := plainly(frame)
		var rpc *jsonrpc.Error
		switch {
		case err == nil && code != 0:
			t.Fatalf("accepted %q, which must be refused with %d", frame, code)
		case err == nil:
			same(t, frame, got, want)
		case !errors.As(err, &rpc):
			t.Fatalf("the error %v of %q has no code", err, frame)
		case code != rpc.Code:
			t.Fatalf("%q is refused with %d (%v), want %d", frame, rpc.Code, err, code)
		}
	})
}

func same(t *testing.T, frame []byte, got, want *jsonrpc.Message) {
	t.Helper()
	if got.Kind != want.Kind || got.ID != want.ID || got.Method != want.Method {
		t.Errorf("%q is %v %s %q, want %v %s %q", frame, got.Kind, got.ID, got.Method, want.Kind, want.ID, want.Method)
	}
	for _, raw := range [][2]json.RawMessage{{got.Params, want.Params}, {got.Meta, want.Meta}, {got.Result, want.Result}} {
		if !bytes.Equal(raw[0], raw[1]) {
			t.Errorf("%q holds %q, want %q", frame, raw[0], raw[1])
		}
	}
	if (got.Error == nil) != (want.Error == nil) || got.Error != nil && (got.Error.Code != want.Error.Code || got.Error.Message != want.Error.Message) {
		t.Errorf("%q has the error %v, want %v", frame, got.Error, want.Error)
	}
}

// A batch is split into the same elements that the JSON library finds.
func FuzzDecodeBatchDifferential(f *testing.F) {
	seed(f)
	var dec jsonrpc.Decoder
	f.Fuzz(func(t *testing.T, frame []byte) {
		if mayBeDeep(frame) {
			t.Skip("nesting has tests of its own")
		}
		entries, err := dec.DecodeBatch(bytes.Clone(frame))
		if err != nil {
			return
		}
		elements := jsontext.NewDecoder(bytes.NewBuffer(frame), jsontext.AllowDuplicateNames(true))
		if tok, err := elements.ReadToken(); err != nil || tok.Kind() != '[' {
			t.Fatalf("accepted %q as a batch", frame)
		}
		for i, e := range entries {
			element, err := elements.ReadValue()
			if err != nil {
				t.Fatalf("element %d of %q: %v", i, frame, err)
			}
			code, want := plainly(element)
			if (e.Err == nil) != (code == 0) {
				t.Fatalf("element %q: %v, want code %d", element, e.Err, code)
			}
			if e.Err == nil {
				same(t, element, e.Message, want)
			}
		}
		if elements.PeekKind() != ']' {
			t.Fatalf("%q has more than %d elements", frame, len(entries))
		}
		if _, err := elements.ReadToken(); err != nil {
			t.Fatal(err)
		}
		if _, err := elements.ReadToken(); !errors.Is(err, io.EOF) {
			t.Fatalf("something follows the batch in %q", frame)
		}
	})
}
