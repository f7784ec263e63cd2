package appframe_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/appframe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const page = "http://127.0.0.1:7000"

// serve returns frames that are served until the end of the test.
func serve(t *testing.T) *appframe.Frames {
	t.Helper()
	f, err := appframe.Listen(t.Context(), []string{page, "http://localhost:7000"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx, slog.New(slog.DiscardHandler)) }() // ends with ctx
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return f
}

// ask returns the answer to a request, whose body is read.
func ask(t *testing.T, method, url string, header map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestFrame(t *testing.T) {
	f := serve(t)
	opened := f.Open(apps.ResourceUI{}, nil)
	response, body := ask(t, http.MethodGet, opened.URL, map[string]string{"Sec-Fetch-Dest": "iframe", "Cookie": "parley-7000=x"})
	if response.StatusCode != http.StatusOK || !strings.Contains(body, "sandbox.js") {
		t.Errorf("a frame is %s: %s", response.Status, body)
	}
	if len(response.Cookies()) != 0 {
		t.Errorf("a frame sets cookies: %v", response.Cookies())
	}
	const want = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; media-src 'self' data:; " +
		"connect-src 'none'; frame-src 'none'; base-uri 'self'; object-src 'none'; form-action 'none'; frame-ancestors http://127.0.0.1:7000 http://localhost:7000"
	if got := response.Header.Get("Content-Security-Policy"); got != want || opened.Policy != want {
		t.Errorf("the policy is\n%s, not\n%s", got, want)
	}
	for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if got := response.Header.Get("Permissions-Policy"); !strings.Contains(got, "camera=()") || strings.Contains(got, "*") {
		t.Errorf("an app that asks for nothing gets %q", got)
	}
}

func TestRefusals(t *testing.T) {
	f := serve(t)
	opened := f.Open(apps.ResourceUI{}, nil)
	for what, c := range map[string]struct {
		method, url string
		header      map[string]string
		status      int
	}{
		"another host":       {http.MethodGet, opened.URL, map[string]string{"Host": "rebound.example:7000"}, http.StatusMisdirectedRequest},
		"the page's host":    {http.MethodGet, opened.URL, map[string]string{"Host": strings.Replace(strings.TrimPrefix(f.Origin(), "http://"), "localhost", "127.0.0.1", 1)}, http.StatusMisdirectedRequest},
		"a POST":             {http.MethodPost, opened.URL, nil, http.StatusMethodNotAllowed},
		"a tab of its own":   {http.MethodGet, opened.URL, map[string]string{"Sec-Fetch-Dest": "document"}, http.StatusForbidden},
		"an image":           {http.MethodGet, opened.URL, map[string]string{"Sec-Fetch-Dest": "image"}, http.StatusForbidden},
		"an ID that is none": {http.MethodGet, f.Origin() + "/AAAA/", nil, http.StatusNotFound},
		"below a frame":      {http.MethodGet, opened.URL + "x", nil, http.StatusNotFound},
		"the proxy alone":    {http.MethodGet, f.Origin() + "/sandbox.html", nil, http.StatusNotFound},
		"a path that climbs": {http.MethodGet, f.Origin() + "/%2e%2e/serve.go", nil, http.StatusNotFound},
		"nothing":            {http.MethodGet, f.Origin() + "/", nil, http.StatusNotFound},
	} {
		t.Run(what, func(t *testing.T) {
			if response, body := ask(t, c.method, c.url, c.header); response.StatusCode != c.status {
				t.Errorf("it is answered with %s: %s", response.Status, body)
			}
		})
	}
}

func TestClose(t *testing.T) {
	f := serve(t)
	opened := f.Open(apps.ResourceUI{}, nil)
	f.Close(opened.ID)
	if response, _ := ask(t, http.MethodGet, opened.URL, nil); response.StatusCode != http.StatusNotFound {
		t.Errorf("a frame that was closed is %s", response.Status)
	}
}

// The oldest frames are forgotten, so that nobody who opens them without end fills memory.
func TestMostFrames(t *testing.T) {
	f := serve(t)
	first := f.Open(apps.ResourceUI{}, nil)
	for range 256 {
		f.Open(apps.ResourceUI{}, nil)
	}
	if response, _ := ask(t, http.MethodGet, first.URL, nil); response.StatusCode != http.StatusNotFound {
		t.Errorf("the oldest of 257 frames is %s", response.Status)
	}
}

// An app gets what it declares and somebody granted, and nothing of this program's.
func TestPolicy(t *testing.T) {
	f := serve(t)
	own := strings.TrimPrefix(f.Origin(), "http://localhost:")
	opened := f.Open(apps.ResourceUI{
		CSP: &apps.CSP{
			ConnectDomains:  []string{"https://api.example.com", "http://127.0.0.1:7000", "ws://rebound.example:7000", "http://localhost:" + own, "https://a.example; script-src *"},
			ResourceDomains: []string{"https://cdn.example.com", "http://localhost:07000"},
			FrameDomains:    []string{"http://127.0.0.1:7000"},
			BaseURIDomains:  []string{"http://localhost:7000"},
		},
		Permissions: apps.Permissions{apps.Camera, apps.ClipboardWrite, "midi"},
	}, apps.Permissions{apps.Camera, apps.Geolocation, "midi"})
	for _, want := range []string{"connect-src https://api.example.com;", "img-src 'self' data: https://cdn.example.com;", "frame-src 'none';", "base-uri 'self';"} {
		if !strings.Contains(opened.Policy, want) {
			t.Errorf("the policy lacks %q: %s", want, opened.Policy)
		}
	}
	if strings.Count(opened.Policy, "7000") != 2 || strings.Contains(opened.Policy, own) { // the ancestors
		t.Errorf("the app may reach the page: %s", opened.Policy)
	}
	if opened.Allow != "camera" {
		t.Errorf("the frame allows %q", opened.Allow)
	}
	response, _ := ask(t, http.MethodGet, opened.URL, nil)
	if got := response.Header.Get("Permissions-Policy"); !strings.HasPrefix(got, "camera=*, microphone=(), geolocation=(), clipboard-write=(), ") || !strings.Contains(got, "midi=()") {
		t.Errorf("the permissions are %q", got)
	}
}
