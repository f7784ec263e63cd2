package login

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A server that names other scopes for ever, and a link that is opened again and again
// without its cookie, cost no more than the bounds.
func TestBounds(t *testing.T) {
	d := NewDesk(DeskOptions{Logger: slog.New(slog.DiscardHandler)})
	defer d.Close()
	d.Open("http://127.0.0.1:1", Visitors{Issuer: &Issuer{Resource: "http://127.0.0.1:1/mcp"}})
	u := &user{Users: NewUsers(UsersOptions{Backend: "shop", Desk: d}), owner: Owner{"shop", "http://127.0.0.1:2/mcp", "alice"}}
	v, err := d.visit(u)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 * maxBrowsers {
		u.note([]string{fmt.Sprintf(`Bearer error="insufficient_scope", scope="s%d"`, i)})
		d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+v.path(), nil))
	}
	if len(u.lacks) != maxLacks || len(d.browsers) != maxBrowsers {
		t.Errorf("%d scopes and %d browsers are kept", len(u.lacks), len(d.browsers))
	}
}
