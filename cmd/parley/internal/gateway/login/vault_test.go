package login_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/mcptest"
)

var (
	oneKey   = bytes.Repeat([]byte{1}, 32)
	otherKey = bytes.Repeat([]byte{2}, 32)
	ada      = login.Owner{Backend: "shop", URL: "https://shop.example/mcp", Principal: "https://i.example user ada"}
	bob      = login.Owner{Backend: "shop", URL: "https://shop.example/mcp", Principal: "https://i.example user bob"}
)

func vault(t *testing.T, dir string, keys ...[]byte) *login.Vault {
	t.Helper()
	seal, err := login.NewSeal(keys[0], keys[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return login.NewVault(dir, seal, mcptest.Quiet())
}

// put keeps a document.
func put(t *testing.T, v *login.Vault, o login.Owner, key, doc string) {
	t.Helper()
	s, err := v.Store(o)
	if err == nil {
		err = s.Update(t.Context(), key, func(context.Context, []byte) ([]byte, error) { return []byte(doc), nil })
	}
	if err == nil {
		err = v.Remember(t.Context(), o)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// get returns a document, or why there is none.
func get(t *testing.T, v *login.Vault, o login.Owner, key string) string {
	t.Helper()
	s, err := v.Store(o)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := s.Load(t.Context(), key)
	if err != nil {
		return err.Error()
	}
	return string(doc)
}

// What is kept cannot be read without the key, and not in the place of anything else.
func TestVault(t *testing.T) {
	dir := t.TempDir()
	v := vault(t, dir, oneKey)
	put(t, v, ada, "token", `{"of":"ada"}`)
	put(t, v, bob, "token", `{"of":"bob"}`)
	put(t, v, ada, "client https://i.example", `{"client":"ours"}`)
	if got := get(t, v, ada, "token"); got != `{"of":"ada"}` {
		t.Errorf("got %s", got)
	}
	if got := get(t, v, bob, "client https://i.example"); got != `{"client":"ours"}` {
		t.Errorf("what all users have together: %s", got)
	}
	another := ada
	another.Backend = "store"
	if got := get(t, v, another, "token"); got != "" {
		t.Errorf("at another server: %s", got)
	}
	files := documents(t, dir)
	for path, text := range files {
		if strings.Contains(text, "ada") || strings.Contains(text, "ours") || strings.Contains(path, "ada") {
			t.Errorf("%s can be read: %s", path, text)
		}
	}
	if got := get(t, vault(t, dir, otherKey), ada, "token"); !strings.Contains(got, "cannot be decrypted") {
		t.Errorf("with another key: %s", got)
	}
	if got := get(t, vault(t, dir, otherKey, oneKey), ada, "token"); got != `{"of":"ada"}` {
		t.Errorf("with an old key: %s", got)
	}
	all, unreadable, err := v.List(t.Context())
	if err != nil || len(all) != 2 || unreadable != 0 {
		t.Errorf("%+v, %d, %v", all, unreadable, err)
	}
	swapFolders(t, dir)
	for _, o := range []login.Owner{ada, bob} {
		if got := get(t, v, o, "token"); !strings.Contains(got, "cannot be decrypted") {
			t.Errorf("in another's place: %s", got)
		}
	}
	if all, unreadable, err := v.List(t.Context()); len(all) != 0 || unreadable != 2 || err != nil {
		t.Errorf("in another's place: %+v, %d, %v", all, unreadable, err)
	}
	put(t, v, ada, "token", `{"of":"ada, again"}`) // what is of no use is replaced
	if got := get(t, v, ada, "token"); got != `{"of":"ada, again"}` {
		t.Errorf("got %s", got)
	}
}

// Whatever is renewed is encrypted with the new key.
func TestVaultRotates(t *testing.T) {
	dir := t.TempDir()
	put(t, vault(t, dir, oneKey), ada, "token", `1`)
	put(t, vault(t, dir, otherKey, oneKey), ada, "token", `2`)
	if got := get(t, vault(t, dir, otherKey), ada, "token"); got != `2` {
		t.Errorf("got %s", got)
	}
	if err := vault(t, dir, otherKey).Forget(t.Context(), ada); err != nil {
		t.Error(err)
	}
	if all, _, err := vault(t, dir, otherKey).List(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// A document that was changed in any place is none.
func TestVaultTampered(t *testing.T) {
	dir := t.TempDir()
	v := vault(t, dir, oneKey)
	put(t, v, ada, "token", `{"of":"ada"}`)
	for path, text := range documents(t, dir) {
		for i := range text {
			changed := []byte(text)
			changed[i] ^= 1
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := get(t, v, ada, "token"); got != `{"of":"ada"}` && !strings.Contains(got, "cannot be decrypted") && got != "" {
				t.Fatalf("changed at %d: %s", i, got)
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParseKey(t *testing.T) {
	for text, good := range map[string]bool{
		base64.StdEncoding.EncodeToString(oneKey) + "\n": true, base64.RawURLEncoding.EncodeToString(oneKey): true, strings.Repeat("01", 32): true,
		"": false, "a passphrase": false, base64.StdEncoding.EncodeToString(oneKey[:16]): false,
	} {
		if key, err := login.ParseKey(text); (err == nil) != good || good && !bytes.Equal(key, oneKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// documents are the files of a vault.
func documents(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	all := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	return all
}

// swapFolders gives each of two users what the other has.
func swapFolders(t *testing.T, dir string) {
	t.Helper()
	users, err := filepath.Glob(filepath.Join(dir, "user-*"))
	if err != nil || len(users) < 2 {
		t.Fatal(users, err)
	}
	var with []string
	for _, u := range users {
		if found, _ := filepath.Glob(filepath.Join(u, "*.json")); len(found) > 0 {
			with = append(with, u)
		}
	}
	for _, move := range [][2]string{{with[0], with[0] + "x"}, {with[1], with[0]}, {with[0] + "x", with[1]}} {
		if err := os.Rename(move[0], move[1]); err != nil {
			t.Fatal(err)
		}
	}
}

// What cannot be read can be removed, and nothing else goes with it.
func TestForgetUnreadable(t *testing.T) {
	dir := t.TempDir()
	put(t, vault(t, dir, otherKey), ada, "token", `{"of":"ada"}`)
	v := vault(t, dir, oneKey)
	put(t, v, bob, "token", `{"of":"bob"}`)
	if all, unreadable, err := v.List(t.Context()); err != nil || len(all) != 1 || unreadable != 1 {
		t.Errorf("%v, %d unreadable, %v", all, unreadable, err)
	}
	for _, want := range []int{1, 0} {
		if n, err := v.ForgetUnreadable(t.Context()); err != nil || n != want {
			t.Errorf("%d removed, want %d; %v", n, want, err)
		}
	}
	if all, unreadable, err := v.List(t.Context()); err != nil || len(all) != 1 || unreadable != 0 {
		t.Errorf("afterwards %v, %d unreadable, %v", all, unreadable, err)
	}
	if got := get(t, v, bob, "token"); got != `{"of":"bob"}` {
		t.Errorf("what could be read is now %q", got)
	}
	if got := get(t, vault(t, dir, otherKey), ada, "token"); got != "" {
		t.Errorf("what could not be read is still there: %q", got)
	}
}
