package gateway_test

import (
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
)

// A call whose server dies fails at once, and says that nobody knows whether it was done.
func TestDiesDuringAWrite(t *testing.T) {
	cells(t, backend.Options{}, func(t *testing.T, s *stage) {
		if _, err := client.Call[string](t.Context(), s.c, "bad__write", nil); err != nil {
			t.Fatal(err)
		}
		s.hang(mcp.MethodCallTool)
		failed := make(chan error, 1)
		go func() { // ends with the call
			_, err := client.Call[string](t.Context(), s.c, "bad__write", nil)
			failed <- err
		}()
		<-s.arrived
		s.answers(t)
		begun := time.Now()
		s.do(nil)
		s.way.Break()
		s.answers(t)
		err := <-failed
		fails(t, "the call", err, `"bad"`, "it is not known whether it has done what it was asked to")
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it failed after %s", took)
		}
		if n := s.writes.Load(); n != 1 {
			t.Errorf("it was made %d times", n)
		}
		if _, err := client.Call[string](t.Context(), s.c, "bad__write", nil); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// A call that only reads is made once more, on another connection.
func TestDiesDuringARead(t *testing.T) {
	cells(t, backend.Options{}, func(t *testing.T, s *stage) {
		if _, err := client.Call[string](t.Context(), s.c, "bad__write", nil); err != nil {
			t.Fatal(err)
		}
		s.hang(mcp.MethodCallTool)
		failed := make(chan error, 1)
		go func() { // ends with the call
			_, err := client.Call[string](t.Context(), s.c, "bad__read", nil)
			failed <- err
		}()
		<-s.arrived
		begun := time.Now()
		s.do(nil)
		s.way.Break()
		s.answers(t)
		if err := <-failed; err != nil {
			t.Errorf("the call fails: %v", err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %s", took)
		}
		if n := s.reads.Load(); n != 1 {
			t.Errorf("it was made again %d times", n)
		}
	})
}
