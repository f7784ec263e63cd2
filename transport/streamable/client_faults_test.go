package streamable

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
)

func TestUnauthorized(t *testing.T) {
	for _, status := range []int{401, 403} {
		s := scripted(t, func(p *posted) {
			p.w.Header().Set("WWW-Authenticate", `Bearer scope="a"`)
			p.object(status, `"error":{"code":-32001,"message":"who?"}`)
		})
		conn := dial(t, s, Client{}, newEar())
		_, err := conn.RoundTrip(t.Context(), modern(1, "x/y", ""))
		var refused *HTTPError
		if !errors.As(err, &refused) || refused.Status != status || refused.Header.Get("WWW-Authenticate") != `Bearer scope="a"` || refused.URL != s.URL+"/mcp" {
			t.Errorf("%d: %+v", status, err)
		}
	}
}

// Wherever a server stops responding, a call ends with its context, and the server
// sees that it was given up.
func TestHungServer(t *testing.T) {
	gone := make(chan struct{}, 10)
	hang := func(p *posted) {
		<-p.Context().Done()
		gone <- struct{}{}
	}
	for name, script := range map[string]func(p *posted){
		"header": hang,
		"object": func(p *posted) {
			p.w.Header().Set("Content-Type", "application/json")
			io.WriteString(p.w, `{"jsonrpc"`)
			p.w.(http.Flusher).Flush()
			hang(p)
		},
		"stream": func(p *posted) { p.events(note(1)); hang(p) },
		"error": func(p *posted) {
			p.w.WriteHeader(500)
			p.w.(http.Flusher).Flush()
			hang(p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, scripted(t, script), Client{}, newEar())
			why := errors.New("given up")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
			defer cancel()
			if _, err := conn.RoundTrip(ctx, modern(1, "x/y", "")); !errors.Is(err, why) {
				t.Errorf("error = %v", err)
			}
			within(t, "the end of the stream", gone)
		})
	}
}

func TestCloseEndsCalls(t *testing.T) {
	began := make(chan struct{})
	s := scripted(t, func(p *posted) { close(began); <-p.Context().Done() })
	conn := dial(t, s, Client{}, newEar())
	failed := make(chan error, 1)
	go func() { // ends with the connection
		_, err := conn.RoundTrip(context.Background(), modern(1, "x/y", ""))
		failed <- err
	}()
	within(t, "the request", began)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := within(t, "the failure", failed); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("error = %v", err)
	}
	within(t, "Done", conn.Done())
	if _, err := conn.RoundTrip(t.Context(), modern(2, "x/y", "")); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if conn.Err() != nil {
		t.Errorf("Err = %v", conn.Err())
	}
}

// Redirects keep the request within its origin, or are refused.
func TestRedirects(t *testing.T) {
	var leaked bool
	elsewhere := scripted(t, func(p *posted) { leaked = true; p.result(`{}`) })
	tests := []struct {
		status int
		to     string
		want   string
	}{
		{307, "/other", "{}"},
		{308, "/other", "{}"},
		{301, "/other", "does not keep the request"},
		{302, "/other", "does not keep the request"},
		{303, "/other", "does not keep the request"},
		{307, elsewhere.URL + "/other", "another origin"},
		{302, elsewhere.URL + "/other", "another origin"},
		{307, "/mcp", "10 redirects"},
	}
	for _, tt := range tests {
		s := scripted(t, func(p *posted) {
			if p.URL.Path == "/mcp" {
				p.w.Header().Set("Location", tt.to)
				p.w.WriteHeader(tt.status)
				return
			}
			if p.Header.Get("Authorization") != "Bearer x" || p.Method != "x/y" {
				t.Errorf("the request changed on its way: %v %s", p.Header, p.Method)
			}
			p.result(`{}`)
		})
		conn := dial(t, s, Client{HTTP: s.Client(), Header: http.Header{"Authorization": {"Bearer x"}}}, newEar())
		if got := outcome(conn.RoundTrip(t.Context(), modern(1, "x/y", ""))); !strings.Contains(got, tt.want) {
			t.Errorf("%d to %s: got %s, want %s", tt.status, tt.to, got, tt.want)
		}
	}
	if leaked {
		t.Error("a request reached another origin")
	}
}

func TestBadURLs(t *testing.T) {
	for _, u := range []string{"", "localhost:80", "ftp://a/b", "http://", "http://a b/", "/mcp"} {
		if _, err := (&Client{URL: u}).Connect(t.Context(), newEar()); err == nil {
			t.Errorf("%q was accepted", u)
		}
	}
	if name := (&Client{URL: "http://u:secret@h/mcp"}).Name(); strings.Contains(name, "secret") {
		t.Errorf("Name = %q", name)
	}
}

func TestUnreachable(t *testing.T) {
	s := scripted(t, func(*posted) {})
	conn := dial(t, s, Client{}, newEar())
	s.Close()
	_, err := conn.RoundTrip(t.Context(), modern(1, "x/y", ""))
	if err == nil || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("error = %v", err)
	}
}

type traced struct {
	http.RoundTripper
	trace *httptrace.ClientTrace
}

func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.RoundTripper.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), t.trace)))
}

// The HTTP connection of an answered call is reused, even if the call's context ended
// with the answer.
func TestConnectionsAreReused(t *testing.T) {
	s := scripted(t, func(p *posted) { p.events(p.answer(`{}`)) })
	kept := make(chan error, 1)
	trace := &httptrace.ClientTrace{PutIdleConn: func(err error) { kept <- err }}
	conn := dial(t, s, Client{HTTP: &http.Client{Transport: traced{s.Client().Transport, trace}}}, newEar())
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := conn.RoundTrip(ctx, modern(int64(i), "x/y", "")); err != nil {
			t.Fatal(err)
		}
		cancel()
		timer := time.NewTimer(2 * time.Minute)
		select {
		case err := <-kept:
			if err != nil {
				t.Fatal(err)
			}
		case <-timer.C:
			t.Fatal("the connection was not kept")
		}
		timer.Stop()
	}
}
