package config

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// Target returns how the server is reached, with all references replaced by what they
// stand for at this moment: secrets. A command is to be started with a clean environment;
// see target.Connection. An error says where in the file its reason is.
func (b *Backend) Target() (target.Target, error) {
	if b.entry != nil {
		return b.entry.Resolve(*b.outside)
	}
	var e revealer
	t := target.Target{URL: e.text(b.url), Dir: e.path(b.dir), Revision: b.revision}
	for _, word := range b.command {
		t.Command = append(t.Command, e.text(word))
	}
	for _, name := range b.inherit {
		if text, ok := b.outside.Lookup(name); ok {
			t.Env = append(t.Env, name+"="+text)
		}
	}
	t.Env = append(t.Env, e.variables(b.envFile)...)
	for _, s := range b.env {
		t.Env = append(t.Env, s.name+"="+e.text(s.value))
	}
	if len(b.headers) > 0 {
		t.Header = http.Header{}
	}
	for _, s := range b.headers {
		t.Header.Set(s.name, e.text(s.value))
	}
	if len(e.mistakes) > 0 {
		return target.Target{}, e.mistakes
	}
	return t, nil
}

// String says how the server is reached, without secrets.
func (b *Backend) String() string {
	switch {
	case b.entry != nil:
		s := b.entry.Summary()
		if s.URL != "" {
			return s.URL
		}
		return strings.Join(append([]string{s.Command}, s.Args...), " ")
	case !b.url.IsZero():
		return target.MaskURL(b.url.raw())
	}
	words := make([]string, 0, len(b.command))
	for _, w := range b.command {
		words = append(words, w.raw())
	}
	return strings.Join(target.MaskArgs(words), " ")
}

// revealer reveals texts, and collects what is wrong with them.
type revealer struct{ mistakes Mistakes }

func (e *revealer) text(t Text) string {
	s, err := t.reveal()
	if err != nil {
		e.mistakes = append(e.mistakes, err)
	}
	return s
}

// path reveals a path.
func (e *revealer) path(t Text) string {
	s := e.text(t)
	if s == "" {
		return ""
	}
	return t.path(s)
}

// variables reads those of a file.
func (e *revealer) variables(t Text) []string {
	path := e.path(t)
	if path == "" {
		return nil
	}
	list, err := target.ReadEnvFile(path)
	if err != nil {
		e.mistakes = append(e.mistakes, t.fault(err))
	}
	return list
}

// files returns the files that a server's secrets are in.
func (b *Backend) files() (paths []string) {
	if b.entry != nil {
		return b.entry.Files(*b.outside)
	}
	texts := append([]Text{b.url, b.dir, b.envFile}, b.command...)
	for _, s := range slices.Concat(b.env, b.headers) {
		texts = append(texts, s.value)
	}
	for _, t := range append(texts, b.accountTexts()...) {
		paths = append(paths, t.files()...)
	}
	if path, err := b.envFile.reveal(); err == nil && path != "" {
		paths = append(paths, b.envFile.path(path))
	}
	return paths
}

// Same identifies how the server is reached and how it lives: if it is the same in
// another configuration, nothing has to be restarted. What references stood for when the
// file was read counts. It means something in this process only, and tells no secrets.
func (b *Backend) Same() string { return b.same }

// probe looks how the server is reached now.
func (b *Backend) probe() error {
	t, err := b.Target()
	slices.Sort(t.Env)
	parts := []any{t.URL, t.Command, t.Env, t.Dir, t.Header, t.Revision.String(), b.Share, b.MaxConnections, b.Idle, b.AtOnce, b.ConnectTimeout, b.Timeout, b.parked}
	own, failed := b.accountParts()
	if err = errors.Join(err, failed); err != nil {
		parts = append(parts, err.Error())
	}
	b.same = digest(append(parts, own...)...)
	return errors.Join(err, b.line(&t))
}

// digest identifies values, of which nothing can be told from it: it is keyed for this
// process.
func digest(values ...any) string {
	hash := hmac.New(sha256.New, digestKey())
	for _, v := range values {
		fmt.Fprintf(hash, "%#v\n", v)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

var digestKey = sync.OnceValue(func() []byte { return []byte(rand.Text()) })
