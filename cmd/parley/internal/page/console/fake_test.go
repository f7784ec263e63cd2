package console

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a gateway of which everything is known.
type stage struct {
	mu      sync.Mutex
	changes []Change
	watch   func(string)
	decided func(Decided)
	ready   error
	// unwritten is why the audit log is not written; nil where it is.
	unwritten error
	asked     Query
	now       string // what Backends says
}

var errStage = errors.New("it cannot be")

func (*stage) Overview() Overview {
	return Overview{Name: "gateway.yaml", Configuration: Configuration{File: "/etc/gateway.yaml", Revision: "r1"}, Addresses: []string{}, Guards: []string{"audit"}}
}

func (s *stage) Backends() []Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []Backend{{Name: "shop", Status: s.now}}
}
func (*stage) Sessions() Sessions { return Sessions{Open: map[string]int{"http": 1}} }
func (*stage) Exchanges(since uint64, limit int) ([]Exchange, uint64) {
	return []Exchange{{Number: since + 1, Change: uint64(limit)}}, since + 1
}
func (*stage) Approvals() Approvals { return Approvals{Waiting: []Waiting{{ID: "a1"}}} }

func (*stage) Waiting(id string) (*Waiting, error) {
	if id != "a1" {
		return nil, web.Errorf(http.StatusNotFound, "unknown", "nothing of this ID")
	}
	return &Waiting{ID: id, Arguments: json.RawMessage(`{"amount":12345678901234567890}`)}, nil
}

func (*stage) Pins() ([]Pin, error) {
	return []Pin{{PinKey{"shop", "tool", "pay/now"}, &Version{Digest: "d1", Lines: "old"}, &Version{Digest: "d2", Lines: "new"}}}, nil
}

func (s *stage) Audit(_ context.Context, q Query) (*Lines, error) {
	s.asked = q
	return &Lines{Lines: []json.RawMessage{}}, nil
}

func (*stage) Explain(_ context.Context, c Case) (*Decision, error) {
	if c.Backend == "" {
		return nil, errStage
	}
	return &Decision{Verb: "allow", Why: "about " + c.Tool + c.Prompt + c.Resource, Policies: []Policy{}}, nil
}

func (*stage) Names(context.Context) (*Names, error) {
	return &Names{Views: []string{"staff"}, Entries: []Named{{"shop", "tool", "pay", "shop__pay"}}, Missing: map[string]string{"down": "it is down"}}, nil
}
func (*stage) Costs(context.Context) (*Costs, error)       { return &Costs{}, nil }
func (*stage) Findings(context.Context) (*Findings, error) { return &Findings{}, nil }
func (*stage) Logins(context.Context) (*Logins, error)     { return &Logins{}, nil }

func (*stage) Allow(id string, t Terms, by string) (Trace, error) {
	if id != "a1" {
		return Trace{}, errStage
	}
	return Trace{Before: "digest", After: "given", Detail: by}, nil
}
func (*stage) Deny(_, reason, _ string) (Trace, error) { return Trace{Detail: reason}, nil }
func (*stage) Revoke(string, string) (Trace, error)    { return Trace{}, nil }
func (*stage) ApprovePin(_ PinKey, d string) (Trace, error) {
	return Trace{Before: "d1", After: d}, nil
}
func (*stage) WithdrawPin(_ PinKey, d string) (Trace, error)  { return Trace{Before: d}, nil }
func (*stage) Reload(context.Context) (Trace, error)          { return Trace{"r1", "r2", "start: x"}, nil }
func (*stage) Restart(context.Context, string) (Trace, error) { return Trace{"up", "up", ""}, nil }
func (s *stage) Ready() error                                 { return s.ready }
func (*stage) ForgetLogin(context.Context, LoginKey) (Trace, error) {
	return Trace{Detail: "revoked"}, nil
}

func (s *stage) Changed(c Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unwritten != nil {
		return s.unwritten
	}
	s.changes = append(s.changes, c)
	return nil
}

func (s *stage) Watch(f func(string)) (stop func()) {
	s.watch = f
	return func() {}
}

func (s *stage) WatchDecisions(f func(Decided)) (stop func()) {
	s.decided = f
	return func() {}
}

// last is the last line of the audit log.
func (s *stage) last() Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.changes) == 0 {
		return Change{}
	}
	return s.changes[len(s.changes)-1]
}

const host = "127.0.0.1:7332"

func open(t *testing.T, s *stage, e Entrance) *Console {
	t.Helper()
	files := map[string][]byte{"index.html": []byte("<!doctype html>")}
	c := New(Options{Gateway: s, Entrance: e, Origin: "http://" + host, Hosts: []string{host}, Files: files, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(c.Close)
	return c
}

// browser is a visitor.
type browser struct {
	t       *testing.T
	c       *Console
	key     string
	cookies map[string]*http.Cookie
}

func visit(t *testing.T, c *Console) *browser {
	return &browser{t: t, c: c, cookies: map[string]*http.Cookie{}}
}

// as is a visitor who was let in with a role.
func as(t *testing.T, c *Console, role web.Role) *browser {
	t.Helper()
	b := visit(t, c)
	w := httptest.NewRecorder()
	b.key = c.door.Enter(w, web.Visitor{Name: "ada", Role: role})
	b.keep(w)
	return b
}

func (b *browser) keep(w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		b.cookies[c.Name] = c
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
}

// do makes a request, and returns its status and body.
func (b *browser) do(method, path, body string) (int, string) {
	b.t.Helper()
	w := b.send(method, path, body)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func (b *browser) send(method, path, body string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
	r = r.WithContext(b.t.Context())
	r.RemoteAddr = "127.0.0.1:5555"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	if b.key != "" {
		r.Header.Set("Parley-Key", b.key)
	}
	w := httptest.NewRecorder()
	b.c.ServeHTTP(w, r)
	b.keep(w)
	return w
}
