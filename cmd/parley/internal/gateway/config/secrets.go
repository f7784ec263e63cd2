package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// Secrets returns what the configuration keeps to itself, as it is at this moment: values of
// variables, headers and tokens, those of programs at authorization servers, keys, and what
// is secret in URLs. What cannot be looked up is not among them: nothing can be reached with
// it either.
func (c *Config) Secrets() []string {
	all := revealed(c.Auth.Bearer)
	for _, b := range c.Backends {
		all = append(all, b.Secrets()...)
	}
	all = append(all, revealed(append([]Text{c.Logins.key}, c.Logins.old...)...)...)
	if c.Telemetry != nil {
		for _, h := range c.Telemetry.headers {
			all = append(all, ofHeader(revealed(h.value)...)...)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}

// Secrets returns what the server is reached with and nobody else is to know, as it is at
// this moment: also what references in its command and URL stand for, and what looks like a
// secret there.
func (b *Backend) Secrets() []string {
	all := revealed(b.accountTexts()...)
	for _, t := range append([]Text{b.url, b.dir, b.envFile}, b.command...) {
		all = append(all, t.referred()...)
	}
	t, err := b.Target()
	if err != nil {
		return all
	}
	for _, variable := range t.Env {
		_, value, _ := strings.Cut(variable, "=")
		all = append(all, value)
	}
	for _, values := range t.Header {
		all = append(all, ofHeader(values...)...)
	}
	return slices.Concat(all, t.Secrets, inURL(t.URL), inCommand(t.Command))
}

// revealed returns what texts stand for, without those that cannot be looked up.
func revealed(list ...Text) (all []string) {
	for _, t := range list {
		if s, err := t.Reveal(); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// ofHeader returns values of headers, and the tokens in those that name a scheme, such as
// Bearer.
func ofHeader(values ...string) (all []string) {
	for _, value := range values {
		all = append(all, value)
		if _, token, ok := strings.Cut(value, " "); ok {
			all = append(all, strings.TrimSpace(token))
		}
	}
	return all
}

// referred returns what the references of a text stand for.
func (t Text) referred() (all []string) {
	_ = t.parts(func(string) {}, func(ref string) error { // one that leads nowhere hides no other
		if text, err := t.lookUp(ref); err == nil {
			all = append(all, text)
		}
		return nil
	})
	return all
}

// inCommand returns what is hidden when a command line is shown.
func inCommand(words []string) (all []string) {
	for i, masked := range target.MaskArgs(words) {
		all = append(all, hiddenIn(words[i], masked))
	}
	return all
}

// hiddenIn returns the part of a text that is hidden in its masked form, or "".
func hiddenIn(text, masked string) string {
	before, rest, found := strings.Cut(masked, target.Hidden)
	after := rest
	if i := strings.LastIndex(rest, target.Hidden); i >= 0 {
		after = rest[i+len(target.Hidden):]
	}
	if !found || len(before)+len(after) > len(text) || !strings.HasPrefix(text, before) || !strings.HasSuffix(text, after) {
		return ""
	}
	return text[len(before) : len(text)-len(after)]
}

// inURL returns the password and the parameters of a URL, and what looks like a key in its
// path.
func inURL(text string) (all []string) {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	password, _ := u.User.Password()
	all = append(all, password)
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if target.MaskURL("/"+part) == "/"+target.Hidden {
			all = append(all, part)
		}
	}
	return all
}
