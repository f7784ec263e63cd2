package era

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Whatever params bring along, only what belongs to another hop is taken out; the
// rest keeps its text and its order.
func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `null`, `{"a":1.0}`, `{"_meta":{"progressToken":1,"a/b":1.0},"a":1e400}`, `{"_meta":null}`, `{"_meta":5}`,
		`{"inputResponses":{},"z":[1],"requestState":"s","\u005fmeta":{}}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, doc []byte, asks bool) {
		params, err := wire.Marshal(json.RawMessage(doc))
		if err != nil {
			return
		}
		method, foreign := mcp.MethodComplete, []string{"_meta"}
		if asks {
			method, foreign = mcp.MethodCallTool, []string{"_meta", "inputResponses", "requestState"}
		}
		content, meta, err := Unwrap(method, params)
		if err != nil {
			return
		}
		want, err := wire.Without(params, foreign...)
		if err != nil || !bytes.Equal(content, want) && !bytes.Equal(content, params) {
			t.Errorf("%s became %s, %v; want %s", params, content, err, want)
		}
		for _, name := range foreign {
			if wire.Find(content, name) != nil {
				t.Errorf("%s is in %s", name, content)
			}
		}
		for key := range meta {
			if mcp.ReservedMeta(key) {
				t.Errorf("%s is in _meta", key)
			}
		}
	})
}

// The protocol's own keys are written last, so nobody else can set them.
func TestStampedMetaIsTheProtocols(t *testing.T) {
	theirs := mcp.Meta{"a/b": json.RawMessage("1.0")}
	for _, key := range []string{mcp.MetaProtocolVersion, mcp.MetaProgressToken, mcp.MetaLogLevel, mcp.MetaSubscriptionID} {
		theirs[key] = json.RawMessage(`"theirs"`)
	}
	const said = `{"io.modelcontextprotocol/protocolVersion":"ours"}`
	for want, o := range map[string]struct {
		out  *Outgoing
		said json.RawMessage
	}{
		`{"a/b":1.0}`: {&Outgoing{Meta: theirs}, nil},
		`{"io.modelcontextprotocol/protocolVersion":"ours","a/b":1.0}`: {&Outgoing{Meta: theirs}, json.RawMessage(said)},
		`{"io.modelcontextprotocol/protocolVersion":"ours","progressToken":3,"io.modelcontextprotocol/logLevel":"info"}`: {
			&Outgoing{ProgressToken: jsonrpc.IntID(3), LogLevel: mcp.LevelInfo}, json.RawMessage(said),
		},
		`{"a/b":null,"progressToken":"p"}`: {&Outgoing{Meta: mcp.Meta{"a/b": nil}, ProgressToken: jsonrpc.StringID("p"), LogLevel: mcp.LevelInfo}, nil},
		"":                                 {&Outgoing{Meta: mcp.Meta{mcp.MetaProgressToken: json.RawMessage("1")}}, nil},
	} {
		if got, err := o.out.stamped(o.said); err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	if len(theirs) != 5 {
		t.Error("what the caller gave was changed")
	}
	if _, err := (&Outgoing{Meta: mcp.Meta{"a/b": json.RawMessage("{")}}).stamped(nil); err == nil {
		t.Error("a value that is no JSON was sent")
	}
}
