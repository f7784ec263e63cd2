package redact_test

import (
	"net/http"
	"testing"

	"github.com/parley-mcp/parley/internal/redact"
)

func TestHead(t *testing.T) {
	r := redact.New(http.Header{"X-Tenant": {"t1"}})
	const session = "0123456789abcdef0123456789abcdef"
	got := r.Head("POST https://u:pw@h.example/mcp?code=abcdef&x=1\nAuthorization: Bearer abc\ncookie: a=b\nX-Tenant: t1\nX-Api-Key: k\nMcp-Session-Id: " + session + "\nContent-Type: application/json\nWWW-Authenticate: Bearer realm=\"x\"\n")
	want := "POST https://(4 bytes, not shown)@h.example/mcp?code=(6 bytes, not shown)&x=1\nAuthorization: (10 bytes, not shown)\ncookie: (3 bytes, not shown)\nX-Tenant: (2 bytes, not shown)\nX-Api-Key: (1 bytes, not shown)\nMcp-Session-Id: 0123… (32 bytes, not shown)\nContent-Type: application/json\nWWW-Authenticate: Bearer realm=\"x\"\n"
	if got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	if again := r.Head(got); again != want {
		t.Errorf("redacting twice makes\n%s", again)
	}
}

func TestText(t *testing.T) {
	var r *redact.Redactor // knows no secret by value
	for text, want := range map[string]string{
		`{"access_token":"abc","token_type":"Bearer"}`:              `{"access_token":"(3 bytes, not shown)","token_type":"Bearer"}`,
		`{"refresh_token" : "a\"b", "x": 1}`:                        `{"refresh_token" : "(4 bytes, not shown)", "x": 1}`,
		`{"client_secret":"cut off in the mid`:                      `{"client_secret":"(18 bytes, not shown)`,
		"grant_type=authorization_code&code=xyz&code_verifier=abcd": "grant_type=authorization_code&code=(3 bytes, not shown)&code_verifier=(4 bytes, not shown)",
		`{"error":{"code":"-32602"}}`:                               `{"error":{"code":"-32602"}}`,
		`{"params":{"_meta":{"progressToken":"p1"}}}`:               `{"params":{"_meta":{"progressToken":"p1"}}}`,
		`it sent "Bearer abcdefghijklmnopqrst" in a query`:          `it sent "Bearer (20 bytes, not shown)" in a query`,
	} {
		got := r.Text(text)
		if got != want {
			t.Errorf("%s is\n%s, want\n%s", text, got, want)
		}
		if again := r.Text(got); again != want {
			t.Errorf("redacting twice makes\n%s", again)
		}
	}
}
