package httpserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/httpserver"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// running is a server that runs.
type running struct {
	addr  string
	stop  context.CancelFunc
	ended chan error
	http  *http.Client
}

// start serves until the test ends, or stop is called.
func start(t *testing.T, h mcp.Handler, o *httpserver.Options) *running {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{addr: l.Addr().String(), stop: stop, ended: make(chan error, 1), http: &http.Client{Transport: &http.Transport{}}}
	o.Logger = mcptest.Quiet()
	go func() { r.ended <- httpserver.ServeOn(ctx, l, h, o) }() // ends with stop
	t.Cleanup(func() {
		r.http.CloseIdleConnections()
		r.stop()
	})
	return r
}

// get returns the status and the text of a page.
func (r *running) get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// put returns the status for a request to a host with a good token. Endpoints that let it
// in do not take its method.
func (r *running) put(t *testing.T, path, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, r.url(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Authorization", "Bearer good")
	resp, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func (r *running) url(path string) string { return "http://" + r.addr + path }

// end stops the server, which must end well.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// transport returns how a client of a mode reaches the server; nil if it cannot.
func (r *running) transport(m mcptest.Mode) mcp.Transport {
	switch m.Transport {
	case mcptest.HTTP:
		return &streamable.Client{URL: r.url("/mcp"), HTTP: r.http, NoSSEFallback: true}
	case mcptest.SSE:
		return &sse.Client{URL: r.url("/sse"), HTTP: r.http}
	}
	return nil
}

func connect(t *testing.T, tr mcp.Transport, m mcptest.Mode) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: []mcp.Revision{m.Revision}, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Clients of every revision are served, and all they wait for ends when the server does.
func TestServeAndEnd(t *testing.T) {
	for _, m := range mcptest.AllModes() {
		if !m.IsHTTP() {
			continue
		}
		t.Run(m.String(), func(t *testing.T) {
			begun := make(chan struct{})
			srv := greeter()
			server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
				close(begun)
				<-ctx.Done()
				return "", context.Cause(ctx)
			})
			finished := false
			r := start(t, srv, &httpserver.Options{SSEPath: "/sse", GracePeriod: -1, Finish: func(context.Context) error {
				finished = true
				return nil
			}})
			c := connect(t, r.transport(m), m)
			if text, err := client.Call[string](t.Context(), c, "greet", map[string]string{"name": "Bo"}); err != nil || text != "Hello, Bo." {
				t.Errorf("greet gave %q, %v", text, err)
			}
			waited := make(chan error, 1)
			go func() { // ends with the server
				_, err := client.Call[string](t.Context(), c, "wait", struct{}{})
				waited <- err
			}()
			<-begun
			r.end(t)
			if err := <-waited; err == nil {
				t.Error("a call went on after the end of the server")
			}
			if !finished {
				t.Error("Finish was not called")
			}
			_ = c.Close() // the server is gone
		})
	}
}

// calling is a call of the tool "wait", which is in flight.
type calling struct {
	answer chan string
	failed chan error
}

// callWait calls the tool "wait", which says when it has begun.
func callWait(t *testing.T, c *client.Client, begun <-chan struct{}) calling {
	w := calling{make(chan string, 1), make(chan error, 1)}
	go func() { // ends with the call
		text, err := client.Call[string](t.Context(), c, "wait", struct{}{})
		w.answer <- text
		w.failed <- err
	}()
	<-begun
	return w
}

// A call that is in flight when the server is told to end gets its answer. Meanwhile the
// server is alive, but not ready.
func TestGracePeriod(t *testing.T) {
	for _, m := range mcptest.AllModes() {
		if !m.IsHTTP() {
			continue
		}
		t.Run(m.String(), func(t *testing.T) {
			begun, gate := make(chan struct{}), make(chan struct{})
			srv := greeter()
			server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
				close(begun)
				select {
				case <-gate:
					return "waited", nil
				case <-ctx.Done():
					return "", context.Cause(ctx)
				}
			})
			r := start(t, srv, &httpserver.Options{SSEPath: "/sse", GracePeriod: time.Hour})
			c := connect(t, r.transport(m), m)
			w := callWait(t, c, begun)
			r.stop()
			for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
				if status, text := r.get(t, r.url(path)); status != want {
					t.Errorf("%s gave %d, %q; want %d", path, status, text, want)
				}
			}
			close(gate)
			if text, err := <-w.answer, <-w.failed; err != nil || text != "waited" {
				t.Errorf("the call gave %q, %v", text, err)
			}
			r.end(t)
			_ = c.Close() // the server is gone
		})
	}
}

// A call that takes longer than the grace period is cancelled, and the server ends well.
func TestGracePeriodIsOver(t *testing.T) {
	begun := make(chan struct{})
	srv := greeter()
	server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		close(begun)
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	r := start(t, srv, &httpserver.Options{GracePeriod: time.Millisecond})
	m := mcptest.Mode{Transport: mcptest.HTTP, Revision: mcp.Revision20260728}
	c := connect(t, r.transport(m), m)
	w := callWait(t, c, begun)
	r.end(t)
	if text, err := <-w.answer, <-w.failed; err == nil {
		t.Errorf("the call gave %q, want an error", text)
	}
	_ = c.Close() // the server is gone
}

// A handler that ignores its context does not hold up the end for longer than is allowed.
func TestEndIsBounded(t *testing.T) {
	srv, begun, release := greeter(), make(chan struct{}), make(chan struct{})
	server.AddTool(srv, mcp.Tool{Name: "stubborn"}, func(context.Context, *server.Call, struct{}) (string, error) {
		close(begun)
		<-release
		return "", nil
	})
	r := start(t, srv, &httpserver.Options{GracePeriod: -1, CloseTimeout: time.Millisecond})
	m := mcptest.Mode{Transport: mcptest.HTTP, Revision: mcp.Revision20260728}
	c := connect(t, r.transport(m), m)
	waited := make(chan error, 1)
	go func() { // ends when the connection is cut
		_, err := client.Call[string](t.Context(), c, "stubborn", struct{}{})
		waited <- err
	}()
	<-begun
	r.stop()
	if err := <-r.ended; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "within 1ms") {
		t.Errorf("the server ended with %v, want an error that says what did not end", err)
	}
	if err := <-waited; err == nil {
		t.Error("the call was answered after the end")
	}
	close(release)
	_ = c.Close() // the server is gone
}

func TestPages(t *testing.T) {
	ready := errors.New("the database is not there yet")
	r := start(t, greeter(), &httpserver.Options{
		Path:  "/api/mcp",
		Ready: func(context.Context) error { return ready },
		Mount: func(mux *http.ServeMux) error {
			mux.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "about") })
			return nil
		},
		Wrap: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Wrapped", "yes")
				next.ServeHTTP(w, r)
			})
		},
	})
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/healthz":      {200, "ok\n"},
		"/readyz":       {503, ready.Error() + "\n"},
		"/about":        {200, "about"},
		"/mcp":          {404, "404 page not found\n"},
		"/api/mcp/deep": {404, "404 page not found\n"},
	} {
		if status, text := r.get(t, r.url(path)); status != want.status || text != want.text {
			t.Errorf("%s gave %d, %q; want %d, %q", path, status, text, want.status, want.text)
		}
	}
	resp, err := r.http.Post(r.url("/api/mcp"), "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound || resp.Header.Get("X-Wrapped") != "yes" {
		t.Errorf("the endpoint gave %s, wrapped: %q", resp.Status, resp.Header.Get("X-Wrapped"))
	}
	r.end(t)
}

// What the endpoint checks by default, it checks here: a name that somebody made resolve
// to the loopback is refused.
func TestHostIsChecked(t *testing.T) {
	r := start(t, greeter(), &httpserver.Options{SSEPath: "/sse"})
	for _, path := range []string{"/mcp", "/sse"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "evil.example.com"
		resp, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s gave %s to a foreign host", path, resp.Status)
		}
	}
	r.end(t)
}

func TestTLS(t *testing.T) {
	borrowed := httptest.NewTLSServer(nil) // for its certificate
	defer borrowed.Close()
	certificate := borrowed.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: certificate.Certificate[0]},
		keyFile:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(borrowed.Certificate())
	for name, o := range map[string]*httpserver.Options{
		"files":  {CertFile: certFile, KeyFile: keyFile},
		"config": {TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, greeter(), o)
			r.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
			c, err := client.Connect(t.Context(), &streamable.Client{URL: "https://" + r.addr + "/mcp", HTTP: r.http}, &client.Options{Logger: mcptest.Quiet()})
			if err != nil {
				t.Fatal(err)
			}
			if text, err := client.Call[string](t.Context(), c, "greet", map[string]string{"name": "Cy"}); err != nil || text != "Hello, Cy." {
				t.Errorf("greet gave %q, %v", text, err)
			}
			_ = c.Close() // nothing is lost
			r.end(t)
		})
	}
}

func newGuard(t *testing.T, resource string) *auth.Guard {
	t.Helper()
	g, err := auth.New(&auth.Options{
		Resource: resource, AuthorizationServers: []string{"https://login.example.com"}, Logger: mcptest.Quiet(),
		Verifier: auth.VerifierFunc(func(_ context.Context, token string) (*auth.Token, error) {
			if token != "good" {
				return nil, auth.Invalid("this token is not good")
			}
			return &auth.Token{
				Authorization: mcp.Authorization{Issuer: "https://login.example.com", Subject: "ann", Expires: time.Now().Add(time.Hour)}, Audience: []string{resource},
			}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGuard(t *testing.T) {
	r := start(t, greeter(), &httpserver.Options{
		Guard: newGuard(t, "https://mcp.example.com/notes/mcp"), SSEPath: "/notes/sse", SSEGuard: newGuard(t, "https://mcp.example.com/notes/sse"),
	})
	for path, want := range map[string]int{
		"/notes/mcp": 401, "/notes/sse": 401, "/mcp": 404, "/healthz": 200,
		"/.well-known/oauth-protected-resource":           200,
		"/.well-known/oauth-protected-resource/notes/mcp": 200,
		"/.well-known/oauth-protected-resource/notes/sse": 200,
	} {
		if status, text := r.get(t, r.url(path)); status != want {
			t.Errorf("%s gave %d, %q; want %d", path, status, text, want)
		}
	}
	r.end(t)
}

// Where nobody says which hosts to accept, the guards' resources say it: proxies pass on
// the name that clients use.
func TestHostsOfGuards(t *testing.T) {
	guarded := func(hosts ...string) *httpserver.Options {
		return &httpserver.Options{
			Options: streamable.Options{Hosts: hosts},
			Guard:   newGuard(t, "https://mcp.example.com/mcp"), SSEPath: "/sse", SSEGuard: newGuard(t, "https://sse.example.com:8443/sse"),
		}
	}
	for name, c := range map[string]struct {
		options *httpserver.Options
		want    map[string]bool // whether a host is let in
	}{
		"of the guards": {guarded(), map[string]bool{
			"mcp.example.com": true, "MCP.example.com:443": true, "sse.example.com": true, "localhost:7331": true, "127.0.0.1": true, "[::1]:7331": true,
			"evil.example.com": false, "example.com": false,
		}},
		"of the options": {guarded("other.example.com"), map[string]bool{"other.example.com": true, "mcp.example.com": false, "localhost": false}},
		"without guards": {&httpserver.Options{SSEPath: "/sse"}, map[string]bool{"localhost": true, "mcp.example.com": false}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, greeter(), c.options)
			for host, want := range c.want {
				for _, endpoint := range []string{"/mcp", "/sse"} {
					if status := r.put(t, endpoint, host); (status == http.StatusMethodNotAllowed) != want || (status == http.StatusForbidden) == want {
						t.Errorf("host %q got %d at %s, want it let in: %v", host, status, endpoint, want)
					}
				}
			}
			r.end(t)
		})
	}
}

func TestMistakesAreRefused(t *testing.T) {
	guard := newGuard(t, "https://mcp.example.com/mcp")
	for want, o := range map[string]*httpserver.Options{
		`path "mcp" is not of the form /mcp`:      {Path: "mcp"},
		`path "/{id}" is not of the form /mcp`:    {Path: "/{id}"},
		`path "/healthz" is taken`:                {Path: "/healthz"},
		`path "/mcp" is taken`:                    {SSEPath: "/mcp"},
		"CertFile and KeyFile go together":        {CertFile: "cert.pem"},
		"CertFile and KeyFile, or TLS":            {CertFile: "cert.pem", KeyFile: "key.pem", TLS: &tls.Config{}},
		"SSEPath would be open to everybody":      {Guard: guard, SSEPath: "/sse"},
		"SSEGuard is set, but SSEPath is not":     {SSEGuard: guard},
		"CloseTimeout is -1s":                     {CloseTimeout: -time.Second},
		"no such file":                            {CertFile: filepath.Join(t.TempDir(), "cert.pem"), KeyFile: "key.pem"},
		`origin "app" is not of the form`:         {Options: streamable.Options{Origins: []string{"app"}}},
		"mount failed":                            {Mount: func(*http.ServeMux) error { return errors.New("mount failed") }},
		`trusted proxy "proxy" is neither a netw`: {Options: streamable.Options{TrustedProxies: []string{"proxy"}}},
	} {
		o.Logger = mcptest.Quiet()
		if err := httpserver.Serve(t.Context(), ":0", greeter(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	for addr, want := range map[string]string{"": "no address", "nowhere.invalid:1": "nowhere.invalid"} {
		if err := httpserver.Serve(t.Context(), addr, greeter(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("at %q the error is %v, want %q", addr, err, want)
		}
	}
	if err := httpserver.Serve(t.Context(), ":0", nil, nil); err == nil {
		t.Error("nothing was served")
	}
}

// While the server ends, it says that it is alive and not ready, whether or not it was
// told how to find out.
func TestPagesAtTheEnd(t *testing.T) {
	for name, ready := range map[string]func(context.Context) error{"no Ready": nil, "Ready": func(context.Context) error { return nil }} {
		t.Run(name, func(t *testing.T) {
			type page struct {
				status int
				text   string
			}
			var r *running
			var healthz, readyz page
			look := func(context.Context) error {
				healthz.status, healthz.text = r.get(t, r.url("/healthz"))
				readyz.status, readyz.text = r.get(t, r.url("/readyz"))
				return nil
			}
			r = start(t, greeter(), &httpserver.Options{Ready: ready, Finish: look})
			ok := page{http.StatusOK, "ok\n"}
			if _ = look(t.Context()); healthz != ok || readyz != ok {
				t.Errorf("before: /healthz %+v, /readyz %+v", healthz, readyz)
			}
			r.end(t)
			if ending := (page{http.StatusServiceUnavailable, "the server is shutting down\n"}); healthz != ok || readyz != ending {
				t.Errorf("at the end: /healthz %+v, /readyz %+v", healthz, readyz)
			}
		})
	}
}

// Limits count by the principal, else by the address of the client, which is taken from
// the headers of trusted proxies only.
func TestLimitsBehindProxies(t *testing.T) {
	type request struct{ principal, header, value string }
	const forwarded, standard = "X-Forwarded-For", "Forwarded"
	once := func(proxies ...string) *httpserver.Options {
		return &httpserver.Options{SSEPath: "/sse", Options: streamable.Options{
			Rate: 1e-6, Burst: 1, TrustedProxies: proxies,
			Principal: func(r *http.Request) string { return r.Header.Get("X-User") },
		}}
	}
	for name, c := range map[string]struct {
		options  *httpserver.Options
		requests []request
		refused  []bool
	}{
		"clients of a proxy": {
			once("127.0.0.0/8"),
			[]request{{"", forwarded, "192.0.2.1"}, {"", forwarded, "192.0.2.1"}, {"", forwarded, "192.0.2.2"}, {"", standard, "for=192.0.2.2"}, {"", standard, "for=192.0.2.3"}},
			[]bool{false, true, false, true, false},
		},
		"what clients write themselves": {
			once("127.0.0.0/8"),
			[]request{{"", forwarded, "198.51.100.1, 192.0.2.1"}, {"", forwarded, "198.51.100.2, 192.0.2.1"}},
			[]bool{false, true},
		},
		"nobody to trust": {
			once(),
			[]request{{"", forwarded, "192.0.2.1"}, {"", forwarded, "192.0.2.2"}},
			[]bool{false, true},
		},
		"a proxy that is not trusted": {
			once("10.0.0.0/8"),
			[]request{{"", forwarded, "192.0.2.1"}, {"", forwarded, "192.0.2.2"}},
			[]bool{false, true},
		},
		"principals": {
			once("127.0.0.0/8"),
			[]request{{"ann", forwarded, "192.0.2.1"}, {"bob", forwarded, "192.0.2.1"}, {"", forwarded, "192.0.2.1"}, {"ann", forwarded, "192.0.2.2"}},
			[]bool{false, false, false, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, greeter(), c.options)
			for _, path := range []string{"/mcp", "/sse"} {
				for i, q := range c.requests {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, r.url(path), nil) // which no endpoint takes
					if err != nil {
						t.Fatal(err)
					}
					req.Header.Set(q.header, q.value)
					req.Header.Set("X-User", q.principal)
					resp, err := r.http.Do(req)
					if err != nil {
						t.Fatal(err)
					}
					_ = resp.Body.Close()
					if refused := resp.StatusCode == http.StatusTooManyRequests; refused != c.refused[i] {
						t.Errorf("%s: request %d (%+v) gave %s", path, i, q, resp.Status)
					}
				}
			}
			r.end(t)
		})
	}
}
