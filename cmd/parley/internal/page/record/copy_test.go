package record

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/reference"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// site serves the reference server over HTTP.
func site(t *testing.T) string {
	t.Helper()
	s, release, err := reference.New(reference.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		_ = h.Close(context.Background())
		web.Close()
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	return web.URL
}

// own is the program of the tests as a server. The variable is no secret, but its value
// has to be given to what was copied.
func own(t *testing.T) *target.Target {
	t.Setenv(serving, "1")
	return &target.Target{Command: []string{os.Args[0]}}
}

// dial records what a client says to a target.
func dial(t *testing.T, to *target.Target, rev mcp.Revision, do func(c *client.Client, r *Recorder)) {
	t.Helper()
	r := newRecorder(t, Options{})
	tr, err := to.Transport(target.Connection{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Connect(t.Context(), tr, &client.Options{Tap: r.Tap, Revisions: []mcp.Revision{rev}, Logger: mcptest.Quiet(), Elicit: fill})
	if err != nil {
		t.Fatal(err)
	}
	do(c, r)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// built is the folder that program has made, or "".
var built string

// program builds parley, once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		return "", err
	}
	built = dir
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "parley"), "github.com/parley-mcp/parley/cmd/parley").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return dir, nil
})

func sh(t *testing.T, line string) string {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v of\n%s\n%s", err, line, out)
	}
	return string(out)
}

// find returns the exchange of a method and a subject.
func find(t *testing.T, r *Recorder, method, subject string) uint64 {
	t.Helper()
	for _, x := range r.Exchanges(0, 1000) {
		if x.Method == method && x.Subject == subject {
			return x.Number
		}
	}
	t.Fatalf("there is no %s %s in\n%s", method, subject, outline(t, r))
	return 0
}

// odd is what a shell must not read.
const odd = `it's "$(quoted)" \ ` + "`so`"

// What is copied runs in a shell and gets the answer that was recorded, or is a test
// that passes.
func TestCopiesWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	for _, tool := range []string{"sh", "curl", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	for _, rev := range []mcp.Revision{mcp.Revision20250326, mcp.Revision20260728} {
		for name, to := range map[string]*target.Target{"stdio": own(t), "http": {URL: site(t)}} {
			t.Run(rev.String()+"/"+name, func(t *testing.T) {
				dial(t, to, rev, func(c *client.Client, r *Recorder) {
					call(t, c, "calculate", map[string]any{"expression": "6 * 7"})
					_, err := c.GetPrompt(t.Context(), "code_review", map[string]string{"code": odd, "language": "go"})
					if err != nil {
						t.Error(err)
					}
					if _, err := c.CallTool(t.Context(), "nothing", nil); err == nil {
						t.Error("a tool that is not there was called")
					}
					if rev == mcp.Revision20260728 {
						call(t, c, "checkout", nil)
					}
					checkCopies(t, r, to)
				})
			})
		}
	}
}

// checkCopies runs what can be copied, and compares what it prints.
func checkCopies(t *testing.T, r *Recorder, to *target.Target) {
	t.Helper()
	for _, tt := range []struct {
		method, subject string
		form            func(uint64, *target.Target, bool) (Copy, error)
		want            string
	}{
		{mcp.MethodCallTool, "calculate", r.Curl, "42"},
		{mcp.MethodGetPrompt, "code_review", r.Curl, `it's \"$(quoted)\" \\`},
		{mcp.MethodCallTool, "calculate", r.Parley, "42"},
		{mcp.MethodGetPrompt, "code_review", r.Parley, odd},
	} {
		c, err := tt.form(find(t, r, tt.method, tt.subject), to, true)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := sh(t, c.Text); !strings.Contains(got, tt.want) {
			t.Errorf("%s\nprints %s, want %s", c.Text, got, tt.want)
		}
	}
	dir := t.TempDir()
	for _, x := range r.Exchanges(0, 1000) {
		c, err := r.Go(x.Number, to, true)
		if x.Stream || x.Method == mcp.MethodInitialize || x.Method == mcp.MethodDiscover {
			if !errors.Is(err, ErrNoForm) {
				t.Errorf("%s as a test: %v", x.Method, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if x.Subject == "checkout" { // its receipt is another one each time
			c.Text = strings.Replace(c.Text, `"cacheScope"`, `"cacheScope", "content", "structuredContent"`, 1)
		}
		name := fmt.Sprintf("copied%d_test.go", x.Number)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(c.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := sh(t, "go vet "+dir+"/*_test.go && go test "+dir+"/*_test.go"); !strings.HasPrefix(got, "ok") {
		t.Error(got)
	}
}

func call(t *testing.T, c *client.Client, tool string, args any) {
	t.Helper()
	if _, err := c.CallTool(t.Context(), tool, args); err != nil {
		t.Error(err)
	}
}
