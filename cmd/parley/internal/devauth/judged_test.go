package devauth_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
	"github.com/parley-mcp/parley/internal/check/authprobe"
	"github.com/parley-mcp/parley/internal/check/mutant"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// judgedDocument is where the client that is judged with describes itself.
const judgedDocument = "https://app.example.com/client.json"

// stage is a protected endpoint, its authorization server, and the network
// around them.
type stage struct {
	t      *testing.T
	origin string
	mux    *http.ServeMux
	calls  atomic.Int64 // to the trap
	tokens map[string]string
}

// newStage starts both at an origin: remote, with https, or local.
func newStage(t *testing.T, where string) *stage {
	t.Helper()
	s := &stage{t: t, origin: map[string]string{"remote": "https://mcp.example.com", "local": "http://127.0.0.1:7331"}[where], mux: http.NewServeMux()}
	robots := []devauth.Client{}
	for _, name := range []string{"robot", "second"} {
		robots = append(robots, devauth.Client{ID: name, Secret: name + " secret", Scopes: []string{"mcp:read", "mcp:write", "mcp:admin"}})
	}
	login, err := devauth.New(devauth.Options{
		Issuer: s.origin, Resources: []string{s.origin + "/mcp", s.origin + "/other"}, Users: map[string]string{"ada": password}, Clients: robots,
		Scopes:     map[string]string{"mcp:read": "Read", "mcp:write": "Write", "mcp:admin": "Rule", "mcp:audit": "Look"},
		HTTPClient: &http.Client{Transport: s}, Logger: mcptest.Quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	login.Mount(s.mux)
	s.protect(login)
	s.tokens = map[string]string{
		"token": s.token("robot", "/mcp", "mcp:read mcp:write mcp:admin"), "other": s.token("robot", "/other", "mcp:read mcp:write"),
		"narrow": s.token("robot", "/mcp", "mcp:read"), "second": s.token("second", "/mcp", "mcp:read mcp:write"),
	}
	return s
}

// protect serves the specimen to those who have a token.
func (s *stage) protect(login *devauth.Server) {
	keys, err := wire.Marshal(login.Keys())
	if err != nil {
		s.t.Fatal(err)
	}
	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: s.origin, Keys: keys})
	if err != nil {
		s.t.Fatal(err)
	}
	guard, err := auth.New(&auth.Options{
		Resource: s.origin + "/mcp", AuthorizationServers: []string{s.origin}, Verifier: tokens, Scopes: []string{"mcp:read"},
		Rules: auth.Rules{Tools: map[string][]string{"add_numbers": {"mcp:write", "mcp:admin"}}}, Logger: mcptest.Quiet(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	srv := specimen.New(nil)
	srv.Use(guard.Enforce)
	h, err := streamable.New(srv, &streamable.Options{
		ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1, Hosts: []string{"mcp.example.com", "127.0.0.1"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = h.Close(context.Background())
		_ = srv.Close(context.Background())
	})
	s.mux.Handle("/mcp", guard.Protect(h))
	guard.Mount(s.mux)
}

// trapAddr is where nobody has a reason to call.
const trapAddr = "127.0.0.1:40999"

// RoundTrip is the network, without sockets.
func (s *stage) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.URL.Host == "app.example.com":
		return s.document(r), nil
	case r.URL.Host == trapAddr && r.Header.Get("User-Agent") == "parley-check":
		s.calls.Add(1) // the mutant sends the request on
		return nil, http.ErrHandlerTimeout
	case "https://"+r.URL.Host != s.origin && "http://"+r.URL.Host != s.origin:
		return nil, safehttp.ErrRefused
	}
	in := r.Clone(r.Context())
	in.RequestURI, in.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:40000"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	s.mux.ServeHTTP(rec, in)
	resp := rec.Result()
	resp.Request = r
	return resp, nil
}

func (*stage) document(r *http.Request) *http.Response {
	rec := httptest.NewRecorder()
	if r.URL.Path == "/client.json" {
		rec.Header().Set("Content-Type", "application/json")
		_, _ = rec.WriteString(`{"client_id":"` + judgedDocument + `","client_name":"App","redirect_uris":["` + callback + `"]}`)
	} else {
		rec.WriteHeader(http.StatusNotFound)
	}
	resp := rec.Result()
	resp.Request = r
	return resp
}

// token is one that a client gets for itself.
func (s *stage) token(client, path, scopes string) string {
	s.t.Helper()
	r := request(s.t, "POST", s.origin+"/token", url.Values{"grant_type": {"client_credentials"}, "resource": {s.origin + path}, "scope": {scopes}})
	r.SetBasicAuth(client, url.QueryEscape(client+" secret"))
	resp, err := s.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	return (&page{s.t, resp.StatusCode, resp.Header, string(body)}).tokens().access
}

// visit is a person who logs in and allows everything.
func (s *stage) visit(_ context.Context, at, _ string) (url.Values, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	c := &http.Client{Transport: s, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	step := url.Values{"action": {"login"}, "name": {"ada"}, "password": {password}}
	r := request(s.t, "GET", at, nil)
	for range 8 {
		resp, err := c.Do(r)
		if err != nil {
			return nil, err
		}
		body, _ := io.ReadAll(resp.Body)
		p := &page{s.t, resp.StatusCode, resp.Header, string(body)}
		to := resp.Header.Get("Location")
		switch {
		case strings.HasPrefix(to, "/"):
			r = request(s.t, "GET", s.origin+to, nil)
		case to != "":
			return p.answer(), nil
		case actionOf.MatchString(p.body):
			action, form := p.form()
			if !strings.Contains(p.body, `type="password"`) {
				step = url.Values{"action": {"allow"}}
			}
			maps.Copy(form, step)
			r = request(s.t, "POST", s.origin+action, form)
			r.Header.Set("Origin", s.origin)
		default:
			return url.Values{"error": {"the page says: " + p.body}}, nil
		}
	}
	return nil, http.ErrHandlerTimeout
}

// Addr implements authprobe.Trap.
func (*stage) Addr() string { return trapAddr }

// Calls implements authprobe.Trap.
func (s *stage) Calls() int { return int(s.calls.Load()) }

// Close implements authprobe.Trap.
func (*stage) Close() error { return nil }

// judge checks the stage in one revision, with the faults of a mutant.
func (s *stage) judge(revision string, faulty *mutant.Faulty) *verdict.Report {
	s.t.Helper()
	var wire http.RoundTripper = s
	if faulty != nil {
		wire = faulty.HTTP(s)
	}
	report, err := authprobe.Check(s.t.Context(), authprobe.Target{Endpoint: s.origin + "/mcp", Client: &http.Client{Transport: wire}}, &authprobe.Options{
		Revisions: []string{revision}, Register: true, ClientMetadata: judgedDocument, Rate: 1e9,
		Token: s.tokens["token"], OtherToken: s.tokens["other"], NarrowToken: s.tokens["narrow"], SecondToken: s.tokens["second"],
		Login: &authprobe.Login{RedirectURI: callback, Visit: s.visit},
		Trap:  func(context.Context) (authprobe.Trap, error) { return s, nil },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return report
}

// An authorization server and an endpoint that do everything right are accused
// of nothing.
func TestJudgedInnocent(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} {
		for _, where := range []string{"remote", "local"} {
			t.Run(revision+"/"+where, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					for _, run := range newStage(t, where).judge(revision, nil).Runs {
						for _, v := range run.Verdicts {
							if v.Failed() {
								t.Errorf("%s", describeVerdict(v))
							}
							if os.Getenv("PARLEY_CHECK_VERBOSE") != "" && v.Outcome != verdict.Pass {
								t.Logf("%s %s (%s): %s", v.Row, v.Outcome, v.Probe, v.Why)
							}
						}
					}
				})
			})
		}
	}
}

// Each mutant has one fault, which is found, and nothing else is said of it.
func TestJudgedMutants(t *testing.T) {
	all, err := mutant.Read("../../../../internal/check/mutant/testdata/auth/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutant.Sample(all) {
		t.Run(m.Row+"@"+m.Revision+"/"+m.Place, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { tryMutant(t, m) })
		})
	}
}

func tryMutant(t *testing.T, m *mutant.Mutant) {
	t.Helper()
	s := newStage(t, m.Transport)
	m.Name(s.tokens)
	faulty := mutant.New(m)
	found := false
	for _, run := range s.judge(m.Revision, faulty).Runs {
		for _, v := range run.Verdicts {
			switch {
			case v.Row == m.Row && v.Failed():
				found = true
			case v.Row == m.Row:
				t.Logf("%s: %s is %q: %s", m.Place, v.Row, v.Outcome, v.Why)
			case v.Failed():
				t.Errorf("%s: accused although it is kept: %s", m.Place, describeVerdict(v))
			}
		}
	}
	if !faulty.Fired() {
		t.Errorf("%s: nothing that its switches match was seen", m.Place)
	} else if !found {
		t.Errorf("%s: %s was not found", m.Place, m.Row)
	}
}

func describeVerdict(v verdict.Verdict) string {
	var b strings.Builder
	b.WriteString(v.Row + " " + string(v.Outcome) + " (" + v.Probe + "): " + v.Why + "\n  " + v.Text)
	for _, e := range v.Evidence {
		b.WriteString("\n    " + strings.TrimSpace(e.Head+e.Text) + " at " + e.Pointer)
	}
	return b.String()
}
