package web

import (
	"net/http"
	"strings"
	"testing"
)

// Nobody comes in who is not the page itself, whatever is right about the rest of what
// they send.
func TestRefusals(t *testing.T) {
	p := newPage(t)
	port := p.port()
	for name, tt := range map[string]struct {
		r      request
		status int
		code   string
	}{
		"as the page does":                {request{path: "/"}, 200, ""},
		"as an old browser does":          {request{path: "/", header: map[string]string{"Sec-Fetch-Site": ""}}, 200, ""},
		"with its origin":                 {request{path: "/", header: map[string]string{"Origin": p.origin}}, 200, ""},
		"by another name, without cookie": {request{path: "/", host: "localhost:" + port}, 401, "stranger"},
		"DNS rebinding":                   {request{path: "/", host: "evil.example:" + port}, 421, "host"},
		"another port in Host":            {request{path: "/", host: "127.0.0.1:1"}, 421, "host"},
		"no port in Host":                 {request{path: "/", host: "127.0.0.1"}, 421, "host"},
		"a page of another origin":        {request{path: "/", header: map[string]string{"Origin": "https://evil.example"}}, 403, "origin"},
		"a page of another port":          {request{path: "/", header: map[string]string{"Origin": "http://127.0.0.1:1"}}, 403, "origin"},
		"a page of another scheme":        {request{path: "/", header: map[string]string{"Origin": "https://127.0.0.1:" + port}}, 403, "origin"},
		"a page whose origin is its Host": {request{path: "/", host: "evil.example", header: map[string]string{"Origin": "http://evil.example"}}, 421, "host"},
		"a page in a sandbox":             {request{path: "/", header: map[string]string{"Origin": "null"}}, 403, "origin"},
		"a page of another site":          {request{path: "/", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403, "site"},
		"a page of the same site":         {request{path: "/", header: map[string]string{"Sec-Fetch-Site": "same-site"}}, 403, "site"},
		"an address that was typed":       {request{path: "/", header: map[string]string{"Sec-Fetch-Site": "none"}}, 403, "site"},
		"a form of another site":          {request{method: "POST", path: "/things", body: "name=x", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example", "Content-Type": "application/x-www-form-urlencoded", "Parley-Key": ""}}, 403, "origin"},
		"a form without those headers":    {request{method: "POST", path: "/things", body: "name=x", header: map[string]string{"Sec-Fetch-Site": "", "Content-Type": "application/x-www-form-urlencoded", "Parley-Key": ""}}, 401, "stranger"},
		"the question before a fetch":     {request{method: "OPTIONS", path: "/things", header: map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST", "Sec-Fetch-Site": "cross-site"}}, 403, "origin"},
		"an EventSource of another site":  {request{path: "/events", header: map[string]string{"Accept": "text/event-stream", "Sec-Fetch-Site": "cross-site", "Parley-Key": ""}}, 403, "site"},
		"an EventSource":                  {request{path: "/events", header: map[string]string{"Accept": "text/event-stream", "Parley-Key": ""}}, 401, "stranger"},
		"a WebSocket of another site":     {request{path: "/events", header: map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Origin": "https://evil.example", "Parley-Key": ""}}, 403, "origin"},
		"a WebSocket without an origin":   {request{path: "/events", header: map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Parley-Key": ""}}, 401, "stranger"},
		"a cookie without its key":        {request{path: "/", header: map[string]string{"Parley-Key": ""}}, 401, "stranger"},
		"a cookie with another key":       {request{path: "/", header: map[string]string{"Parley-Key": "AAAA"}}, 401, "stranger"},
		"no such route":                   {request{path: "/nothing"}, 404, "route"},
		"another method":                  {request{method: "DELETE", path: "/things"}, 405, "method"},
		"a body":                          {request{method: "POST", path: "/things", body: `{"name":"x","inner":{"count":1}}`}, 200, ""},
		"a body that is not JSON":         {request{method: "POST", path: "/things", body: `{"name":`}, 400, "body"},
		"a body with more behind it":      {request{method: "POST", path: "/things", body: `{"name":"x"} {}`}, 400, "body"},
		"a member twice":                  {request{method: "POST", path: "/things", body: `{"name":"x","name":"y"}`}, 400, "body"},
		"a member of another type":        {request{method: "POST", path: "/things", body: `{"name":1}`}, 400, "body"},
		"a member that there is not":      {request{method: "POST", path: "/things", body: `{"label":"x"}`}, 400, "body"},
		"a body of another type":          {request{method: "POST", path: "/things", body: `{}`, header: map[string]string{"Content-Type": "text/plain"}}, 415, "type"},
		"a body of no type":               {request{method: "POST", path: "/things", body: `{}`, header: map[string]string{"Content-Type": ""}}, 415, "type"},
		"a body that is too large":        {request{method: "POST", path: "/things", body: `{"name":"` + strings.Repeat("x", maxBody) + `"}`}, 413, "size"},
	} {
		t.Run(name, func(t *testing.T) {
			p := *p
			p.t = t
			got := p.call(tt.r)
			if got.status != tt.status || got.code() != tt.code {
				t.Errorf("%d %q; want %d %q: %s", got.status, got.code(), tt.status, tt.code, got.body)
			}
			if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != "" {
				t.Errorf("other origins are allowed: %q", allowed)
			}
		})
	}
}

// A key without the cookie opens nothing, and neither do those of two visits together.
func TestKeyNeedsItsCookie(t *testing.T) {
	p := newPage(t)
	header := map[string]string{"Parley-Key": p.key}
	if got := p.do(p.out, request{path: prefix + "/", header: header}); got.status != http.StatusUnauthorized {
		t.Errorf("a key alone: %d", got.status)
	}
	first := p.key
	p.enter() // the cookie is another one from now on
	if got := p.call(request{path: "/", header: map[string]string{"Parley-Key": first}}); got.status != http.StatusUnauthorized {
		t.Errorf("the key of another visit: %d", got.status)
	}
	if got := p.call(request{path: "/"}); got.status != http.StatusOK {
		t.Errorf("cookie and key: %d", got.status)
	}
}

// A code opens the page once, and only where a page of another site did not lead to it.
func TestCodes(t *testing.T) {
	p := newPage(t)
	code := p.door.Code()
	for _, site := range []string{"cross-site", "same-site"} {
		if got := p.do(p.out, request{path: "/?code=" + code, header: map[string]string{"Sec-Fetch-Site": site}}); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", site, got.status)
		}
	}
	if got := p.do(p.out, request{method: "HEAD", path: "/?code=" + code}); got.header.Get("Location") != "" {
		t.Error("a request for the head alone uses the code up")
	}
	for _, want := range []string{"/#key=", "/#refused"} {
		got := p.do(p.out, request{path: "/?code=" + code, header: map[string]string{"Sec-Fetch-Site": "none"}})
		if !strings.HasPrefix(got.header.Get("Location"), want) || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the code leads to %q, with %q; want %q", got.header.Get("Location"), got.header.Get("Cache-Control"), want)
		}
	}
	if got := p.do(p.out, request{path: "/?code=wrong"}); got.header.Get("Location") != "/#refused" || len(got.header["Set-Cookie"]) > 0 {
		t.Errorf("a code that never was: %v", got.header)
	}
}

// The cookie is for this page alone, and no script reads it.
func TestCookie(t *testing.T) {
	p := newPage(t)
	got := p.do(p.out, request{path: "/?code=" + p.door.Code()})
	cookie := got.header.Get("Set-Cookie")
	for _, want := range []string{"parley-" + p.port() + "=", "; HttpOnly", "; SameSite=Strict", "; Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("%q lacks %q", cookie, want)
		}
	}
	if strings.Contains(cookie, "Domain") || strings.Contains(cookie, strings.TrimPrefix(got.header.Get("Location"), "/#key=")) {
		t.Errorf("%q says too much", cookie)
	}
}
