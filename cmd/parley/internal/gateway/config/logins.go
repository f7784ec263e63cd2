package config

import (
	"errors"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
)

// Logins says how logins of users are kept.
type Logins struct {
	dir, key Text
	old      []Text
}

func (l *Logins) keys() []key {
	isKey := rule{is: "a key of 32 random bytes in Base64 or hexadecimal", check: func(s string) bool {
		_, err := login.ParseKey(s)
		return err == nil
	}}
	return []key{
		{
			name: "dir", value: secret{&l.dir, notEmpty}, example: "/var/lib/parley/logins",
			doc: "The folder that they are in. The default is one of the user who runs the gateway. A relative one starts at the folder of this file.",
		},
		{
			name: "key", value: secret{&l.key, isKey}, example: `"${file:/run/secrets/logins.key}"`,
			doc: `What they are encrypted with: 32 random bytes in Base64, as "openssl rand -base64 32" writes them. The default is a key in the keyring of the operating system. Where there is none, logins end with the gateway.`,
		},
		{
			name: "old_keys", with: "key", value: list[Text]{&l.old, func(into *Text) value { return secret{into, isKey} }, 0}, example: `["${file:/run/secrets/logins.old.key}"]`,
			doc: "Keys from before, for what is still encrypted with them. Whenever a login is renewed, it is encrypted with key.",
		},
	}
}

// Dir returns the folder; "" if the file does not say.
func (l *Logins) Dir() (string, error) { return l.dir.Path() }

// Keys returns the keys, the one to encrypt with first; none if the file does not say.
func (l *Logins) Keys() (keys [][]byte, err error) {
	for _, t := range append([]Text{l.key}, l.old...) {
		text, failed := t.Reveal()
		if failed != nil || text == "" {
			err = errors.Join(err, failed)
			continue
		}
		key, failed := login.ParseKey(text)
		keys, err = append(keys, key), errors.Join(err, failed)
	}
	return keys, err
}

// files returns the files that keys are in.
func (l *Logins) files() (paths []string) {
	for _, t := range append([]Text{l.dir, l.key}, l.old...) {
		paths = append(paths, t.files()...)
	}
	return paths
}

// identity tells one from another, but for what is in files.
func (l *Logins) identity() string {
	all := []any{l.dir.raw(), l.key.raw()}
	for _, t := range l.old {
		all = append(all, t.raw())
	}
	return digest(all...)
}
