package control_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/control"
)

type greeting struct {
	Name string `json:"name"`
}

// listen opens the socket of a gateway of a file, which greets.
func listen(t *testing.T, dir, file string) *control.Server {
	t.Helper()
	s, err := control.Listen(control.Options{Dir: dir, File: file})
	if err != nil {
		t.Fatal(err)
	}
	s.Handle("POST /greet/{how}", control.Answer(func(r *http.Request, in greeting) (any, error) {
		switch how := r.PathValue("how"); how {
		case "rudely":
			return nil, control.Errorf(http.StatusConflict, "nobody greets %s like that", in.Name)
		case "badly":
			return nil, errors.New("out of words")
		default:
			return greeting{how + " " + in.Name}, nil
		}
	}))
	s.Serve()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func find(t *testing.T, dir, file string) []*control.Client {
	t.Helper()
	found, err := control.Find(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	listen(t, dir, "gateway.yaml")
	c := find(t, dir, "gateway.yaml")[0]
	if c.PID() != os.Getpid() {
		t.Errorf("process %d", c.PID())
	}
	var got greeting
	if err := c.Do(t.Context(), http.MethodPost, "/greet/dear", greeting{"Ann"}, &got); err != nil || got.Name != "dear Ann" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := c.Do(t.Context(), http.MethodPost, "/greet/dear", nil, nil); err != nil {
		t.Errorf("without a body: %v", err)
	}
	for path, want := range map[string]control.Error{
		"/greet/rudely": {Status: http.StatusConflict, Message: "nobody greets Ann like that"},
		"/greet/badly":  {Status: http.StatusInternalServerError, Message: "out of words"},
	} {
		told, ok := errors.AsType[*control.Error](c.Do(t.Context(), http.MethodPost, path, greeting{"Ann"}, &got))
		if !ok || *told != want {
			t.Errorf("%s: got %+v, want %+v", path, told, want)
		}
	}
	err := c.Do(t.Context(), http.MethodPost, "/greet/dear", []int{1}, &got)
	if told, ok := errors.AsType[*control.Error](err); !ok || told.Status != http.StatusBadRequest {
		t.Errorf("a body that is something else: %v", err)
	}
	if err := c.Do(t.Context(), http.MethodGet, "/nothing", nil, nil); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("what there is not: %v", err)
	}
}

func TestFind(t *testing.T) {
	dir, folder := filepath.Join(t.TempDir(), "run"), t.TempDir()
	one, other := filepath.Join(folder, "one.yaml"), filepath.Join(folder, "other.yaml")
	if found := find(t, dir, one); found != nil {
		t.Errorf("%d gateways where there is no folder", len(found))
	}
	first := listen(t, dir, one)
	listen(t, dir, one)
	listen(t, dir, other)
	t.Chdir(folder)
	for file, want := range map[string]int{one: 2, "one.yaml": 2, "./other.yaml": 1, "third.yaml": 0, "": 3} {
		if found := find(t, dir, file); len(found) != want {
			t.Errorf("%q: %d gateways, want %d", file, len(found), want)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if found := find(t, dir, one); len(found) != 1 {
		t.Errorf("%d gateways, and one has ended", len(found))
	}
}

func TestFindThroughLink(t *testing.T) {
	dir, folder := filepath.Join(t.TempDir(), "run"), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip("no links here:", err)
	}
	listen(t, dir, filepath.Join(folder, "g.yaml"))
	if found := find(t, dir, filepath.Join(link, "g.yaml")); len(found) != 1 {
		t.Errorf("%d gateways", len(found))
	}
}

// dead leaves the socket of a process that was killed.
func dead(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
}

func TestDeadSocketsAreRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	listen(t, dir, "g.yaml")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d sockets, %v", len(entries), err)
	}
	hash, _, _ := strings.Cut(entries[0].Name(), "-")
	old, young := filepath.Join(dir, hash+"-1.sock"), filepath.Join(dir, hash+"-2.sock")
	dead(t, old)
	dead(t, young)
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if found := find(t, dir, "g.yaml"); len(found) != 1 {
		t.Errorf("%d gateways", len(found))
	}
	if _, err := os.Lstat(old); err == nil {
		t.Error("a dead socket is still there")
	}
	if _, err := os.Lstat(young); err != nil {
		t.Error("a socket was removed that somebody may be about to listen at")
	}
}

func TestSocketOfAnEarlierProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := listen(t, dir, "g.yaml")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	dead(t, filepath.Join(dir, entries[0].Name()))
	listen(t, dir, "g.yaml")
	if found := find(t, dir, "g.yaml"); len(found) != 1 {
		t.Errorf("%d gateways", len(found))
	}
}

func TestLongFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30), "run")
	short, err := control.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(short) })
	listen(t, dir, "g.yaml")
	if found := find(t, dir, "g.yaml"); len(found) != 1 {
		t.Errorf("%d gateways", len(found))
	}
}

func TestFolderIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("who may enter a folder is inherited there")
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	listen(t, dir, "g.yaml")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if s, err := control.Listen(control.Options{Dir: link, File: "g.yaml"}); err == nil {
		_ = s.Close()
		t.Error("a link is taken for a folder")
	}
}

// TestCloseEndsAnswers: a command that waits for something does not keep the gateway from
// ending.
func TestCloseEndsAnswers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s, err := control.Listen(control.Options{Dir: dir, File: "g.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{})
	s.Handle("GET /wait", control.Answer(func(r *http.Request, _ struct{}) (any, error) {
		close(waits)
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}))
	s.Serve()
	c := find(t, dir, "g.yaml")[0]
	answered := make(chan error, 1)
	go func() { answered <- c.Do(t.Context(), http.MethodGet, "/wait", nil, nil) }() // ends when s is closed
	<-waits
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-answered; err == nil {
		t.Error("what was waited for has come")
	}
	if err := c.Do(t.Context(), http.MethodGet, "/wait", nil, nil); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("the gateway has ended: %v", err)
	}
}
