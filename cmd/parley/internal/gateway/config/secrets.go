package config

import (
	"net/url"
	"slices"
	"strings"
)

// Secrets returns what the configuration keeps to itself, as it is at this moment: values of
// variables, headers and tokens, those of programs at authorization servers, keys, and what
// is secret in URLs. What cannot be looked up is not among them: nothing can be reached with
// it either.
func (c *Config) Secrets() []string {
	all := revealed(c.Auth.Bearer)
	for _, b := range c.Backends {
		all = append(all, b.secrets()...)
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

// secrets are those that the server is reached with.
func (b *Backend) secrets() []string {
	all := revealed(b.accountTexts()...)
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
	return append(all, inURL(t.URL)...)
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

// inURL returns the password and the parameters of a URL.
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
	return all
}
