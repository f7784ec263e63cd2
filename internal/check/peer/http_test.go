package peer

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func serve(t *testing.T, h http.HandlerFunc) Site {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Site{URL: s.URL, Header: http.Header{"Authorization": {"Bearer secret"}}}
}

func over(t *testing.T, limits Limits, site Site) *Conn {
	t.Helper()
	c := OverHTTP(NewLog(limits), site)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func ping(id int) *Out {
	return Frame(map[string]any{"jsonrpc": "2.0", "id": id, "method": "ping"})
}

func TestHTTP(t *testing.T) {
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Kind") == "json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		case r.Header.Get("X-Kind") == "events":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\ndata:\n\nid: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		case r.Header.Get("X-Kind") == "redirect":
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		default:
			_, _ = fmt.Fprintf(w, "%s %s %q", r.Method, r.URL, r.Header["Authorization"])
		}
	})
	c := over(t, Limits{}, site)
	r := c.Do(t.Context(), ping(1).With("X-Kind", "json"))
	if r.Response == nil || r.Exchange.Status != 200 || r.Exchange.Message != r.Sent {
		t.Errorf("JSON: %+v", r)
	}
	r = c.Do(t.Context(), ping(1).With("X-Kind", "events"))
	if r.Response == nil || len(r.Before) != 1 || len(r.Exchange.Events) != 3 || r.Exchange.Events[1].ID != "2" {
		t.Errorf("events: %+v", r)
	}
	r = c.Do(t.Context(), ping(1).With("X-Kind", "redirect"))
	if r.Exchange.Status != http.StatusTemporaryRedirect || r.Response != nil {
		t.Errorf("a redirect was followed: %+v", r)
	}
	out := (&Out{HTTPMethod: http.MethodDelete, Query: "a=b"}).With("Authorization")
	if r = c.Do(t.Context(), out); string(r.Exchange.Text) != `DELETE /?a=b []` {
		t.Errorf("without credentials: %s", r.Exchange.Text)
	}
	if r = c.Do(t.Context(), &Out{HTTPMethod: http.MethodPut}); string(r.Exchange.Text) != `PUT / ["Bearer secret"]` || r.Exchange.Secret[0] != "Authorization" {
		t.Errorf("with credentials: %s", r.Exchange.Text)
	}
}

// Streams that end before the answer are resumed from their last event.
func TestResume(t *testing.T) {
	var came []string
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		came = append(came, r.Method+" "+r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		switch len(came) {
		case 1:
			_, _ = io.WriteString(w, "id: a\nretry: 1\ndata:\n\n")
		case 2:
			_, _ = io.WriteString(w, "id: b\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n")
		default:
			_, _ = io.WriteString(w, "id: b\ndata: {\"method\":\"n\",\"jsonrpc\":\"2.0\"}\n\nid: c\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		}
	})
	c := over(t, Limits{}, site)
	if r := c.Do(t.Context(), ping(1)); r.Response != nil {
		t.Fatal("it was resumed although nobody asked for it")
	}
	came, c.Resumes = nil, true
	r := c.Do(t.Context(), ping(1))
	if got := strings.Join(came, ","); got != "POST ,GET a,GET b" || r.Response == nil {
		t.Fatalf("%s: %+v", got, r)
	}
	var again []bool
	for _, m := range r.Before {
		again = append(again, m.Replayed)
	}
	if fmt.Sprint(again) != "[false true]" {
		t.Errorf("which messages came again: %v", again)
	}
}

// A server that streams without end fills the log, and no more.
func TestHTTPWithoutEnd(t *testing.T) {
	for name, tt := range map[string]struct{ kind, text string }{
		"messages":      {"text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"},
		"empty events":  {"text/event-stream", "retry: 1\n\n"},
		"one event":     {"text/event-stream", "data: more\n"},
		"one JSON text": {"application/json", `["more"`},
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{})
			site := serve(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				w.Header().Set("Content-Type", tt.kind)
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, tt.text); err != nil {
						return
					}
				}
			})
			c := over(t, Limits{Message: 10_000, Total: 20_000, Messages: 100}, site)
			c.Resumes = true
			r := c.Do(t.Context(), ping(1))
			if r.Response != nil || r.Silent {
				t.Errorf("%+v", r)
			}
			<-gone // it was hung up on
			if n := c.Log.Len(); n > 102 || len(r.Exchange.Events) > 300 {
				t.Errorf("%d messages and %d events are kept", n, len(r.Exchange.Events))
			}
		})
	}
}

// Stop ends an exchange as a client does that goes.
func TestStop(t *testing.T) {
	gone := make(chan struct{})
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	c := over(t, Limits{}, site)
	r := c.Get(t.Context(), nil)
	c.Log.Await(t.Context(), func() bool { return r.Exchange.Status != 0 })
	r.Stop()
	<-gone
	if !r.Ended(t.Context()) || !r.Exchange.Aborted {
		t.Errorf("%+v", r.Exchange)
	}
	r.Stop()
	if !r.Exchange.Aborted {
		t.Error("the second Stop forgot that the first had ended it")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if r := c.Do(t.Context(), ping(2)); r.Err == nil {
		t.Error("something was sent after Close")
	}
}

func TestOverSSE(t *testing.T) {
	answers := make(chan string, 1)
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			answers <- "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: endpoint\ndata: "+r.URL.Query().Get("to")+"\n\n")
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case text := <-answers:
				_, _ = io.WriteString(w, text)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	base := site.URL
	for _, to := range []string{"", "http://elsewhere.example/x"} {
		site.URL = base + "/?to=" + to
		if c, err := OverSSE(t.Context(), NewLog(Limits{}), site, Patience{Reply: 50 * time.Millisecond}); err == nil {
			t.Errorf("the endpoint %q was taken", to)
			_ = c.Close()
		}
	}
	site.URL = base + "/?to=/messages"
	c, err := OverSSE(t.Context(), NewLog(Limits{}), site, Patience{})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Do(t.Context(), ping(1))
	if r.Response == nil || !strings.HasSuffix(r.Exchange.URL, "/messages") {
		t.Errorf("%+v", r)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

type pool struct{ closed int }

func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func (p *pool) CloseIdleConnections() { p.closed++ }

// A server may close a connection just when a request goes out on it.
func TestIdleConnectionsAreNotUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pool{}
		c := over(t, Limits{}, Site{URL: "http://server.example", Client: &http.Client{Transport: p}})
		note := Frame(map[string]any{"jsonrpc": "2.0", "method": "n"})
		c.Do(t.Context(), note)
		before := p.closed
		c.Do(t.Context(), note)
		if p.closed != before {
			t.Error("a connection that was just used is closed")
		}
		<-time.NewTimer(idle + time.Second).C
		c.Do(t.Context(), note)
		if p.closed != before+1 {
			t.Error("a connection that was out of use is used again")
		}
	})
}
