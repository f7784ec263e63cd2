package web

import (
	"net/http"
	"strings"
	"testing"
)

// Files have their types, tags and the policy; what is not a file of a page is not served.
func TestFiles(t *testing.T) {
	p := newPage(t)
	for path, want := range map[string]struct {
		status int
		kind   string
	}{
		"/":                    {200, "text/html; charset=utf-8"},
		"/index.html":          {200, "text/html; charset=utf-8"},
		"/page.js":             {200, "text/javascript; charset=utf-8"},
		"/page.js/":            {404, "text/plain; charset=utf-8"},
		"/../site_test.go":     {404, "text/plain; charset=utf-8"},
		"/%2e%2e/site_test.go": {404, "text/plain; charset=utf-8"},
		"//etc/hostname":       {404, "text/plain; charset=utf-8"},
		"/nothing.js":          {404, "text/plain; charset=utf-8"},
	} {
		got := p.do(p.out, request{path: path, header: map[string]string{"Sec-Fetch-Site": "same-origin"}})
		if got.status != want.status || got.header.Get("Content-Type") != want.kind {
			t.Errorf("%s: %d, %q; want %d, %q", path, got.status, got.header.Get("Content-Type"), want.status, want.kind)
		}
		for name, part := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; ",
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy":           `camera=("http://127.0.0.1:1")`,
		} {
			if !strings.Contains(got.header.Get(name), part) {
				t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
			}
		}
	}
}

// The policy lets nothing run but the files of the page, and shows frames of one origin.
func TestPolicy(t *testing.T) {
	p := newPage(t)
	policy := p.do(p.out, request{path: "/"}).header.Get("Content-Security-Policy")
	for _, want := range []string{"frame-src http://127.0.0.1:1;", "connect-src 'self';", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	for _, bad := range []string{"unsafe", "*", "https:"} {
		if strings.Contains(policy, bad) {
			t.Errorf("the policy has %s: %s", bad, policy)
		}
	}
}

// A file is sent compressed to whoever takes that, and not at all to who has it.
func TestFilesAreSentOnce(t *testing.T) {
	p := newPage(t)
	plain := p.do(p.out, request{path: "/page.js", header: map[string]string{"Accept-Encoding": "identity"}})
	packed := p.do(p.out, request{path: "/page.js", header: map[string]string{"Accept-Encoding": "gzip"}})
	if packed.header.Get("Content-Encoding") != "gzip" || len(packed.body) >= len(plain.body)/4 || plain.header.Get("Content-Encoding") != "" {
		t.Errorf("%d bytes, compressed %d", len(plain.body), len(packed.body))
	}
	tag := plain.header.Get("ETag")
	again := p.do(p.out, request{path: "/page.js", header: map[string]string{"If-None-Match": tag}})
	if tag == "" || again.status != http.StatusNotModified || again.body != "" {
		t.Errorf("a file that is known, with the tag %q: %d, %q", tag, again.status, again.body)
	}
	if got := p.do(p.out, request{method: "HEAD", path: "/page.js", header: map[string]string{"Accept-Encoding": "identity"}}); got.status != http.StatusOK || got.header.Get("Content-Length") == "" {
		t.Errorf("the head alone: %d %v", got.status, got.header)
	}
	if got := p.do(p.out, request{method: "POST", path: "/page.js"}); got.status != http.StatusMethodNotAllowed {
		t.Errorf("a file that is written: %d", got.status)
	}
}

// Pages of other sites get no file either.
func TestFilesAreForThePage(t *testing.T) {
	p := newPage(t)
	for _, path := range []string{"/", "/page.js"} {
		for _, site := range []string{"cross-site", "same-site"} {
			if got := p.do(p.out, request{path: path, header: map[string]string{"Sec-Fetch-Site": site}}); got.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d", path, site, got.status)
			}
		}
	}
	if got := p.do(p.out, request{path: "/", host: "evil.example"}); got.status != http.StatusMisdirectedRequest {
		t.Errorf("another host: %d", got.status)
	}
}
