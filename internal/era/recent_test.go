package era

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// A copy shares no writable memory with the original, whatever members the types
// have.
func TestClonesShareNothing(t *testing.T) {
	info, capabilities := *filled[mcp.Implementation](), *filled[mcp.ClientCapabilities]()
	for _, pair := range [][2]any{
		{info, cloneImplementation(info)},
		{capabilities, cloneCapabilities(capabilities)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("the copy of %+v is %+v", pair[0], pair[1])
		}
		name := fmt.Sprintf("%T", pair[0])
		sharesNothing(t, name, reflect.ValueOf(pair[0]), reflect.ValueOf(pair[1]))
	}
}

func sharesNothing(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	kind := a.Kind()
	if kind == reflect.Pointer && a.Type().Elem().Size() == 0 {
		return // there is nothing to write
	}
	if (kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map) && a.Pointer() == b.Pointer() {
		t.Errorf("%s is shared", path)
	}
	if kind == reflect.Pointer {
		sharesNothing(t, path, a.Elem(), b.Elem())
	}
	if kind == reflect.Slice {
		for i := range a.Len() {
			sharesNothing(t, path+"[]", a.Index(i), b.Index(i))
		}
	}
	if kind == reflect.Map {
		for _, key := range a.MapKeys() {
			sharesNothing(t, path+"["+key.String()+"]", a.MapIndex(key), b.MapIndex(key))
		}
	}
	if kind == reflect.Struct {
		for i := range a.NumField() {
			sharesNothing(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	}
}

// meddling is a handler that returns what a client has declared, and then writes
// to it.
type meddling struct{ handing }

func (meddling) Serve(_ context.Context, x *mcp.Exchange) (any, error) {
	said, err := json.Marshal([]any{x.Peer.Info, x.Peer.Capabilities})
	x.Peer.Capabilities.Sampling.Tools = nil
	x.Peer.Capabilities.Elicitation.URL = nil
	x.Peer.Capabilities.Extensions["com.example/e"][1] = 'X'
	delete(x.Peer.Capabilities.Experimental, "e")
	x.Peer.Info.Icons[0].Sizes[0] = "x"
	x.Peer.Info.Icons[0].Src = "x"
	return map[string]string{"said": string(said)}, err
}

// What a handler writes to the declarations of one request does not show up in the
// next, even when that has the same text: it may come from another client.
func TestDeclarationsAreTheRequestsOwn(t *testing.T) {
	s, err := NewStateless(meddling{}, mcp.ServeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const info = `{"name":"c","version":"1","icons":[{"src":"https://x/i","sizes":["16x16"]}]}`
	const declared = `{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"com.example/e":{"a":1}},"experimental":{"e":{}}}`
	want := strings.ReplaceAll(fmt.Sprintf("[%s,%s]", info, declared), `"`, `\"`)
	for range 3 {
		out := new(keeper)
		s.Receive(t.Context(), decode(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":%s,"io.modelcontextprotocol/clientCapabilities":%s}}}`, info, declared)), out, Sender{})
		if !strings.Contains(string(out.frame), want) {
			t.Errorf("got  %s\nwant %s", out.frame, want)
		}
	}
}

// The same text is decoded once, as long as few others come in between.
func TestRecentIsBounded(t *testing.T) {
	var r recent[mcp.Implementation]
	for i := range 3 * maxRecent {
		text := fmt.Sprintf(`{"name":"c%d","version":"1"}`, i)
		for range 2 {
			got, err := r.decode([]byte(text), cloneImplementation)
			if err != nil || got.Name != fmt.Sprint("c", i) {
				t.Fatalf("%s: got %+v, %v", text, got, err)
			}
		}
		if len(r.seen) > maxRecent {
			t.Fatalf("%d texts are remembered", len(r.seen))
		}
	}
	before := len(r.seen)
	long := fmt.Sprintf(`{"name":%q,"version":"1"}`, strings.Repeat("c", maxRecentText))
	if _, err := r.decode([]byte(long), cloneImplementation); err != nil || len(r.seen) != before {
		t.Errorf("a long text: %v, %d are remembered instead of %d", err, len(r.seen), before)
	}
	if _, err := r.decode([]byte(`{"name":1}`), cloneImplementation); err == nil || len(r.seen) != before {
		t.Errorf("a bad text: %v, %d are remembered instead of %d", err, len(r.seen), before)
	}
}
