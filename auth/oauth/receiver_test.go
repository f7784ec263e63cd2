package oauth_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
)

// browser is an HTTP client that keeps nothing open.
func browser() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// The whole flow, with a browser that follows redirects.
func TestLoopback(t *testing.T) {
	w := newWorld(t)
	var page string
	pages := make(chan string, 1)
	store := oauth.NewMemoryStore()
	receiver := &oauth.Loopback{
		Open: func(_ context.Context, address string) error {
			page = address
			go func() { // ends with the page
				resp, err := browser().Get(address)
				if err != nil {
					pages <- err.Error()
					return
				}
				defer resp.Body.Close()
				body, _ := io.ReadAll(resp.Body)
				if resp.Header.Get("Referrer-Policy") != "no-referrer" || resp.Header.Get("Cache-Control") != "no-store" {
					body = []byte("headers are missing")
				}
				pages <- string(body)
			}()
			return nil
		},
	}
	with := func(o *oauth.Options) { o.Store, o.Grant = store, &oauth.AuthorizationCode{Receiver: receiver} }
	w.ok(w.client(nil, with))
	if got := <-pages; !strings.Contains(got, "You can close this page") {
		t.Errorf("the page says %q", got)
	}
	first, _ := url.Parse(page)
	redirect := first.Query().Get("redirect_uri")
	if u, err := url.Parse(redirect); err != nil || u.Hostname() != "127.0.0.1" || u.Path != "/callback" {
		t.Errorf("redirect URI %q", redirect)
	}
	// The port that was registered is used again.
	if err := w.client(nil, with).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-pages
	second, _ := url.Parse(page)
	if got := second.Query().Get("redirect_uri"); got != redirect {
		t.Errorf("redirect URI %q, then %q", redirect, got)
	}
	w.wantCount("POST /register", 1)
	// If it is taken, another one is registered.
	taken, err := receiver.Listen(t.Context(), []string{redirect})
	if err != nil || taken.RedirectURI() != redirect {
		t.Fatalf("%v, %v", taken, err)
	}
	defer taken.Close()
	if err := w.client(nil, with).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-pages
	w.wantCount("POST /register", 2)
}

// Other requests do not end the wait.
func TestLoopbackIgnoresOthers(t *testing.T) {
	opened := make(chan string, 1)
	l := &oauth.Loopback{Host: "localhost", Path: "/done", Open: func(_ context.Context, page string) error { opened <- page; return nil }}
	r, err := l.Listen(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	base := r.RedirectURI()
	if !strings.HasPrefix(base, "http://localhost:") || !strings.HasSuffix(base, "/done") {
		t.Errorf("redirect URI %q", base)
	}
	base = strings.Replace(base, "localhost", "127.0.0.1", 1)
	send := func(method, target, host string) int {
		t.Helper()
		req, _ := http.NewRequest(method, target, nil)
		req.Host = host
		resp, err := browser().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	own, _ := url.Parse(r.RedirectURI())
	if got := send("GET", base+"?state=&code=c", own.Host); got != http.StatusBadRequest {
		t.Errorf("before anybody waits: %d", got)
	}
	answers := make(chan url.Values, 1)
	go func() { // ends with the answer
		v, _ := r.Receive(t.Context(), oauth.AuthorizationRequest{URL: "https://as.example/", State: "s"})
		answers <- v
	}()
	<-opened
	for name, tt := range map[string]struct {
		method, target, host string
		want                 int
	}{
		"state":  {"GET", base + "?state=x&code=c", own.Host, 400},
		"host":   {"GET", base + "?state=s&code=c", "evil.example", 421},
		"path":   {"GET", base + "/x?state=s&code=c", own.Host, 404},
		"method": {"POST", base + "?state=s&code=c", own.Host, 405},
	} {
		if got := send(tt.method, tt.target, tt.host); got != tt.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	if len(answers) > 0 {
		t.Error("the waiting ended")
	}
	if got := send("GET", base+"?state=s&code=right", own.Host); got != 200 {
		t.Errorf("the answer: %d", got)
	}
	if v := <-answers; v.Get("code") != "right" {
		t.Errorf("got %v", v)
	}
}

func TestLoopbackWithoutBrowser(t *testing.T) {
	broken := func(context.Context, string) error { return errors.New("no browser") }
	l := &oauth.Loopback{Open: broken}
	r, err := l.Listen(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Receive(t.Context(), oauth.AuthorizationRequest{}); err == nil || !strings.Contains(err.Error(), "Paste") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	shown := &oauth.Loopback{Open: broken, Show: func(oauth.AuthorizationRequest) { cancel() }}
	second, err := shown.Listen(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.Receive(ctx, oauth.AuthorizationRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := (&oauth.Loopback{Host: "0.0.0.0"}).Listen(t.Context(), nil); err == nil {
		t.Error("it listens to everybody")
	}
}

func TestOpenBrowserOpensPagesOnly(t *testing.T) {
	for _, s := range []string{"javascript:alert(1)", "file:///etc/passwd", "-h", "calc.exe", "https:"} {
		if err := oauth.OpenBrowser(t.Context(), s); err == nil {
			t.Errorf("%q was opened", s)
		}
	}
}

// A user without a browser on this machine pastes the address.
func TestPaste(t *testing.T) {
	w := newWorld(t)
	in, typed := io.Pipe()
	defer typed.Close()
	out := &lineWatcher{seen: make(chan string, 1)}
	c := w.client(nil, func(o *oauth.Options) {
		o.Grant = &oauth.AuthorizationCode{Receiver: &oauth.Paste{Out: out, In: in}}
	})
	go func() { // ends with the line
		b := browser()
		b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := b.Get(<-out.seen)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
		_, _ = io.WriteString(typed, "  "+resp.Header.Get("Location")+"\r\n")
	}()
	w.ok(c)
}

// lineWatcher finds the page in the printed text.
type lineWatcher struct {
	b    bytes.Buffer
	seen chan string
}

func (l *lineWatcher) Write(p []byte) (int, error) {
	l.b.Write(p)
	for line := range strings.Lines(l.b.String()) {
		if strings.HasPrefix(line, "http") {
			l.seen <- strings.TrimSpace(line)
		}
	}
	return len(p), nil
}

func TestPasteEnds(t *testing.T) {
	receive := func(ctx context.Context, in io.Reader) error {
		r, err := (&oauth.Paste{Out: io.Discard, In: in}).Listen(ctx, nil)
		if err != nil {
			return err
		}
		_, err = r.Receive(ctx, oauth.AuthorizationRequest{State: "s"})
		return err
	}
	if err := receive(t.Context(), strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "input ended") {
		t.Errorf("no input: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, typed := io.Pipe()
	if err := receive(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_ = typed.Close() // ends the read
	if err := receive(t.Context(), nil); err == nil {
		t.Error("without input: no error")
	}
}

func TestParseAnswer(t *testing.T) {
	for line, want := range map[string]string{
		"http://127.0.0.1/callback?code=a&state=b": "code=a&state=b",
		"?code=a&state=b":                          "code=a&state=b",
		"code=a%2Fb&state=b#x":                     "code=a%2Fb&state=b",
		"http://x/?error=no&state=b":               "error=no&state=b",
		" abc-123 ":                                "code=abc-123&state=S",
		"":                                         "",
		"http://127.0.0.1/callback":                "",
		"http://127.0.0.1/callback?x=y":            "",
		"no thanks":                                "",
		"http://127.0.0.1/?code=%zz&code":          "",
	} {
		v, err := oauth.ParseAnswer(line, "S")
		if v.Encode() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v", line, v, err)
		}
	}
}
