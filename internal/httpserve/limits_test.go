package httpserve

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/era"
)

func from(t *testing.T, address string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	r.RemoteAddr = address
	return r
}

func enter(t *testing.T, l *Limits, address, principal string) bool {
	t.Helper()
	sender := SenderOf(from(t, address), func(*http.Request) string { return principal }, nil)
	c, retry := l.Enter(&sender)
	if c == nil {
		if retry == "" {
			t.Error("refused without saying when to come back")
		}
		return false
	}
	l.Leave(c)
	return true
}

// An IPv6 host can have any number of addresses: they count as one client.
func TestClientsByAddress(t *testing.T) {
	for _, tt := range []struct {
		first, second string
		same          bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
		{"[2001:db8::1]:1", "[2001:db8::2]:1", true},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:2::1]:1", false},
		{"[fe80::1%eth0]:1", "[fe80::2%eth0]:1", true},
		{"[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.2]:1", false},
	} {
		l := NewLimits(0, 0.001, 1)
		if !enter(t, l, tt.first, "") || enter(t, l, tt.second, "") == tt.same {
			t.Errorf("%s and %s are one client: want %v", tt.first, tt.second, tt.same)
		}
	}
}

func TestPrincipalsAreBoundedApart(t *testing.T) {
	l := NewLimits(0, 0.001, 1)
	if !enter(t, l, "192.0.2.1:1", "ann") || enter(t, l, "192.0.2.2:1", "ann") || !enter(t, l, "192.0.2.1:1", "bob") {
		t.Error("a principal is one client, wherever it comes from")
	}
}

// A client gains nothing by being forgotten, and the table does not keep every
// client there ever was.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimits(0, 1.0/3600, 1) // one request in an hour
		if !enter(t, l, "192.0.2.1:1", "") {
			t.Fatal("refused")
		}
		<-time.NewTimer(30 * time.Minute).C
		if !enter(t, l, "192.0.2.2:1", "") {
			t.Error("another client was refused")
		}
		if enter(t, l, "192.0.2.1:1", "") {
			t.Error("a client that was forgotten early may ask again")
		}
		<-time.NewTimer(2 * time.Hour).C
		if !enter(t, l, "192.0.2.3:1", "") || len(l.clients) != 1 {
			t.Errorf("%d clients are remembered, want the last one", len(l.clients))
		}
	})
}

func TestUnderWay(t *testing.T) {
	l := NewLimits(1, -1, 0)
	first, _ := l.Enter(&era.Sender{Source: "127.0.0.1"})
	if enter(t, l, "127.0.0.1:2", "") {
		t.Error("two requests in flight at a limit of one")
	}
	l.Leave(first)
	if !enter(t, l, "127.0.0.1:3", "") {
		t.Error("refused after the first has left")
	}
}

// Limits of the server itself count by the same addresses.
func TestSourceOfARequest(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:1234":                   "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:1234":      "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1%eth0]:1234": "2001:db8:1:2::/64",
		"127.0.0.1:1":                      "127.0.0.1",
		"[::1]:1":                          "::1",
	} {
		if got := SenderOf(from(t, remote), nil, nil).Source; got != want {
			t.Errorf("%s: got %q, want %q", remote, got, want)
		}
	}
}
