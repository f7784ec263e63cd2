package cli

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/zalando/go-keyring"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/wire"
)

// Where the vault's key is in the keyring of the operating system.
const (
	keyringService = "parley"
	keyringUser    = "credentials"
)

// The environment variables about credentials.
const (
	storeVariable   = "PARLEY_CREDENTIALS"
	keyringVariable = "PARLEY_KEYRING"
)

// vault is where credentials are kept from one run to the next: in files of the
// user, encrypted with a key in the keyring of the operating system where there
// is one. Keyrings themselves take only short texts. The keyring is opened only
// when something is to be read or written, because the system may ask the user
// for permission.
type vault struct {
	files oauth.Store
	dir   string
	// sealer encrypts; it is nil where there is no keyring.
	sealer func() (cipher.AEAD, error)
}

var _ oauth.Store = (*vault)(nil)

// where tells the user where credentials are kept.
func (v *vault) where() string {
	if sealer, err := v.sealer(); err == nil && sealer != nil {
		return v.dir + ", encrypted with a key in the keyring"
	}
	return v.dir + ", readable for you only; there is no keyring to encrypt it with"
}

func (a *app) vault(ctx context.Context) (*vault, error) {
	dir, ok := a.io.LookupEnv(storeVariable)
	if !ok || dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return nil, usagef("there is no place for credentials: %v; name a folder in %s", err, storeVariable)
		}
		dir = filepath.Join(config, "parley", "credentials")
	}
	files, err := oauth.NewFileStore(dir)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return &vault{files, dir, sync.OnceValues(func() (cipher.AEAD, error) { return a.sealer(ctx, files) })}, nil
}

func (a *app) sealer(ctx context.Context, files oauth.Store) (cipher.AEAD, error) {
	if !a.hasKeyring() {
		return nil, nil //nolint:nilnil // there is none, and that is fine
	}
	key, err := keyringKey(ctx, files)
	if err != nil {
		return nil, &failure{code: codeFailed, err: fmt.Errorf("the keyring: %w", err), hint: keyringVariable + "=off does without"}
	}
	return newSealer(key)
}

// hasKeyring reports whether there may be a keyring. Where keyrings are reached
// over D-Bus, looking for one without the address of a session bus would start
// a bus.
func (a *app) hasKeyring() bool {
	if wish, _ := a.io.LookupEnv(keyringVariable); wish == "off" {
		return false
	}
	switch runtime.GOOS {
	case "windows", "darwin":
		return true
	}
	address, _ := a.io.LookupEnv("DBUS_SESSION_BUS_ADDRESS")
	if address == "" {
		return false
	}
	_, err := keyring.Get(keyringService, keyringUser)
	return err == nil || errors.Is(err, keyring.ErrNotFound)
}

// keyringKey returns the vault's key, and makes one if there is none. Only one
// process at a time makes it: if another replaced the key, what was encrypted
// with it would be lost.
func keyringKey(ctx context.Context, files oauth.Store) ([]byte, error) {
	text, err := keyring.Get(keyringService, keyringUser)
	if errors.Is(err, keyring.ErrNotFound) {
		err = files.Update(ctx, "key", func(_ context.Context, value []byte) ([]byte, error) {
			var err error
			if text, err = keyring.Get(keyringService, keyringUser); errors.Is(err, keyring.ErrNotFound) {
				text, err = newKey()
			}
			return value, err
		})
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}

// newKey makes a key and puts it into the keyring.
func newKey() (string, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	text := base64.StdEncoding.EncodeToString(key)
	return text, keyring.Set(keyringService, keyringUser, text)
}

func newSealer(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, errors.New("the key of the credentials in the keyring is damaged")
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Load implements oauth.Store.
func (v *vault) Load(ctx context.Context, key string) ([]byte, error) {
	doc, err := v.files.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	return v.open(key, doc)
}

// Update implements oauth.Store.
func (v *vault) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	return v.files.Update(ctx, key, func(ctx context.Context, doc []byte) ([]byte, error) {
		value, err := v.open(key, doc)
		if err != nil {
			return nil, err
		}
		if value, err = change(ctx, value); err != nil || value == nil {
			return nil, err
		}
		return v.seal(key, value)
	})
}

// seal encrypts a document, bound to its key. The result is a JSON string.
func (v *vault) seal(key string, value []byte) ([]byte, error) {
	sealer, err := v.sealer()
	if err != nil || sealer == nil {
		return value, err
	}
	return wire.Marshal(sealer.Seal(nil, nil, value, []byte(key))) //nolint:gosec // this AEAD makes its nonces itself
}

// open decrypts a document. One from before there was a keyring is not
// encrypted, until it is next written.
func (v *vault) open(key string, doc []byte) ([]byte, error) {
	if len(doc) == 0 || doc[0] != '"' {
		return doc, nil
	}
	sealer, err := v.sealer()
	if err != nil {
		return nil, err
	}
	if sealer == nil {
		return nil, fmt.Errorf("the credentials in %s are encrypted, and their key is in a keyring that is not there now; %s names another folder", v.dir, storeVariable)
	}
	var box []byte
	if err := wire.Unmarshal(doc, &box); err != nil {
		return nil, fmt.Errorf("a credential in %s is damaged", v.dir)
	}
	value, err := sealer.Open(nil, nil, box, []byte(key))
	if err != nil {
		return nil, fmt.Errorf("a credential in %s cannot be decrypted with the key in the keyring; remove the folder and log in again", v.dir)
	}
	return value, nil
}
