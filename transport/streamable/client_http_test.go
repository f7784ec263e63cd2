package streamable

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// As many idle connections are kept as there were concurrent calls, for the calls
// that follow.
func TestConnectionsAreUsedAgain(t *testing.T) {
	const atATime = 128
	var opened, waiting atomic.Int64
	all := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if waiting.Add(1) == atATime {
			close(all)
		}
		<-all // so that the first calls are concurrent
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, strings.TrimPrefix(r.Header.Get("Mcp-Method"), "x/"))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	conn := dial(t, s, Client{}, newEar())
	for range 3 {
		var wg sync.WaitGroup
		for i := range atATime {
			wg.Go(func() {
				if m, err := conn.RoundTrip(t.Context(), modern(int64(i), fmt.Sprint("x/", i), "")); err != nil || m.Error != nil {
					t.Errorf("call %d: %+v, %v", i, m, err)
				}
			})
		}
		wg.Wait()
	}
	if n := opened.Load(); n != atATime {
		t.Errorf("%d calls at a time took %d connections", atATime, n)
	}
}
