package inspect

import (
	"testing"
)

// What the page keeps of what is typed has no secrets, by the rule by which connections are shown.
func TestMasked(t *testing.T) {
	s := newStage(t, Options{})
	type body struct {
		Server string `json:"server"`
	}
	for typed, want := range map[string]string{
		"":                                               "",
		"  npx -y  some-server ":                         "  npx -y  some-server ",
		"npx server --token swordfish -v":                "npx server --token '***' -v",
		"npx server --api-key=swordfish":                 "npx server '--api-key=***'",
		"npx server 'TOKEN=sword fish' x":                "npx server 'TOKEN=***' x",
		"npx remote https://a/?k=swordfish":              "npx remote 'https://a/?k=***'",
		"npx server 'swordfish":                          "",
		`{"mcpServers":{"a":{"env":{"K":"swordfish"}}}}`: "",
		"https://a/mcp":                                  "https://a/mcp",
		" HTTPS://me:swordfish@a/mcp?a=swordfish&b=":     "https://me:***@a/mcp?a=***&b=",
		"https://a/%zz?k=swordfish":                      "",
	} {
		if got := must[body](s, "POST", "/masked", body{typed}); got.Server != want {
			t.Errorf("%q is kept as %q, want %q", typed, got.Server, want)
		}
	}
}

// A mask is what a secret is typed in place of; elsewhere it is what it is.
func TestMasksOf(t *testing.T) {
	for _, words := range [][]string{{"***"}, {"ls", "a***b"}, {"ls", "-l", "x"}, {"ls", "--glob=***.go"}} {
		if masks := masksOf(words); masks != nil {
			t.Errorf("%q has masks: %q", words, masks)
		}
	}
}
