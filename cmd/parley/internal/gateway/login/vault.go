package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/wire"
)

// Vault keeps the logins of users, encrypted. Each has a folder, which several processes
// may use at the same time. What is in the folder is bound to the user and the server, so
// that nothing can be taken for another's.
type Vault struct {
	dir    string // "" keeps everything in memory
	seal   *Seal
	logger *slog.Logger

	mu     sync.Mutex
	memory map[string]oauth.Store
}

// Owner is whose login it is, and where.
type Owner struct {
	Backend   string `json:"backend"`
	URL       string `json:"url"`
	Principal string `json:"principal"`
}

// Entry is a login that is kept.
type Entry struct {
	Owner

	Since time.Time `json:"since"`
}

// NewVault returns a Vault in a folder, or in memory if dir is "".
func NewVault(dir string, seal *Seal, logger *slog.Logger) *Vault {
	return &Vault{dir: dir, seal: seal, logger: logger, memory: map[string]oauth.Store{}}
}

const (
	prefixUser   = "user-"
	prefixServer = "server-"
	aboutKey     = "about"
)

// folder is the name of an owner's folder.
func (o *Owner) folder(prefix string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", o.Backend, o.URL, o.Principal))
	return prefix + hex.EncodeToString(sum[:16])
}

// origin is what users are told of where the server is.
func (o *Owner) origin() string {
	u, err := url.Parse(o.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

func (v *Vault) files(folder string) (oauth.Store, error) {
	if v.dir != "" {
		return oauth.NewFileStore(filepath.Join(v.dir, folder))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.memory[folder] == nil {
		v.memory[folder] = oauth.NewMemoryStore()
	}
	return v.memory[folder], nil
}

// Store returns where the tokens of an owner are kept. How the gateway is registered with
// authorization servers is kept for all users of a server.
func (v *Vault) Store(o Owner) (oauth.Store, error) {
	own, err := v.drawer(o.folder(prefixUser))
	if err != nil {
		return nil, err
	}
	o.Principal = ""
	shared, err := v.drawer(o.folder(prefixServer))
	if err != nil {
		return nil, err
	}
	return &split{own, shared}, nil
}

func (v *Vault) drawer(folder string) (*drawer, error) {
	files, err := v.files(folder)
	if err != nil {
		return nil, err
	}
	return &drawer{files, v.seal, folder, v.logger}, nil
}

// Remember notes whose login there is, so that it can be listed.
func (v *Vault) Remember(ctx context.Context, o Owner) error {
	folder := o.folder(prefixUser)
	d, err := v.drawer(folder)
	if err != nil {
		return err
	}
	doc, err := wire.Marshal(&Entry{o, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	return d.Update(ctx, aboutKey, func(context.Context, []byte) ([]byte, error) { return doc, nil })
}

// Forget forgets whose login there was.
func (v *Vault) Forget(ctx context.Context, o Owner) error {
	d, err := v.drawer(o.folder(prefixUser))
	if err != nil {
		return err
	}
	return d.Update(ctx, aboutKey, func(context.Context, []byte) ([]byte, error) { return nil, nil })
}

// List returns the logins that are kept, and how many there are that cannot be read.
func (v *Vault) List(ctx context.Context) (all []Entry, unreadable int, err error) {
	folders, err := v.folders()
	for _, folder := range folders {
		switch e, readable := v.entry(ctx, folder); {
		case !readable:
			unreadable++
		case e != nil:
			all = append(all, *e)
		}
	}
	return all, unreadable, err
}

// ForgetUnreadable removes the logins that cannot be read, and returns how many they were.
// They cannot be revoked: nobody knows their tokens any more.
func (v *Vault) ForgetUnreadable(ctx context.Context) (n int, err error) {
	folders, err := v.folders()
	for _, folder := range folders {
		if _, readable := v.entry(ctx, folder); readable {
			continue
		}
		if v.dir == "" {
			v.mu.Lock()
			delete(v.memory, folder)
			v.mu.Unlock()
		} else if err := os.RemoveAll(filepath.Join(v.dir, folder)); err != nil {
			return n, err
		}
		n++
	}
	return n, err
}

// entry returns what a folder says of its login, or nil if that was forgotten, and whether
// it can be read.
func (v *Vault) entry(ctx context.Context, folder string) (e *Entry, readable bool) {
	d, err := v.drawer(folder)
	if err != nil {
		return nil, false
	}
	doc, err := d.Load(ctx, aboutKey)
	if err == nil && doc == nil {
		return nil, true
	}
	e = new(Entry)
	if err != nil || wire.Unmarshal(doc, e) != nil || e.folder(prefixUser) != folder {
		return nil, false
	}
	return e, true
}

// folders are those of users.
func (v *Vault) folders() (names []string, err error) {
	if v.dir == "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		for name := range v.memory {
			names = append(names, name)
		}
	} else {
		entries, failed := os.ReadDir(v.dir)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = failed
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	users := names[:0]
	for _, name := range names {
		if strings.HasPrefix(name, prefixUser) {
			users = append(users, name)
		}
	}
	return users, err
}

// drawer is a folder whose documents are encrypted, each bound to its place.
type drawer struct {
	files  oauth.Store
	seal   *Seal
	folder string
	logger *slog.Logger
}

var _ oauth.Store = (*drawer)(nil)

func (d *drawer) place(key string) string {
	return fmt.Sprintf("parley gateway login %q %q", d.folder, key)
}

// Load implements oauth.Store.
func (d *drawer) Load(ctx context.Context, key string) ([]byte, error) {
	doc, err := d.files.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	return d.seal.open(d.place(key), doc)
}

// Update implements oauth.Store. A document that cannot be decrypted is none, so that
// another can take its place.
func (d *drawer) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	return d.files.Update(ctx, key, func(ctx context.Context, doc []byte) ([]byte, error) {
		value, err := d.seal.open(d.place(key), doc)
		if err != nil {
			d.logger.WarnContext(ctx, "a stored login is of no use", "folder", d.folder, "error", err)
			value = nil
		}
		if value, err = change(ctx, value); err != nil || value == nil {
			return nil, err
		}
		return d.seal.close(d.place(key), value)
	})
}

// split keeps how the gateway is registered with authorization servers elsewhere than the
// tokens that it has there.
type split struct{ tokens, registrations oauth.Store }

func (s *split) of(key string) oauth.Store {
	if strings.HasPrefix(key, oauth.RegistrationKeyPrefix) {
		return s.registrations
	}
	return s.tokens
}

// Load implements oauth.Store.
func (s *split) Load(ctx context.Context, key string) ([]byte, error) {
	return s.of(key).Load(ctx, key)
}

// Update implements oauth.Store.
func (s *split) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	return s.of(key).Update(ctx, key, change)
}
