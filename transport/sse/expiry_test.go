package sse_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
)

// recorder is a response that can be read while it is being written.
type recorder struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

// Write implements io.Writer.
func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ResponseRecorder.Write(b)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Body.String()
}

// The stream is the session; it goes on as long as the client's messages carry a
// valid token.
func TestStreamEndsWithTheAuthorization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
		h, err := sse.New(s, &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
		if err != nil {
			t.Fatal(err)
		}
		life := func(subject string) context.Context {
			return mcp.WithAuthorization(t.Context(), &mcp.Authorization{Issuer: "i", Subject: subject, Expires: time.Now().Add(time.Hour)})
		}
		begin, stream, ended := time.Now(), &recorder{ResponseRecorder: httptest.NewRecorder()}, make(chan time.Duration, 1)
		go func() {
			h.ServeHTTP(stream, httptest.NewRequestWithContext(life("ann"), "GET", "http://localhost/sse", nil))
			ended <- time.Since(begin)
		}()
		synctest.Wait()
		_, endpoint, _ := strings.Cut(stream.text(), "data: ")
		post := func(subject string) int {
			r := httptest.NewRequestWithContext(life(subject), "POST", "http://localhost"+strings.TrimSpace(endpoint), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Code
		}
		<-time.NewTimer(40 * time.Minute).C
		if status := post("ann"); status != 202 {
			t.Fatalf("POST: %d", status)
		}
		<-time.NewTimer(30 * time.Minute).C
		if status := post("bob"); status != 404 {
			t.Errorf("POST of another user: %d", status)
		}
		if took := <-ended; took != 100*time.Minute {
			t.Errorf("the stream ended after %v", took)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
