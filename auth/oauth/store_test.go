package oauth_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
)

func stores(t *testing.T) map[string]oauth.Store {
	t.Helper()
	file, err := oauth.NewFileStore(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]oauth.Store{"memory": oauth.NewMemoryStore(), "file": file}
}

func put(t *testing.T, s oauth.Store, key, value string) {
	t.Helper()
	err := s.Update(t.Context(), key, func(context.Context, []byte) ([]byte, error) {
		if value == "" {
			return nil, nil
		}
		return []byte(value), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantStored(t *testing.T, s oauth.Store, key, want string) {
	t.Helper()
	got, err := s.Load(t.Context(), key)
	if err != nil || string(got) != want || (got == nil) != (want == "") {
		t.Errorf("%q holds %q, %v; want %q", key, got, err, want)
	}
}

func TestStores(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			wantStored(t, s, "a", "")
			put(t, s, "a", "1")
			put(t, s, "b/../c", "2")
			wantStored(t, s, "a", "1")
			wantStored(t, s, "b/../c", "2")
			broken := errors.New("broken")
			err := s.Update(t.Context(), "a", func(_ context.Context, old []byte) ([]byte, error) {
				if string(old) != "1" {
					t.Errorf("update of %q", old)
				}
				return []byte("3"), broken
			})
			if !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
			wantStored(t, s, "a", "1")
			put(t, s, "a", "")
			put(t, s, "a", "")
			wantStored(t, s, "a", "")
		})
	}
}

// Updates of a document exclude each other.
func TestUpdatesExclude(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() { // ends after its updates
					for range 5 {
						add(t, s)
					}
				})
			}
			all.Wait()
			wantStored(t, s, "n", "40")
			ctx, cancel := context.WithCancel(t.Context())
			err := s.Update(t.Context(), "n", func(context.Context, []byte) ([]byte, error) {
				cancel()
				if err := s.Update(ctx, "n", func(context.Context, []byte) ([]byte, error) { return nil, nil }); !errors.Is(err, context.Canceled) {
					t.Errorf("an update within another: %v", err)
				}
				return s.Load(t.Context(), "n")
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func add(t *testing.T, s oauth.Store) {
	err := s.Update(t.Context(), "n", func(_ context.Context, old []byte) ([]byte, error) {
		n, _ := strconv.Atoi(string(old))
		return []byte(strconv.Itoa(n + 1)), nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Updates by different processes exclude each other, too.
func TestUpdatesOfProcesses(t *testing.T) {
	if dir := os.Getenv("OAUTH_STORE_TEST"); dir != "" {
		s, err := oauth.NewFileStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			add(t, s)
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "store")
	var all sync.WaitGroup
	for range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUpdatesOfProcesses$")
		cmd.Env = append(os.Environ(), "OAUTH_STORE_TEST="+dir)
		all.Go(func() { // ends with the process
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	s, err := oauth.NewFileStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantStored(t, s, "n", "60")
}

func TestFileStoreIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes do not show who may read")
	}
	dir := filepath.Join(t.TempDir(), "store")
	s, err := oauth.NewFileStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", "secret")
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	files, _ := os.ReadDir(dir)
	var document string
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", f.Name(), info.Mode(), err)
		}
		if strings.HasSuffix(f.Name(), ".json") {
			document = filepath.Join(dir, f.Name())
		}
	}
	if len(files) != 2 {
		t.Errorf("left %v", files)
	}
	_ = os.Chmod(document, 0o640)
	if _, err := s.Load(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("a file that others read: %v", err)
	}
	_ = os.Remove(document)
	_ = os.Symlink("/etc/hostname", document)
	if _, err := s.Load(t.Context(), "a"); err == nil {
		t.Error("a link was followed")
	}
	_ = os.Chmod(dir, 0o755)
	if _, err := oauth.NewFileStore(dir); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("a folder that others read: %v", err)
	}
	if _, err := oauth.NewFileStore("/dev/null"); err == nil {
		t.Error("a store in no folder")
	}
}

// A store that does not work does not prevent a login: the token is valid for
// the process.
func TestBrokenStore(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil, func(o *oauth.Options) {
		o.Store = brokenStore{}
		o.PreRegistered = map[string]oauth.Credentials{w.issuer: {ClientID: "known"}}
	})
	w.ok(c)
	w.ok(c)
	w.wantCount("GET /authorize", 1)
	if err := c.Login(t.Context()); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("a login that is not stored: %v", err)
	}
}

// If a folder can no longer be written to, the user can still log in.
func TestStoreBreaks(t *testing.T) {
	w := newWorld(t)
	store := &breakingStore{Store: oauth.NewMemoryStore()}
	c := w.client(nil, func(o *oauth.Options) { o.Store = store })
	w.ok(c)
	store.broken.Store(true)
	w.revokeAll()
	w.ok(c)
	w.wantCount("GET /authorize", 2)
	w.revokeAll()
	w.ok(c)
}

// breakingStore becomes read-only at some point.
type breakingStore struct {
	oauth.Store

	broken atomic.Bool
}

func (s *breakingStore) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	if s.broken.Load() {
		return errors.New("read-only file system")
	}
	return s.Store.Update(ctx, key, change)
}

type brokenStore struct{}

func (brokenStore) Load(context.Context, string) ([]byte, error) {
	return nil, errors.New("disk on fire")
}

func (brokenStore) Update(context.Context, string, func(context.Context, []byte) ([]byte, error)) error {
	return errors.New("disk on fire")
}

// A damaged document does not count as a token.
func TestDamagedStore(t *testing.T) {
	w := newWorld(t)
	store := oauth.NewMemoryStore()
	put(t, store, "server "+w.url, `{"issuer":"`+w.issuer+`","resource":"`+w.url+`"}`)
	put(t, store, "token "+w.issuer+" "+w.url, `{"accessToken":5}`)
	w.ok(w.client(nil, func(o *oauth.Options) { o.Store = store }))
	w.wantCount("GET /authorize", 1)
}
