package login_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/mcptest"
)

// Whatever is asked of the pages without a link, or an answer that is awaited, is refused.
func FuzzDesk(f *testing.F) {
	for _, path := range []string{"/connect/shop?login=x", "/connect/_callback?state=x&code=y", "/connect/shop/callback?state=x&code=y", "/connect/client.json", "/connect/shop/client.json", "/connect/", "/connect/../x", "/connect/a/b?login=&login="} {
		f.Add(http.MethodGet, path, "cookie")
		f.Add(http.MethodPost, path, "")
	}
	for name, v := range map[string]login.Visitors{"alone": {Alone: true}, "bearer": {Bearer: "the token of all clients"}} {
		d := login.NewDesk(login.DeskOptions{Logger: mcptest.Quiet()})
		defer d.Close()
		d.Open("http://127.0.0.1:7331", v)
		f.Add(name, "/connect/"+name, name)
		desks = append(desks, d)
	}
	f.Fuzz(func(t *testing.T, method, path, cookie string) {
		if u, err := url.ParseRequestURI(path); err != nil || !strings.HasPrefix(path, "/") || u.Host != "" {
			return
		}
		for _, d := range desks {
			r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:7331"+path, strings.NewReader("token="+url.QueryEscape(cookie)))
			if err != nil {
				return
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.AddCookie(&http.Cookie{Name: "parley-gateway-7331", Value: cookie})
			w := httptest.NewRecorder()
			d.ServeHTTP(w, r)
			if w.Code < 300 || w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s %s: %d %v", method, path, w.Code, w.Header())
			}
		}
	})
}

var desks []*login.Desk
