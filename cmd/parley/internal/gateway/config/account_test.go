package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What logs in for each user does not go with a connection for all, and needs users.
func TestAccountsOfUsers(t *testing.T) {
	for text, want := range map[string]string{
		"auth: {issuer: {url: https://i.example}}\nbackends: {a: {url: https://a.example, auth: {pass: true}}}":                                                   "",
		"backends: {a: {url: https://a.example, auth: {pass: true}}}":                                                                                             "without auth.issuer",
		"backends: {a: {url: https://a.example, share: all, auth: {pass: true}}}":                                                                                 "share: all",
		"backends: {a: {url: https://a.example, auth: {exchange: {issuer: https://i.example, id: g, secret: s}}, share: all}}":                                    "share: all",
		"backends: {a: {url: https://a.example, auth: {exchange: {issuer: https://i.example, id: g}}}}":                                                           "one of the keys secret, key is missing",
		"backends: {a: {url: https://a.example, auth: {pass: true, client: {issuer: https://i.example, id: g, secret: s}}}}":                                      "there can be one of",
		"backends: {a: {url: https://a.example, share: all, auth: {client: {issuer: https://i.example, id: g, secret: s}}}}":                                      "",
		"auth: {issuer: {url: https://i.example}}\nbackends: {a: {url: https://a.example, auth: {exchange: {issuer: https://i.example, id: g, key: no secret}}}}": "a.auth.exchange.key",
	} {
		path := filepath.Join(t.TempDir(), "g.yaml")
		if err := os.WriteFile(path, []byte("version: 1\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(path, outside(t.TempDir(), nil))
		said := ""
		if err != nil {
			said = err.Error()
		} else if len(c.Warnings) > 0 {
			said = c.Warnings.Error()
		}
		if want == "" && said != "" || !strings.Contains(said, want) || strings.Contains(said, "no secret") {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
	}
}
