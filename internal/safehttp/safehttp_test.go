package safehttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/internal/safehttp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// get fetches a URL and returns its body.
func get(t *testing.T, o safehttp.Options, target string) (string, error) {
	t.Helper()
	c := safehttp.New(o)
	defer c.CloseIdleConnections()
	resp, err := c.Get(target)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func TestCheck(t *testing.T) {
	server, local := parse(t, "https://mcp.example.com/mcp"), parse(t, "http://127.0.0.1:8080/mcp")
	intern := parse(t, "https://10.0.0.1/mcp")
	for _, tt := range []struct {
		url string
		o   safehttp.Options
		ok  bool
	}{
		{"https://as.example.com/x", safehttp.Options{}, true},
		{"https://93.184.215.14/x", safehttp.Options{}, true},
		{"http://as.example.com/x", safehttp.Options{}, false},
		{"http://as.example.com/x", safehttp.Options{AllowHTTP: true}, true},
		{"ftp://as.example.com/x", safehttp.Options{AllowHTTP: true}, false},
		{"javascript:alert(1)", safehttp.Options{}, false},
		{"file:///etc/passwd", safehttp.Options{}, false},
		{"https:///x", safehttp.Options{}, false},
		{"https://user:pass@as.example.com/x", safehttp.Options{}, false},
		{"http://localhost:9/x", safehttp.Options{}, false},
		{"http://localhost:9/x", safehttp.Options{NamedBy: server}, false},
		{"http://localhost:9/x", safehttp.Options{NamedBy: local}, true},
		{"http://localhost:9/x", safehttp.Options{AllowLoopback: true}, true},
		{"https://127.1.2.3/x", safehttp.Options{}, false},
		{"https://[::1]/x", safehttp.Options{}, false},
		{"https://[::ffff:127.0.0.1]/x", safehttp.Options{}, false},
		{"https://10.0.0.1/x", safehttp.Options{}, false},
		{"https://10.0.0.1/x", safehttp.Options{NamedBy: local}, false},
		{"https://10.0.0.1/x", safehttp.Options{NamedBy: intern}, true},
		{"https://10.0.0.2/x", safehttp.Options{NamedBy: intern}, false},
		{"https://10.0.0.1:444/x", safehttp.Options{NamedBy: intern}, false},
		{"https://10.0.0.1/x", safehttp.Options{AllowPrivate: true}, true},
		{"https://192.168.1.1/x", safehttp.Options{}, false},
		{"https://100.64.0.1/x", safehttp.Options{}, false},
		{"https://100.64.0.1/x", safehttp.Options{AllowPrivate: true}, true},
		{"https://169.254.169.254/latest", safehttp.Options{}, false},
		{"https://169.254.169.254/latest", safehttp.Options{AllowPrivate: true, AllowLoopback: true}, false},
		{"https://[fe80::1]/x", safehttp.Options{AllowPrivate: true}, false},
		{"https://[fd00:ec2::254]/x", safehttp.Options{AllowPrivate: true}, false},
		{"https://[fd00::1]/x", safehttp.Options{AllowPrivate: true}, true},
		{"https://100.100.100.200/x", safehttp.Options{AllowPrivate: true}, false},
		{"https://168.63.129.16/x", safehttp.Options{}, false},
		{"https://224.0.0.1/x", safehttp.Options{AllowPrivate: true}, false},
		{"https://0.0.0.0/x", safehttp.Options{AllowPrivate: true}, false},
		{"https://[64:ff9b::a00:1]/x", safehttp.Options{}, false},
		{"https://[64:ff9b::a9fe:a9fe]/x", safehttp.Options{AllowPrivate: true}, false},
		{"https://[2002:7f00:1::]/x", safehttp.Options{}, false},
		{"https://[::7f00:1]/x", safehttp.Options{}, false},
	} {
		err := tt.o.Check(parse(t, tt.url))
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, safehttp.ErrRefused) {
			t.Errorf("%s with %+v: %v", tt.url, tt.o, err)
		}
	}
}

// The address that a name resolves to counts, not the name.
func TestDialChecksTheAddress(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	defer srv.Close()
	port := parse(t, srv.URL).Port()
	for name, o := range map[string]safehttp.Options{
		"by name":         {AllowHTTP: true},
		"private allowed": {AllowHTTP: true, AllowPrivate: true},
	} {
		// Which names resolve to the loopback without being its name differs
		// from machine to machine, so only the dial is tested.
		if err := safehttp.DialForTest(t.Context(), o, "localhost:"+port); !errors.Is(err, safehttp.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := safehttp.DialForTest(t.Context(), safehttp.Options{NamedBy: parse(t, "http://localhost:"+port)}, "localhost:"+port); err != nil {
		t.Errorf("its own origin: %v", err)
	}
	if body, err := get(t, safehttp.Options{AllowLoopback: true}, srv.URL); err != nil || body != "secret" {
		t.Errorf("allowed: %q, %v", body, err)
	}
}

func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.Handle("/away", http.RedirectHandler(other.URL+"/?code=hidden", http.StatusFound))
	mux.Handle("/here", http.RedirectHandler("/end", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/post", http.RedirectHandler("/end", http.StatusTemporaryRedirect))
	mux.HandleFunc("/end", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "end") })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	o := safehttp.Options{AllowLoopback: true}
	if body, err := get(t, o, srv.URL+"/here"); err != nil || body != "end" {
		t.Errorf("within the origin: %q, %v", body, err)
	}
	for _, path := range []string{"/away", "/loop"} {
		if _, err := get(t, o, srv.URL+path); !errors.Is(err, safehttp.ErrRefused) {
			t.Errorf("%s: %v", path, err)
		}
	}
	c := safehttp.New(o)
	defer c.CloseIdleConnections()
	if resp, err := c.Post(srv.URL+"/post", "text/plain", strings.NewReader("secret")); !errors.Is(err, safehttp.ErrRefused) {
		t.Errorf("redirected POST: %v, %v", resp, err)
	}
}

func TestLimits(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/hundred", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100)) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	o := safehttp.Options{AllowLoopback: true, MaxBytes: 100, Timeout: 5 * time.Second}
	if body, err := get(t, o, srv.URL+"/hundred"); err != nil || len(body) != 100 {
		t.Errorf("at the limit: %d bytes, %v", len(body), err)
	}
	if body, err := get(t, o, srv.URL+"/endless"); !errors.Is(err, safehttp.ErrTooLarge) || len(body) != 100 {
		t.Errorf("endless: %d bytes, %v", len(body), err)
	}
	o.Timeout = 50 * time.Millisecond
	var late interface{ Timeout() bool }
	if _, err := get(t, o, srv.URL+"/slow"); !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("slow: %v", err)
	}
}

// No address that is refused is allowed in another form.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"https://10.0.0.1/", "https://[::ffff:10.0.0.1]/", "https://example.com", "http://127.0.0.1:80", "https://0x7f.1/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := url.Parse(s)
		if err != nil || (safehttp.Options{}).Check(u) != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil {
			t.Errorf("%q was allowed", s)
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			ip = ip.Unmap()
			if ip.IsLoopback() || ip.IsPrivate() || !ip.IsGlobalUnicast() {
				t.Errorf("%q was allowed", s)
			}
		}
	})
}

func TestCancelledDial(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := safehttp.DialForTest(ctx, safehttp.Options{AllowLoopback: true}, "127.0.0.1:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
