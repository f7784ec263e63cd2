package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
)

// everything is a body with members of all kinds.
type everything struct {
	Text   string            `json:"text,omitempty"`
	Number int64             `json:"number,omitempty"`
	Yes    bool              `json:"yes,omitempty"`
	List   []string          `json:"list,omitempty"`
	Map    map[string]string `json:"map,omitempty"`
	Raw    json.RawMessage   `json:"raw,omitempty"`
	Inner  *everything       `json:"inner,omitempty"`
}

// Whatever a body has, it is either refused with an error of the API, or read as it would be
// written.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"text":"x"}`, `{"number":9007199254740993}`, `{"raw":{"a":[1.0,12345678901234567890]}}`, `{"inner":{"inner":{"yes":true}}}`,
		`{"txt":"x"}`, `{"text":"a","text":"b"}`, `{"Text":"x"}`, `[]`, `null`, ``, `{} {}`, `{"__proto__":{}}`, `{"text":"\ud800"}`, "{\"text\":\"\xff\"}", `{"number":1e400}`, `{"list":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var first everything
		if err := readBody(body, &first); err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Status < 400 || e.Status >= 500 || e.Message == "" || e.Code == "" {
				t.Fatalf("%q: %#v", body, err)
			}
			return
		}
		written, err := wire.Marshal(first)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		var again everything
		if err := readBody(written, &again); err != nil {
			t.Fatalf("%q was written as %q: %v", body, written, err)
		}
		if twice, err := wire.Marshal(again); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("%q was read as %q, then as %q: %v", body, written, twice, err)
		}
	})
}

// readBody reads a body as a route does.
func readBody(body []byte, into any) error {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/api/v1/x", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	return (&Request{Request: r, control: http.NewResponseController(w)}).Read(into)
}

// A member that there is not is named, wherever it stands.
func TestUnknownMembersAreNamed(t *testing.T) {
	for body, field := range map[string]string{`{"txt":1}`: "txt", `{"inner":{"Text":"x"}}`: "Text", `{"inner":{"inner":{"a/b~":1}}}`: "a/b~"} {
		var e *Error
		if err := readBody([]byte(body), new(everything)); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %#v", body, err)
		}
	}
	var read everything
	want := everything{Raw: json.RawMessage(`{"any":"thing"}`)}
	if err := readBody([]byte(`{"raw":{"any":"thing"}}`), &read); err != nil || !reflect.DeepEqual(read, want) {
		t.Errorf("%+v, %v", read, err)
	}
}
