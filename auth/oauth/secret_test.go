package oauth_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
)

// A value that holds a secret never shows it, however it is printed.
func TestSecretsDoNotShow(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil, func(o *oauth.Options) { o.DPoP = false })
	w.ok(c)
	token, err := c.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := oauth.Credentials{ClientID: "me", Secret: "secret-x"}
	for _, v := range []any{
		oauth.Secret("secret-x"), token, &token, client, &client,
		map[string]oauth.Credentials{"a": client},
		oauth.ClientCredentials{Client: client},
		c.Status(t.Context()), oauth.NewMemoryStore(),
		w.client(nil, func(o *oauth.Options) { o.PreRegistered = map[string]oauth.Credentials{"a": client} }),
		c.Transport(nil),
		oauth.Options{URL: "https://mcp.example", Grant: &oauth.ClientCredentials{Client: client}},
	} {
		var text, logged bytes.Buffer
		fmt.Fprintf(&text, "%v %+v %#v %s %q %x", v, v, v, v, v, v)
		slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "v", v, "p", &v)
		slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "v", v)
		doc, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		for _, s := range []string{text.String(), logged.String(), string(doc)} {
			if strings.Contains(s, "secret-") || strings.Contains(s, fmt.Sprintf("%x", "secret-")) {
				t.Errorf("%T shows %s", v, s)
			}
		}
	}
	if oauth.Secret("").String() != "" {
		t.Error("no secret looks like one")
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"all is well":           "all is well",
		"a\x1b[31mb\r\nc\u202e": "a [31mb  c ",
		"your code abcd1234":    "your code [secret]",
		"bad \xff":              "bad ?",
	} {
		if got := oauth.Plain(in, "abcd1234", "", "a"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := oauth.Plain(strings.Repeat("ä", 1000)); len([]rune(got)) != 301 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
