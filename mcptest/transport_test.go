package mcptest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A recorder sees the same frames of a call in every mode.
func TestRecorderHearsEveryMode(t *testing.T) {
	for _, m := range mcptest.AllModes() {
		t.Run(m.String(), func(t *testing.T) {
			var said mcptest.Recorder
			t.Run("call", func(t *testing.T) { // the client is closed at its end
				c := said.Connect(t, adder(), m, nil)
				if _, err := client.Call[sum](t.Context(), c, "add", addArgs{1, 2}, client.WithProgress(func(*mcp.ProgressParams) {})); err != nil {
					t.Error(err)
				}
			})
			var heard []string
			for _, f := range said.Frames() {
				if f.Mode != m {
					t.Errorf("a frame of the mode %s", f.Mode)
				}
				for _, msg := range f.Messages() {
					what := msg.Method
					if what == "" {
						what = "answer " + msg.ID.String()
					}
					heard = append(heard, map[bool]string{true: "> ", false: "< "}[f.FromClient]+what)
				}
			}
			want := "> initialize, < answer 1, > notifications/initialized, > tools/call, < notifications/progress, < answer 2"
			if m.Revision == mcp.Revision20260728 {
				want = "> server/discover, < answer 1, > tools/call, < notifications/progress, < answer 2"
			}
			if got := strings.Join(heard, ", "); got != want {
				t.Errorf("heard\n%s\nwant\n%s", got, want)
			}
			if n, all := len(said.FromClient())+len(said.FromServer()), len(heard); n != all {
				t.Errorf("%d messages of both sides, want %d", n, all)
			}
		})
	}
}

// Messages returns those of a batch that are valid.
func TestMessagesOfABatch(t *testing.T) {
	f := mcptest.Frame{JSON: []byte(`[{"jsonrpc":"2.0","method":"a"},5,{"jsonrpc":"2.0","id":1,"result":{}}]`)}
	got := f.Messages()
	if len(got) != 2 || got[0].Method != "a" || got[1].Result == nil {
		t.Errorf("messages = %v", got)
	}
	if bad := (mcptest.Frame{JSON: []byte("no JSON")}).Messages(); bad != nil {
		t.Errorf("no JSON = %v", bad)
	}
}

// After its server broke down, a client finds the next one: in the stateless
// era always, and in a session if the server says that it no longer knows the
// session.
func TestBreak(t *testing.T) {
	for _, m := range mcptest.AllModes() {
		if m.Revision != mcp.Revision20260728 && m.Transport != mcptest.HTTP {
			continue // a session ends with its connection
		}
		t.Run(m.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := &mcptest.Transport{Handler: adder(), Over: m.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
				c, err := client.Connect(t.Context(), tr, &client.Options{Logger: mcptest.Quiet(), Revisions: []mcp.Revision{m.Revision}})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if got, err := client.Call[sum](t.Context(), c, "add", addArgs{1, 2}); err != nil || got.Sum != 3 {
						t.Errorf("add gave %d, %v", got.Sum, err)
					}
					tr.Break()
					synctest.Wait() // the client has seen it
				}
				_ = c.Close() // to a server that has gone
				tr.Wait()
			})
		})
	}
}

func TestUnknownTransport(t *testing.T) {
	_, err := client.Connect(t.Context(), &mcptest.Transport{Handler: adder(), Over: "pigeon"}, nil)
	if err == nil || !strings.Contains(err.Error(), `there is no transport "pigeon"`) {
		t.Errorf("error = %v", err)
	}
}

// A site can be cut off, and reached again afterwards.
func TestSiteCut(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
	site := mcptest.NewSite(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			close(begun)
			<-r.Context().Done()
			close(gone)
			return
		}
		_, _ = io.WriteString(w, "here")
	}))
	defer site.Close()
	failed := make(chan error)
	go func() { // ends when the site is cut
		resp, err := site.Client.Get(site.URL + "/hang")
		if err == nil {
			_ = resp.Body.Close()
		}
		failed <- err
	}()
	<-begun
	site.Cut()
	if err := <-failed; err == nil {
		t.Error("a request outlived its connection")
	}
	<-gone
	resp, err := site.Client.Get(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); string(body) != "here" || err != nil {
		t.Errorf("got %q, %v", body, err)
	}
}
