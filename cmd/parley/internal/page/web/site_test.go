package web

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

// page is a site that is served, with somebody who was let in.
type page struct {
	t      *testing.T
	door   *Door
	api    *API
	hub    *Hub
	origin string
	key    string
	in     *http.Client // has the cookie
	out    *http.Client // has none
}

// asked is the body of a route that serve adds.
type asked struct {
	Name  string `json:"name"`
	Inner struct {
		Count int `json:"count"`
	} `json:"inner"`
}

// newPage serves a page, and lets one visitor in.
func newPage(t *testing.T) *page {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, hub: new(Hub), origin: "http://" + listener.Addr().String()}
	p.door = NewDoor(DoorOptions{Hosts: LoopbackHosts(listener.Addr())})
	p.api = NewAPI(p.door, p.hub)
	p.api.Handle("GET /", func(*Request) (any, error) { return map[string]string{"who": "root"}, nil })
	p.api.Handle("POST /things", func(r *Request) (any, error) {
		var a asked
		if err := r.Read(&a); err != nil {
			return nil, err
		}
		return a, nil
	})
	files := map[string][]byte{
		"index.html": []byte("<!doctype html><title>page</title>" + strings.Repeat(" ", 1000)),
		"page.js":    []byte("export const a = 1;\n" + strings.Repeat("// more\n", 100)),
	}
	site := &Site{Door: p.door, API: p.api, Files: NewFiles(files, "http://127.0.0.1:1")}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, listener, site, slog.New(slog.DiscardHandler)) }() // ends with cancel
	t.Cleanup(func() {
		p.in.CloseIdleConnections()
		p.out.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the site ended with %v", err)
		}
	})
	p.out = client(nil)
	jar, _ := cookiejar.New(nil) // always nil
	p.in = client(jar)
	p.enter()
	return p
}

// client is an HTTP client that follows nothing.
func client(jar http.CookieJar) *http.Client {
	return &http.Client{
		Jar: jar, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// enter uses a code.
func (p *page) enter() {
	p.t.Helper()
	r := p.do(p.in, request{path: "/?code=" + p.door.Code()})
	key, ok := strings.CutPrefix(r.header.Get("Location"), "/#key=")
	if r.status != http.StatusSeeOther || !ok {
		p.t.Fatalf("the code leads to %d %q", r.status, r.header.Get("Location"))
	}
	p.key = key
}

// request is one to send; what is empty is left out.
type request struct {
	method, path, body string
	host               string
	header             map[string]string // "" removes what there would be
}

type response struct {
	status int
	header http.Header
	body   string
}

// code is the code of an error of the API.
func (r *response) code() string {
	var e struct {
		Error Error `json:"error"`
	}
	_ = wire.Unmarshal([]byte(r.body), &e) // then there is no code
	return e.Error.Code
}

// call sends a request to the API as the page does, except for what the request says.
func (p *page) call(r request) *response {
	p.t.Helper()
	header := map[string]string{"Parley-Key": p.key, "Sec-Fetch-Site": "same-origin"}
	if r.body != "" {
		header["Content-Type"] = "application/json"
	}
	maps.Copy(header, r.header)
	r.header, r.path = header, prefix+r.path
	return p.do(p.in, r)
}

func (p *page) do(c *http.Client, r request) *response {
	p.t.Helper()
	if r.method == "" {
		r.method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(p.t.Context(), r.method, p.origin+r.path, strings.NewReader(r.body))
	if err != nil {
		p.t.Fatal(err)
	}
	if r.host != "" {
		req.Host = r.host
	}
	for name, value := range r.header {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	answer, err := c.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return &response{answer.StatusCode, answer.Header, string(body)}
}

// port is the port of the page.
func (p *page) port() string {
	u, err := url.Parse(p.origin)
	if err != nil {
		p.t.Fatal(err)
	}
	return u.Port()
}

// pass lets time pass, in a bubble of synctest.
func pass(d time.Duration) { <-time.NewTimer(d).C }
