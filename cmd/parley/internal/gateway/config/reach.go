package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

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
	for _, s := range b.env {
		t.Env = append(t.Env, s.name+"="+e.text(s.value))
	}
	if len(b.headers) > 0 {
		t.Header = http.Header{}
	}
	for _, s := range b.headers {
		t.Header.Set(s.name, e.header(s.value))
	}
	if t.URL != "" && !isURL.check(t.URL) {
		e.fail(b.url, "what it stands for is not %s", isURL.is)
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

func (e *revealer) fail(t Text, format string, args ...any) {
	e.mistakes = append(e.mistakes, t.fault(fmt.Errorf(format, args...)))
}

func (e *revealer) text(t Text) string {
	s, err := t.reveal()
	switch {
	case err != nil:
		e.mistakes = append(e.mistakes, err)
	case strings.ContainsRune(s, 0):
		e.fail(t, "what it stands for has a character that is zero")
	}
	return s
}

// header reveals the value of a header.
func (e *revealer) header(t Text) string {
	s := e.text(t)
	if strings.ContainsAny(s, "\r\n") {
		e.fail(t, "what it stands for has more than one line, and cannot be a header")
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

// Same identifies how the server is reached and how it lives: if it is the same in
// another configuration, nothing has to be restarted. What references stood for when the
// file was read counts. It tells nothing about secrets that are hard to guess.
func (b *Backend) Same() string { return b.same }

// probe looks how the server is reached now.
func (b *Backend) probe() error {
	t, err := b.Target()
	hash := sha256.New()
	part := func(name string, values ...string) { fmt.Fprintf(hash, "%s %q\n", name, values) }
	part("url", t.URL)
	part("command", t.Command...)
	slices.Sort(t.Env)
	part("env", t.Env...)
	part("cwd", t.Dir)
	part("revision", t.Revision.String())
	for _, name := range slices.Sorted(maps.Keys(t.Header)) {
		part(name, t.Header[name]...)
	}
	if err != nil {
		part("error", err.Error())
	}
	fmt.Fprintln(hash, b.Share, b.MaxConnections, b.Idle, b.AtOnce, b.Timeout, b.Login)
	b.same = hex.EncodeToString(hash.Sum(nil))
	return err
}
