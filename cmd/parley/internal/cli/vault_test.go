package cli

import (
	"bytes"
	"context"
	"crypto/cipher"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/parley-mcp/parley/auth/oauth"
)

// vaultAt opens a vault in a folder, with or without a key for it.
func vaultAt(t *testing.T, dir string, sealed bool) *vault {
	t.Helper()
	files, err := oauth.NewFileStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := newTestApp("", false)
	v := &vault{files, dir, func() (cipher.AEAD, error) { return a.sealer(t.Context(), files) }}
	if sealed {
		key, err := keyringKey(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		sealer, err := newSealer(key)
		if err != nil {
			t.Fatal(err)
		}
		v.sealer = func() (cipher.AEAD, error) { return sealer, nil }
	} else {
		v.sealer = func() (cipher.AEAD, error) { return nil, nil }
	}
	return v
}

func put(t *testing.T, s oauth.Store, key, value string) {
	t.Helper()
	err := s.Update(t.Context(), key, func(context.Context, []byte) ([]byte, error) { return []byte(value), nil })
	if err != nil {
		t.Fatal(err)
	}
}

// onDisk returns the contents of all files in a folder.
func onDisk(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestVault(t *testing.T) {
	keyring.MockInit()
	const secret = `{"token":"geheim"}`
	dir := filepath.Join(t.TempDir(), "credentials")
	plain := vaultAt(t, dir, false)
	put(t, plain, "a", secret)
	if !strings.Contains(onDisk(t, dir), "geheim") {
		t.Fatal("without a keyring, nothing was written")
	}
	sealed := vaultAt(t, dir, true)
	if got, err := sealed.Load(t.Context(), "a"); err != nil || string(got) != secret {
		t.Errorf("from before there was a keyring: %q, %v", got, err)
	}
	put(t, sealed, "a", secret)
	if disk := onDisk(t, dir); strings.Contains(disk, "geheim") {
		t.Errorf("not encrypted: %s", disk)
	}
	if got, err := vaultAt(t, dir, true).Load(t.Context(), "a"); err != nil || string(got) != secret {
		t.Errorf("in the next run: %q, %v", got, err)
	}
	if _, err := plain.Load(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "keyring") {
		t.Errorf("without the keyring: %v", err)
	}
}

// The key that another process makes at the same time is the one that counts.
func TestVaultHasOneKey(t *testing.T) {
	keyring.MockInit()
	files, err := oauth.NewFileStore(filepath.Join(t.TempDir(), "credentials"))
	if err != nil {
		t.Fatal(err)
	}
	var theirs []byte
	mine, err := keyringKey(t.Context(), crossing{files, func() {
		if theirs, err = keyringKey(t.Context(), files); err != nil {
			t.Fatal(err)
		}
	}})
	if err != nil || !bytes.Equal(mine, theirs) {
		t.Errorf("there are two keys, and one is lost: %v", err)
	}
}

// crossing is a store to which another process always writes first.
type crossing struct {
	oauth.Store

	first func()
}

func (c crossing) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	c.first()
	return c.Store.Update(ctx, key, change)
}

// A document is bound to its key: whoever can write to the folder cannot pass
// off one server's token as another's.
func TestVaultBindsDocuments(t *testing.T) {
	keyring.MockInit()
	v := vaultAt(t, filepath.Join(t.TempDir(), "credentials"), true)
	put(t, v, "a", "1")
	doc, err := v.files.Load(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	put(t, v.files, "b", string(doc))
	if got, err := v.Load(t.Context(), "b"); err == nil {
		t.Errorf("the document of another key was accepted: %q", got)
	}
	put(t, v.files, "a", `"junk"`)
	if _, err := v.Load(t.Context(), "a"); err == nil {
		t.Error("junk was accepted")
	}
	stop := errors.New("stop")
	err = v.Update(t.Context(), "c", func(context.Context, []byte) ([]byte, error) { return nil, stop })
	if !errors.Is(err, stop) {
		t.Errorf("error = %v, want that of the change", err)
	}
}
