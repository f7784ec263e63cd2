package streamable

import (
	"net/url"
	"testing"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/httpcall"
)

func TestEncodeHeader(t *testing.T) {
	tests := []struct{ value, want string }{
		{"us-west1", "us-west1"},
		{"", ""},
		{"two words", "two words"},
		{"file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"},
		{"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{" padded ", "=?base64?IHBhZGRlZCA=?="},
		{"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
		{"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"a\tb", "=?base64?YQli?="},
		{"\tb", "=?base64?CWI=?="},
		{"=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="}, // the marks may overlap for some readers
		{"=?BASE64?x?=", "=?BASE64?x?="},
		{"\x7f", "=?base64?fw==?="},
	}
	for _, tt := range tests {
		got := encodeHeader(tt.value)
		if got != tt.want {
			t.Errorf("%q became %q, want %q", tt.value, got, tt.want)
		}
		if back, err := decodeHeader(got); err != nil || back != tt.value {
			t.Errorf("%q came back as %q, %v", tt.value, back, err)
		}
	}
}

func TestDecodeHeaderRefuses(t *testing.T) {
	for name, value := range map[string]string{
		"no padding":        "=?base64?YQ?=",
		"alphabet":          "=?base64?Y-_h?=",
		"trailing bits":     "=?base64?YR==?=",
		"space":             "=?base64?Y Q==?=",
		"line break":        "=?base64?YQ=\n=?=",
		"not UTF-8":         "=?base64?/w==?=",
		"control character": "a\x01b",
		"delete":            "a\x7fb",
		"not ASCII":         "é",
	} {
		if got, err := decodeHeader(value); err == nil {
			t.Errorf("%s: %q became %q", name, value, got)
		}
	}
	if got, err := decodeHeader("a\tb"); err != nil || got != "a\tb" {
		t.Errorf("a tab, which headers may have, became %q, %v", got, err)
	}
}

func FuzzHeaderRoundTrip(f *testing.F) {
	for _, seed := range []string{"", "a b", " a", "a\n", "世界", "=?base64?YQ==?=", "=?base64?="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !utf8.ValidString(value) {
			t.Skip("JSON is UTF-8")
		}
		encoded := encodeHeader(value)
		for i := range len(encoded) {
			if encoded[i] < ' ' || encoded[i] > '~' {
				t.Fatalf("%q became %q, which does not go into a header", value, encoded)
			}
		}
		if back, err := decodeHeader(encoded); err != nil || back != value {
			t.Fatalf("%q became %q, and that %q, %v", value, encoded, back, err)
		}
	})
}

func TestSameOrigin(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"http://a/x", "http://a/y?z", true},
		{"http://a", "http://A:80", true},
		{"https://a:443", "https://a", true},
		{"http://a", "https://a", false},
		{"http://a", "http://a:8080", false},
		{"http://a", "http://b", false},
		{"http://a", "http://a.evil", false},
		{"http://[::1]:8080", "http://[::1]:8080/", true},
	}
	for _, tt := range tests {
		a, errA := url.Parse(tt.a)
		b, errB := url.Parse(tt.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := httpcall.SameOrigin(a, b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}
