package redact_test

import (
	"net/http"
	"strings"
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
		`{"text":"{\"password\":\"x\",\"n\":1}"}`:                   `{"text":"{\"password\":\"(1 bytes, not shown)\",\"n\":1}"}`,
		`{"text":"{\n \"api_key\" :\n \"a\\\"b\\\\\"}"}`:            `{"text":"{\n \"api_key\" :\n \"(10 bytes, not shown)\"}"}`,
		`{"password":"(begins with a bracket"}`:                     `{"password":"(22 bytes, not shown)"}`,
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

// TestDocument sees that secrets are found in JSON, whatever they are escaped by, and
// nothing else is changed.
func TestDocument(t *testing.T) {
	r := redact.New(nil, `config"secret`, "987654321")
	token := "ghp_" + strings.Repeat("a1B2", 9)
	for doc, want := range map[string]string{
		`{"a": 1.0, "text":"nothing \u00e4 to see"}`:                        `{"a": 1.0, "text":"nothing \u00e4 to see"}`,
		`{"text":"it is ` + token + `."}`:                                   `{"text":"it is (40 bytes, not shown)."}`,
		`{"text":"\u0067` + token[1:] + `"}`:                                `{"text":"(40 bytes, not shown)"}`,
		`{"password":"x","next":"x"}`:                                       `{"password":"(1 bytes, not shown)","next":"x"}`,
		`[{"password":null,"next":"x"},"x"]`:                                `[{"password":null,"next":"x"},"x"]`,
		`[{"password":[{}]},"x"]`:                                           `[{"password":[{}]},"x"]`,
		`{"password":["x"],"n":1}`:                                          `{"password":["(1 bytes, not shown)"],"n":1}`,
		`{"text":"{\"password\":\"x\",\"n\":1}"}`:                           `{"text":"{\"password\":\"(1 bytes, not shown)\",\"n\":1}"}`,
		`{"text":"[\"{\\\"password\\\":\\\"x\\\"}\"]"}`:                     `{"text":"[\"{\\\"password\\\":\\\"(1 bytes, not shown)\\\"}\"]"}`,
		`{"text":"it says {\"password\": \"a\\\"b\"}"}`:                     `{"text":"it says {\"password\": \"(4 bytes, not shown)\"}"}`,
		`{"text":"a config\"secret"}`:                                       `{"text":"a (13 bytes, not shown)"}`,
		`{"text":"{\"a\":\"config\\\"secret\"}"}`:                           `{"text":"{\"a\":\"(13 bytes, not shown)\"}"}`,
		`{"` + token + `":{}}`:                                              `{"(40 bytes, not shown)":{}}`,
		`{"n":987654321}`:                                                   `{"n":(9 bytes, not shown)}`,
		`{"apiToken":"Zk3v9QpL2xWm7TnB4hRs"}`:                               `{"apiToken":"Zk3v9QpL2xWm7TnB4hRs"}`,
		`{"auth_token":"Zk3v9QpL2xWm7TnB4hRs","id":"Zk3v9QpL2xWm7TnB4hRs"}`: `{"auth_token":"(20 bytes, not shown)","id":"Zk3v9QpL2xWm7TnB4hRs"}`,
	} {
		got := string(r.Document([]byte(doc)))
		if got != want {
			t.Errorf("%s is\n%s, want\n%s", doc, got, want)
		}
		if again := string(r.Document([]byte(got))); again != want {
			t.Errorf("redacting twice makes\n%s", again)
		}
	}
}
