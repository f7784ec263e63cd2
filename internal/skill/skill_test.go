package skill

import (
	"encoding/json"
	"strings"
	"testing"
)

// Spec: ext-skills/stable skills#skill-format.
func TestCheck(t *testing.T) {
	long := func(n int) string { return strings.Repeat("ä", n) }
	for _, tt := range []struct{ frontmatter, want string }{
		{`{"name":"a","description":"d"}`, ""},
		{`{"name":"pdf-processing2","description":"` + long(1024) + `","license":"MIT","compatibility":"` + long(500) + `"}`, ""},
		{`{"name":"` + strings.Repeat("a", 64) + `","description":"d","metadata":{"version":"1.0","io.modelcontextprotocol/x":"y"}}`, ""},
		{`{"name":"a","description":"d","allowed-tools":"Bash(git:*) Read","hooks":{"any":[1,null]}}`, ""},
		{`{"name":"a","description":"d","allowed-tools":["Bash(git:*)","Read"]}`, ""},

		{`{"description":"d"}`, `"name" is missing`},
		{`{"name":"a"}`, `"description" is missing`},
		{`{"name":"","description":"d"}`, `"name" is empty`},
		{`{"name":"a","description":" "}`, `"description" is empty`},
		{`{"name":7,"description":"d"}`, `"name" must be a string: put 7 in quotes`},
		{`{"name":true,"description":"d"}`, `put true in quotes`},
		{`{"name":["a"],"description":"d"}`, `"name" must be a string`},
		{`{"name":"a","description":null}`, `"description" must be a string`},
		{`{"name":"` + strings.Repeat("a", 65) + `","description":"d"}`, "more than 64 characters"},
		{`{"name":"PDF","description":"d"}`, "only have lowercase letters"},
		{`{"name":"a_b","description":"d"}`, "only have lowercase letters"},
		{`{"name":"größe","description":"d"}`, "only have lowercase letters"},
		{`{"name":"a/b","description":"d"}`, "only have lowercase letters"},
		{`{"name":"-a","description":"d"}`, "begin or end with a hyphen"},
		{`{"name":"a-","description":"d"}`, "begin or end with a hyphen"},
		{`{"name":"a--b","description":"d"}`, "two in a row"},
		{`{"name":"a","description":"` + long(1025) + `"}`, `"description" has 1025 characters, and at most 1024`},
		{`{"name":"a","description":"d","compatibility":""}`, `"compatibility" is empty`},
		{`{"name":"a","description":"d","compatibility":"` + long(501) + `"}`, `"compatibility" has 501 characters`},
		{`{"name":"a","description":"d","license":7}`, `"license" must be a string`},
		{`{"name":"a","description":"d","metadata":"v1"}`, `"metadata" is not a mapping`},
		{`{"name":"a","description":"d","metadata":{"version":1.0}}`, `"metadata.version" must be a string: put 1.0 in quotes`},
		{`{"name":"a","description":"d","allowed-tools":7}`, `"allowed-tools" is neither`},
		{`{"name":"a","description":"d","allowed-tools":["Read",{}]}`, `"allowed-tools" must be a string`},
	} {
		err := Check(json.RawMessage(tt.frontmatter))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%.80s: %v, want %q", tt.frontmatter, err, tt.want)
		}
	}
}

func TestDigest(t *testing.T) {
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if d := Digest(nil); d != empty {
		t.Errorf("the digest of nothing is %s", d)
	}
	if err := CheckDigest(empty); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "sha256:", empty[:len(empty)-1], empty + "0", strings.ToUpper(empty), "sha256:" + strings.ToUpper(empty[7:]), "sha512:" + empty[7:], strings.TrimPrefix(empty, "sha256:")} {
		if CheckDigest(bad) == nil {
			t.Errorf("%q is a digest", bad)
		}
	}
}
