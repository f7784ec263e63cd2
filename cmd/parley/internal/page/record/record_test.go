package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

func newRecorder(t *testing.T, o Options) *Recorder {
	t.Helper()
	o.Dir = t.TempDir()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

var epoch = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

// feed records frames on one connection, a millisecond apart; > and < in front say who
// sends.
func feed(r *Recorder, frames ...string) {
	for _, f := range frames {
		e := mcp.TapEvent{Time: epoch.Add(time.Duration(r.State().Last) * time.Millisecond), Side: mcp.ClientSide, Direction: mcp.Sent, Connection: 1, Frame: []byte(f[1:])}
		if f[0] == '<' {
			e.Direction = mcp.Received
		}
		r.Tap(e)
	}
}

func numbers(runs []Run) (all []uint64) {
	for _, run := range runs {
		for n := run[0]; n <= run[1]; n++ {
			all = append(all, n)
		}
	}
	return all
}

func TestFind(t *testing.T) {
	r := newRecorder(t, Options{})
	feed(r,
		`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"Grüß Gott"}}}`,
		`<{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`<{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
		`>{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`<{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`,
		`<nonsense`,
	)
	for name, tt := range map[string]struct {
		filter Filter
		want   []uint64
	}{
		"all":       {Filter{}, []uint64{1, 2, 3, 4, 5, 6}},
		"range":     {Filter{After: 2, Before: 5}, []uint64{3, 4}},
		"text":      {Filter{Text: "ECHO"}, []uint64{1}},
		"umlaut":    {Filter{Text: "grüß"}, []uint64{1}},
		"kinds":     {Filter{Kinds: []Kind{Failure, Malformed}}, []uint64{5, 6}},
		"method":    {Filter{Methods: []string{"ping"}}, []uint64{4, 5}},
		"direction": {Filter{Direction: mcp.Sent}, []uint64{1, 4}},
		"exchange":  {Filter{Exchange: 1}, []uint64{1, 3}},
		"none":      {Filter{Text: "echo", Direction: mcp.Received}, nil},
	} {
		got, through, err := r.Find(t.Context(), tt.filter)
		if err != nil || !slices.Equal(numbers(got), tt.want) || through != 6 {
			t.Errorf("%s: got %v through %d, %v; want %v", name, got, through, err, tt.want)
		}
	}
	f, err := r.Frame(6)
	if err != nil || string(f.Raw) != "nonsense" || f.Kind != Malformed {
		t.Errorf("the last frame is %+v, %v", f, err)
	}
	if h := r.Heads([]uint64{3, 99}); len(h) != 1 || h[0].Method != "tools/call" || h[0].Subject != "echo" || h[0].Took != 2*time.Millisecond {
		t.Errorf("the answer is %+v", h)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Find(ctx, Filter{Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was cancelled ends with %v", err)
	}
}

// What is recorded is bounded in number and in bytes, and the rest stays readable.
func TestBounds(t *testing.T) {
	for name, o := range map[string]Options{"frames": {MaxFrames: 160}, "bytes": {MaxBytes: 16 << 10}} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t, o)
			for i := range 1000 {
				feed(r, fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i), fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
			}
			s := r.State()
			if n := s.Last - s.First + 1; s.Last != 2000 || s.Dropped != s.First-1 || int(n) > s.MaxFrames || n < 100 || s.Bytes > s.MaxBytes {
				t.Errorf("the state is %+v", s)
			}
			found, _, err := r.Find(t.Context(), Filter{Text: "jsonrpc"})
			if err != nil || len(found) != 1 || found[0] != (Run{s.First, s.Last}) {
				t.Errorf("found %v, %v of %+v", found, err, s)
			}
			for n := s.First; n <= s.Last; n++ {
				f, err := r.Frame(n)
				if err != nil || !strings.Contains(string(f.Raw), fmt.Sprintf(`"id":%d`, (n-1)/2)) {
					t.Fatalf("frame %d is %+v, %v", n, f, err)
				}
			}
			if _, err := r.Frame(s.First - 1); !errors.Is(err, ErrGone) {
				t.Errorf("a frame that was dropped: %v", err)
			}
			if got := len(r.links.exchanges); got > int(s.Last-s.First+1) {
				t.Errorf("%d exchanges are kept", got)
			}
			if l := r.links; len(l.open)+len(l.refused)+len(l.calls) != 0 {
				t.Errorf("links are kept: %d open", len(l.open))
			}
			files, err := os.ReadDir(r.dir)
			if err != nil || len(files) > shares+1 {
				t.Errorf("there are %d files, %v", len(files), err)
			}
		})
	}
}

type fullDisk struct{ left int }

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(b), nil
}

func (*fullDisk) Close() error { return nil }

// A full disk stops the recording and says so; clearing it begins anew.
func TestFullDisk(t *testing.T) {
	r := newRecorder(t, Options{})
	r.create = func(string) (file, error) { return &fullDisk{left: 100}, nil }
	for range 10 {
		feed(r, `>{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	if s := r.State(); s.Last != 2 || s.Stopped != "what was recorded could not be written: no space left on device" {
		t.Errorf("the state is %+v", s)
	}
	r.Clear()
	r.create = createFile
	feed(r, `>{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if s := r.State(); s.First != 3 || s.Last != 3 || s.Stopped != "" {
		t.Errorf("the state after Clear is %+v", s)
	}
}

func TestPrivateAndRemoved(t *testing.T) {
	r := newRecorder(t, Options{})
	feed(r, `>{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	for path, want := range map[string]os.FileMode{r.dir: 0o700, filepath.Join(r.dir, "1"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	feed(r, `>{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if s := r.State(); s.Last != s.First-1 {
		t.Errorf("after Close: %+v", s)
	}
}
