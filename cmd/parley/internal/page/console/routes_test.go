package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// calls are one good call of each route, with the least role that may make it, and what
// the audit log calls it.
var calls = []struct {
	method, path, body string
	role               web.Role
	action             string
	want               string // in the answer
}{
	{"GET", "/overview", "", web.Viewer, "", `"me":{"name":"ada","role":"`},
	{"GET", "/backends", "", web.Viewer, "", `{"backends":[{"name":"shop"`},
	{"GET", "/sessions", "", web.Viewer, "", `"open":{"http":1}`},
	{"GET", "/exchanges?since=7&limit=9", "", web.Viewer, "", `"number":8,"change":9`},
	{"GET", "/approvals", "", web.Viewer, "", `"id":"a1"`},
	{"GET", "/approvals/a1", "", web.Viewer, "", `{"amount":12345678901234567890}`},
	{"GET", "/pins", "", web.Viewer, "", `"pending":{"digest":"d2"`},
	{"GET", "/pins/one?backend=shop&kind=tool&name=pay/now", "", web.Viewer, "", `"lines":"new"`},
	{"GET", "/audit?outcome=ok", "", web.Viewer, "", `"lines":[]`},
	{"GET", "/costs", "", web.Viewer, "", `"tokens":0`},
	{"GET", "/findings", "", web.Viewer, "", `"scans":false`},
	{"GET", "/logins", "", web.Viewer, "", `"users"`},
	{"GET", "/policy/names", "", web.Viewer, "", `"views":["staff"]`},
	{"POST", "/policy/explain", `{"backend":"shop","tool":"pay"}`, web.Viewer, "", `"verb":"allow"`},
	{"POST", "/policy/test", `{"cases":[{"name":"n","backend":"shop","tool":"pay","expect":"deny"}]}`, web.Viewer, "", `"ok":false`},
	{"POST", "/approvals/a1/allow", `{"seconds":60}`, web.Approver, "approvals.allow", `{}`},
	{"POST", "/approvals/a1/deny", `{"reason":"no"}`, web.Approver, "approvals.deny", `{}`},
	{"POST", "/approvals/a1/revoke", "", web.Approver, "approvals.revoke", `{}`},
	{"POST", "/pins/approve", `{"backend":"shop","kind":"tool","name":"pay/now","digest":"d2"}`, web.Approver, "pins.approve", `{}`},
	{"POST", "/pins/withdraw", `{"backend":"shop","kind":"tool","name":"pay/now","digest":"d1"}`, web.Approver, "pins.withdraw", `{}`},
	{"POST", "/backends/shop/restart", "", web.Operator, "backends.restart", `{}`},
	{"POST", "/configuration/reload", "", web.Operator, "configuration.reload", `"after":"r2"`},
	{"POST", "/logins/forget", `{"backend":"shop","url":"https://s.example","principal":"p"}`, web.Operator, "logins.forget", `revoked`},
}

// Who may do what: a role may make the calls that it is for and those of lesser roles, and
// nobody else any. What changes something is in the audit log, also if it was refused.
func TestRolesAndRoutes(t *testing.T) {
	s := new(stage)
	c := open(t, s, Entrance{})
	visitors := map[web.Role]*browser{web.Viewer: as(t, c, web.Viewer), web.Approver: as(t, c, web.Approver), web.Operator: as(t, c, web.Operator)}
	stranger := visit(t, c)
	covered := map[string]bool{}
	for _, call := range calls {
		pattern := call.method + " /api/v1" + call.path
		if status, body := stranger.do(call.method, "/api/v1"+call.path, call.body); status != http.StatusUnauthorized {
			t.Errorf("%s for nobody: %d %s", pattern, status, body)
		}
		for role, b := range visitors {
			s.changes = nil
			status, body := b.do(call.method, "/api/v1"+call.path, call.body)
			may := role >= call.role
			if may && (status != http.StatusOK || !strings.Contains(body, call.want)) || !may && (status != http.StatusForbidden || !strings.Contains(body, `"code":"role"`)) {
				t.Errorf("%s for a %s: %d %s", pattern, role, status, body)
			}
			last := s.last()
			if last.Action != call.action || call.action != "" && (last.Refused == may || last.By != "ada" || last.Role != role.String() || last.Source != "127.0.0.1" || last.Target == "") {
				t.Errorf("%s for a %s: the audit log has %+v", pattern, role, last)
			}
		}
		covered[call.action] = true
	}
	for _, r := range c.all() {
		if !covered[r.action] {
			t.Errorf("%s is not tested", r.pattern)
		}
	}
	if got := len(c.all()); got != len(calls) {
		t.Errorf("there are %d routes, and %d calls", got, len(calls))
	}
}

// What is wrong with a request is said, with the member that it is in.
func TestMistakes(t *testing.T) {
	s := new(stage)
	b := as(t, open(t, s, Entrance{}), web.Operator)
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/exchanges?since=-1", "", 400, `"field":"since"`},
		{"GET", "/exchanges?limit=x", "", 400, `"field":"limit"`},
		{"GET", "/audit?after=yesterday", "", 400, `"field":"after"`},
		{"GET", "/audit?limit=x", "", 400, `"field":"limit"`},
		{"GET", "/pins/one?backend=shop", "", 404, `there is no pin`},
		{"GET", "/approvals/zz", "", 404, `nothing of this ID`},
		{"GET", "/nothing", "", 404, `"code":"route"`},
		{"POST", "/approvals/a1/allow", `{"minutes":5}`, 400, `"field":"minutes"`},
		{"POST", "/approvals/a1/allow", `{"seconds":-5}`, 400, `"field":"seconds"`},
		{"POST", "/approvals/a1/allow", `{"seconds":5} x`, 400, `"code":"body"`},
		{"POST", "/approvals/a2/allow", `{}`, 500, `it cannot be`},
		{"POST", "/approvals/a1/deny", `{"reason":"` + strings.Repeat("x", 1001) + `"}`, 400, `"field":"reason"`},
		{"POST", "/pins/approve", `{"pin":"x"}`, 400, `"field":"pin"`},
		{"POST", "/logins/forget", `[]`, 400, `"code":"body"`},
		{"POST", "/policy/explain", `{}`, 500, `it cannot be`},
		{"POST", "/policy/test", `{"cases":[{"backend":"shop","expect":"perhaps"},{"expect":"deny"}]}`, 200, `a case expects`},
		{"POST", "/policy/test", `{"cases":[` + strings.Repeat("{},", 1000) + `{}]}`, 400, `"field":"cases"`},
		{"DELETE", "/backends", "", 405, `"code":"method"`},
	} {
		if status, body := b.do(test.method, "/api/v1"+test.path, test.body); status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s %s %.60s: %d %s", test.method, test.path, test.body, status, body)
		}
	}
	if last := s.last(); last.Action != "logins.forget" || last.Err == nil || last.Refused {
		t.Errorf("what was not done is in the audit log as %+v", last)
	}
	q := url.Values{"after": {"2026-11-01T12:00:00Z"}, "principal": {"ada"}, "text": {"x"}, "limit": {"5000"}}
	if status, body := b.do("GET", "/api/v1/audit?"+q.Encode(), ""); status != 200 || s.asked.After.IsZero() || s.asked.Limit != 1000 || s.asked.Principal != "ada" {
		t.Errorf("%d %s: %+v", status, body, s.asked)
	}
}

// While a required audit log cannot be written, nothing is changed.
func TestNothingWithoutAudit(t *testing.T) {
	s := &stage{ready: errors.New("the audit log cannot be written")}
	b := as(t, open(t, s, Entrance{}), web.Operator)
	if status, body := b.do("POST", "/api/v1/approvals/a1/allow", `{}`); status != http.StatusServiceUnavailable || len(s.changes) > 0 {
		t.Errorf("%d %s: %+v", status, body, s.changes)
	}
	if status, _ := b.do("GET", "/api/v1/approvals", ""); status != http.StatusOK {
		t.Errorf("looking: %d", status)
	}
}

// The page hears of what changes, also of what the gateway does not say by itself.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{now: "up"}
		c := open(t, s, Entrance{})
		b := as(t, c, web.Viewer)
		w := &stream{heard: make(chan string, 100)}
		r, cancel := b.request("/api/v1/events")
		go c.ServeHTTP(w, r) // ends with cancel
		pass(3 * time.Second)
		w.drain() // what is looked at for the first time has changed
		s.watch("approval")
		pass(time.Second)
		w.hears(t, "event: approval")
		s.mu.Lock()
		s.now = "broken"
		s.mu.Unlock()
		pass(3 * time.Second)
		w.hears(t, "event: backend")
		cancel()
		synctest.Wait()
		if c.hub.Watched() {
			t.Error("the stream does not end")
		}
	})
}

// pass has time pass, in a bubble.
func pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
