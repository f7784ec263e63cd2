package jsonrpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/jsonrpc"
)

func TestDecodeAccepts(t *testing.T) {
	tests := []struct {
		name, frame string
		want        jsonrpc.Message
		variant     string
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: "ping"}, ""},
		{"huge id", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, jsonrpc.Message{Kind: jsonrpc.Request, Method: "ping"}, ""},
		{"notification", `{"jsonrpc":"2.0","method":"n","params":{"a":1}}`, jsonrpc.Message{Kind: jsonrpc.Notification, Method: "n", Params: []byte(`{"a":1}`)}, ""},
		{"meta", `{"jsonrpc":"2.0","id":"x","method":"m","params":{"_meta":{"k":1},"b":2}}`, jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.StringID("x"), Method: "m", Params: []byte(`{"_meta":{"k":1},"b":2}`), Meta: []byte(`{"k":1}`)}, ""},
		{"null params", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: "m"}, ""},
		{"result", ` {"jsonrpc":"2.0","id":1,"result":{}} `, jsonrpc.Message{Kind: jsonrpc.Response, ID: jsonrpc.IntID(1), Result: []byte(`{}`)}, ""},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`, jsonrpc.Message{Kind: jsonrpc.Response}, ""},
		{"error with null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, jsonrpc.Message{Kind: jsonrpc.Response}, ""},
		{"case variant in params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"Name":"x"}}`, jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: "m", Params: []byte(`{"Name":"x"}`)}, "Name"},
	}
	dec := new(jsonrpc.Decoder)
	access.SetRules(dec, &access.Rules{Reserved: map[string]string{"name": "name"}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := dec.Decode([]byte(tt.frame))
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if m.Kind != tt.want.Kind || m.Method != tt.want.Method || string(m.Params) != string(tt.want.Params) ||
				string(m.Meta) != string(tt.want.Meta) || string(m.Result) != string(tt.want.Result) {
				t.Errorf("got %+v, want %+v", m, tt.want)
			}
			if got := access.NotesOf(m).CaseVariant; got != tt.variant {
				t.Errorf("noted %q as a variant of a reserved name, want %q", got, tt.variant)
			}
			if !tt.want.ID.IsZero() && m.ID != tt.want.ID {
				t.Errorf("id = %s, want %s", m.ID, tt.want.ID)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`
	tests := []struct {
		name, frame string
		code        int64
		id          string
	}{
		{"empty", ``, jsonrpc.CodeParseError, ""},
		{"truncated", `{"jsonrpc":"2.0","id":1,"method":"m"`, jsonrpc.CodeParseError, ""},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"m"}{}`, jsonrpc.CodeParseError, ""},
		{"trailing junk", `{"jsonrpc":"2.0","id":1,"method":"m"} x`, jsonrpc.CodeParseError, ""},
		{"not an object", `"hello"`, jsonrpc.CodeInvalidRequest, ""},
		{"array", `[]`, jsonrpc.CodeInvalidRequest, ""},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", jsonrpc.CodeParseError, "1"},
		{"duplicate envelope name", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"b"}`, jsonrpc.CodeInvalidRequest, ""},
		{"duplicate deep inside", `{"jsonrpc":"2.0","id":1,"method":"b","params":{"arguments":{"x":[{"y":1,"y":2}]}}}`, jsonrpc.CodeInvalidRequest, "1"},
		{"case variant method", `{"jsonrpc":"2.0","id":1,"Method":"b"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"case variant beside the method", `{"jsonrpc":"2.0","id":1,"method":"a","METHOD":"b"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, jsonrpc.CodeInvalidRequest, ""},
		{"fraction id", `{"jsonrpc":"2.0","id":1.9,"method":"m"}`, jsonrpc.CodeInvalidRequest, ""},
		{"exponent id", `{"jsonrpc":"2.0","id":1e3,"method":"m"}`, jsonrpc.CodeInvalidRequest, ""},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"m"}`, jsonrpc.CodeInvalidRequest, ""},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, jsonrpc.CodeInvalidRequest, "1"},
		{"neither", `{"jsonrpc":"2.0","id":1}`, jsonrpc.CodeInvalidRequest, "1"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, jsonrpc.CodeInvalidRequest, "1"},
		{"no version", `{"id":1,"method":"m"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"array params", `{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`, jsonrpc.CodeInvalidParams, "1"},
		{"meta not an object", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":3}}`, jsonrpc.CodeInvalidParams, "1"},
		{"method not a string", `{"jsonrpc":"2.0","id":1,"method":5}`, jsonrpc.CodeInvalidRequest, "1"},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, jsonrpc.CodeInvalidRequest, "1"},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, jsonrpc.CodeInvalidRequest, ""},
		{"error not an object", `{"jsonrpc":"2.0","id":1,"error":"x"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"too deep", deep, jsonrpc.CodeInvalidRequest, "7"},
	}
	var dec jsonrpc.Decoder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := dec.Decode([]byte(tt.frame))
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) {
				t.Fatalf("Decode = %+v, %v; want an *Error", m, err)
			}
			if rpc.Code != tt.code || m.ID.String() != tt.id {
				t.Errorf("code %d, id %q; want %d, %q (%s)", rpc.Code, m.ID, tt.code, tt.id, rpc.Message)
			}
		})
	}
}

func TestDecodeLimitsSize(t *testing.T) {
	dec := jsonrpc.Decoder{MaxBytes: 64}
	_, err := dec.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 64) + `"}`))
	if err == nil || !strings.Contains(err.Error(), "limit of 64 bytes") {
		t.Errorf("error = %v, want one that names the limit", err)
	}
}

func TestStringIDsAreEqualByValue(t *testing.T) {
	a, err := jsonrpc.ParseID([]byte(`"\u0061"`))
	if err != nil {
		t.Fatal(err)
	}
	if a != jsonrpc.StringID("a") {
		t.Errorf("%s != %s", a, jsonrpc.StringID("a"))
	}
}

func TestBatch(t *testing.T) {
	var dec jsonrpc.Decoder
	entries, err := dec.DecodeBatch([]byte(`[{"jsonrpc":"2.0","id":1,"method":"a"}, 1, {"jsonrpc":"2.0","method":"n"}, {"jsonrpc":"2.0","id":2,"method":"x","method":"y"}]`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Err != nil {
			got = append(got, "bad "+e.Message.ID.String())
			continue
		}
		got = append(got, e.Message.Method)
	}
	if want := "a,bad ,n,bad 2"; strings.Join(got, ",") != want {
		t.Errorf("entries = %v, want %s", got, want)
	}
	for _, bad := range []string{`[]`, `[1`, ``} {
		if _, err := dec.DecodeBatch([]byte(bad)); err == nil {
			t.Errorf("DecodeBatch(%q) accepted", bad)
		}
	}
}

func TestAppendStaysOnOneLine(t *testing.T) {
	frame, err := jsonrpc.Append(nil, &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: "m", Params: []byte("{\n \"a\" : 1 }")})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`; string(frame) != want {
		t.Errorf("frame = %s, want %s", frame, want)
	}
}

// Spec: 2025-11-25 basic#notifications.
//
// A refused frame still says what it was meant to be: only a request may be
// answered, and only an answer may end a call.
func TestDecodeSaysWhatARefusedFrameWas(t *testing.T) {
	for frame, want := range map[string]jsonrpc.Kind{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`:           jsonrpc.Request,
		`{"jsonrpc":"2.0","id":null,"method":"m"}`:                    jsonrpc.Request,
		`{"jsonrpc":"2.0","method":5}`:                                jsonrpc.Request,
		`{"jsonrpc":"2.0","id":1}`:                                    jsonrpc.Request,
		`{"jsonrpc":"2.0","method":"m","params":[]}`:                  jsonrpc.Notification,
		`{"method":"m"}`:                                              jsonrpc.Notification,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`:             jsonrpc.Response,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`: jsonrpc.Response,
		`{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}`:             jsonrpc.Response,
		`{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`:           jsonrpc.Request,
	} {
		m, err := new(jsonrpc.Decoder).Decode([]byte(frame))
		if err == nil || m.Kind != want {
			t.Errorf("%s: kind %v, error %v; want kind %v and an error", frame, m.Kind, err, want)
		}
	}
}
