package login_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
)

// The token of a client is passed on only if it says that it is for the server.
func TestPass(t *testing.T) {
	const other = "https://shop.example/"
	for name, tt := range map[string]struct {
		audience func(w *world) string
		want     string
	}{
		"the gateway, too":   {func(w *world) string { return w.gate.url }, ""},
		"only the gateway":   {func(*world) string { return "" }, "its audience (aud) must have"},
		"another audience":   {func(*world) string { return other }, `must have "` + other + `"`},
		"a part of it":       {func(w *world) string { return strings.TrimSuffix(w.gate.url, "/mcp") }, "is not passed on"},
		"the same, in words": {func(w *world) string { return strings.ToUpper(w.gate.url[:4]) + w.gate.url[4:] + "/" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, true, func(w *world) (login.Account, error) { return login.NewPass(w.shop.url, tt.audience(w)) })
			u := w.user(t, "ada", eras[1], nil)
			got, err := u.whoami(t.Context())
			switch {
			case tt.want == "" && (err != nil || !strings.HasPrefix(got, "ada by ") || !w.shop.saw(u.token(t))):
				t.Errorf("%q, %v", got, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || w.shop.saw(u.token(t))):
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
