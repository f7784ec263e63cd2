package schemas

import (
	"strconv"
	"strings"
	"testing"
)

// Whatever comes is judged, and what is wrong with it can be found in it.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":1}]}}`), true, "tools/call")
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"x"}}}}`), true, "tools/call")
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping","a~/b":{}},[],1]`), false, "")
	f.Add([]byte(`{"a":1,"a":1}`), false, "")
	f.Add([]byte(`{"jsonrpc":"2.0","id":1e999999999,"method":"tools/call","params":{"_meta":{}}}`), false, "")
	f.Fuzz(func(t *testing.T, text []byte, fromServer bool, answers string) {
		for _, revision := range Revisions() {
			s := open(t, revision)
			m := Message{JSON: text, FromServer: fromServer, Answers: answers}
			for _, v := range s.Check(m) {
				if v.Text == "" {
					t.Errorf("%q: a violation without a text", text)
				}
				if strings.Contains(v.Text, "not valid JSON") {
					return
				}
				mustFind(t, text, v.Pointer)
			}
			for _, at := range s.Unknown(m) {
				mustFind(t, text, at)
			}
		}
	})
}

func mustFind(t *testing.T, text []byte, at string) {
	t.Helper()
	v, faulty := decode(text)
	if faulty != nil {
		t.Fatal(faulty)
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(at, "/"), "/") {
		if at == "" {
			break
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[step]
			if !ok {
				t.Fatalf("%s is not in %s", at, text)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				t.Fatalf("%s is not in %s", at, text)
			}
			v = in[i]
		default:
			t.Fatalf("%s is not in %s", at, text)
		}
	}
}
