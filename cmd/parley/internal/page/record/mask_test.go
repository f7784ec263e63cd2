package record

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/parley-mcp/parley/internal/redact"
)

func TestMaskedFrame(t *testing.T) {
	l := Lens{mask: redact.New(http.Header{"X-Key": {"s3cr3t-value"}})}
	for frame, want := range map[string]string{
		`{"a":1.0,"b":"plain"}`:                       `{"a":1.0,"b":"plain"}`,
		`{"password":"abc", "n":1e400}`:               `{"password":"(3 bytes, not shown)", "n":1e400}`,
		`{"p\u0061ssword" : ["abc","d"]}`:             `{"p\u0061ssword" : ["(3 bytes, not shown)","(1 bytes, not shown)"]}`,
		`{"text":"it says s3cr3t-value here"}`:        `{"text":"it says (12 bytes, not shown) here"}`,
		`{"text":"\u00733cr3t-value"}`:                `{"text":"(12 bytes, not shown)"}`,
		`{"text":"go to /cb?code=abc\" and on"}`:      `{"text":"go to /cb?code=(3 bytes, not shown)\" and on"}`,
		`{"text":"Bearer abcdefghijklmnopqrstuvw"}`:   `{"text":"Bearer (23 bytes, not shown)"}`,
		`not JSON: Bearer abcdefghijklmnopqrstuvw`:    `not JSON: Bearer (23 bytes, not shown)`,
		`{"code":"x","params":{"progressToken":"p"}}`: `{"code":"x","params":{"progressToken":"p"}}`,
	} {
		if got := l.Frame([]byte(frame)); string(got) != want {
			t.Errorf("%s is shown as\n%s, want\n%s", frame, got, want)
		}
		if got := (Lens{secrets: true}).Frame([]byte(frame)); string(got) != frame {
			t.Errorf("with secrets, %s is %s", frame, got)
		}
	}
}

func FuzzMaskedFrame(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"access_token":"abc","x":["token=1\"2"]}}`))
	f.Add([]byte(`"\u0022password\u0022:\u0022x\u0022"`))
	f.Add([]byte(`[{"password":"a"},"b"`))
	l := Lens{mask: redact.New(http.Header{"X-Key": {"s3cr3t-value"}})}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if got := l.Frame(frame); json.Valid(frame) != json.Valid(got) && json.Valid(frame) {
			t.Errorf("%s is no longer JSON: %s", frame, got)
		}
	})
}
