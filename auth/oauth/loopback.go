package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// Loopback receives the answer on a port of this machine, for which it opens
// the user's browser (RFC 8252, section 7.3). Its fields must not change once
// it is in use.
type Loopback struct {
	// Port to listen on. 0 means the one that was registered before, if it is
	// free, or else any free port.
	Port int
	// Host is the name in the redirect URI: "127.0.0.1" or "localhost". ""
	// means 127.0.0.1, which is unambiguous; some authorization servers only
	// accept the other.
	Host string
	// Path is the path at which the response arrives. "" means "/callback".
	Path string
	// Open opens a page in the browser. nil means OpenBrowser.
	Open func(ctx context.Context, page string) error
	// Show is given the page, for users whose browser does not open
	// automatically. If it is nil, it is an error if Open fails.
	Show func(r AuthorizationRequest)
}

var _ Receiver = (*Loopback)(nil)

// Listen implements Receiver.
func (l *Loopback) Listen(ctx context.Context, registered []string) (Reception, error) {
	host, path := l.Host, l.Path
	if host == "" {
		host = "127.0.0.1"
	}
	if path == "" {
		path = "/callback"
	}
	if host != "127.0.0.1" && host != "localhost" {
		return nil, fmt.Errorf("the host %q of the redirect URI is neither 127.0.0.1 nor localhost", host)
	}
	listener, err := l.listen(ctx, usedPorts(registered, host, path))
	if err != nil {
		return nil, err
	}
	r := &loopback{opts: l, path: path, answers: make(chan url.Values, 1), ended: make(chan struct{})}
	r.host = net.JoinHostPort(host, port(listener))
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { // ends with Close
		defer close(r.ended)
		_ = r.server.Serve(listener) // it ends with http.ErrServerClosed
	}()
	return r, nil
}

func port(l net.Listener) string {
	_, p, _ := net.SplitHostPort(l.Addr().String()) // a listener's address has one
	return p
}

// usedPorts returns the ports of redirect URIs that differ only in the port.
func usedPorts(registered []string, host, path string) []int {
	var ports []int
	for _, s := range registered {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" || u.Hostname() != host || u.Path != path {
			continue
		}
		if p, err := strconv.Atoi(u.Port()); err == nil {
			ports = append(ports, p)
		}
	}
	return ports
}

func (l *Loopback) listen(ctx context.Context, used []int) (net.Listener, error) {
	var config net.ListenConfig
	if l.Port != 0 {
		used = nil
	}
	for _, p := range append(used, l.Port) {
		listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err == nil || p == l.Port {
			return listener, err
		}
	}
	return nil, errors.New("no port to listen on") // the last one is always l.Port
}

// loopback is a Loopback that listens.
type loopback struct {
	opts    *Loopback
	host    string // with the port
	path    string
	server  *http.Server
	answers chan url.Values
	ended   chan struct{}
	state   atomic.Pointer[string]
}

// RedirectURI implements Reception.
func (r *loopback) RedirectURI() string { return "http://" + r.host + r.path }

// Receive implements Reception.
func (r *loopback) Receive(ctx context.Context, request AuthorizationRequest) (url.Values, error) {
	r.state.Store(&request.State)
	if r.opts.Show != nil {
		r.opts.Show(request)
	}
	open := r.opts.Open
	if open == nil {
		open = OpenBrowser
	}
	if err := open(ctx, request.URL); err != nil && r.opts.Show == nil {
		return nil, fmt.Errorf("%w; without a browser, use Paste", err)
	}
	select {
	case answer := <-r.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements Reception. A page that is being sent is finished.
func (r *loopback) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := r.server.Shutdown(ctx)
	if err != nil {
		err = r.server.Close()
	}
	<-r.ended
	return err
}

// ServeHTTP takes the response, if the request is one. Other programs and pages
// can send requests here too; they must not be able to end the wait.
func (r *loopback) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the URL holds the code
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	query := req.URL.Query()
	want := r.state.Load()
	switch {
	case req.Host != r.host:
		http.Error(w, "This host is not served here.", http.StatusMisdirectedRequest)
	case req.URL.Path != r.path:
		http.NotFound(w, req)
	case req.Method != http.MethodGet:
		http.Error(w, "An authorization response comes with GET.", http.StatusMethodNotAllowed)
	case want == nil || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(*want)) != 1:
		http.Error(w, "This is not the answer that is waited for.", http.StatusBadRequest)
	default:
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(donePage)) // if the browser is gone, the answer still counts
		select {
		case r.answers <- query:
		default: // it has arrived already
		}
	}
}

const donePage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Done</title>
<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}</style></head>
<body><h1>Done</h1><p>Your answer has arrived. You can close this page and go back to the program.</p></body></html>
`
