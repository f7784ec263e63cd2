package card

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/mcp"
)

var (
	nameForm = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	// rangeForm finds what makes a version a range: an operator, two versions, or a
	// wildcard, which does not stand behind the dash of a semantic version.
	rangeForm = regexp.MustCompile(`(?:^|\s)[\^~<>=]|\|\||\s-\s|^(?:[^-+]*\.)?[xX*](?:[.+-]|$)`)
	// dateForm is what the names of revisions look like.
	dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	// placeholder is a name in curly braces.
	placeholder = regexp.MustCompile(`\{([a-zA-Z_][a-zA-Z0-9_]*)\}`)
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// card checks what the schema does not express.
func (f *findings) card(c *Card) {
	if rangeForm.MatchString(c.Version) {
		f.add("version", "%.100q is a range; a card has the one version that the server has", c.Version)
	}
	f.page("websiteUrl", c.WebsiteURL)
	if c.Repository != nil {
		f.repository(c.Repository)
	}
	for i := range c.Icons {
		if err := content.Icons(c.Icons[i : i+1]); err != nil {
			f.add(fmt.Sprintf("icons[%d]", i), "%s", strings.TrimPrefix(err.Error(), "icons[0]: "))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Meta)) {
		if err := content.Key(key, content.Extensions{key: nil}); err != nil {
			f.add("_meta", "%v", err)
		} else if err := content.Key(key, nil); err != nil {
			f.advise("_meta", "%v", err) // it may be one of an official extension
		}
	}
	if len(c.Remotes) == 0 {
		f.advise("remotes", "the card names no endpoint, so that nobody can connect")
	}
	for i := range c.Remotes {
		f.remote(fmt.Sprintf("remotes[%d]", i), &c.Remotes[i])
	}
}

// page checks the URL of a page that people open, if there is one.
func (f *findings) page(where, text string) {
	if text == "" {
		return
	}
	if err := content.URI(text); err != nil {
		f.add(where, "%v", err)
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		f.add(where, "%v", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		f.add(where, "%.200q is no http or https URL with a host", text)
	case u.User != nil:
		f.add(where, "the URL holds a user name, which everybody could read")
	}
}

func (f *findings) repository(r *Repository) {
	if err := content.URI(r.URL); err != nil && r.URL != "" {
		f.add("repository.url", "%v", err)
	}
	if u, err := url.Parse(r.URL); err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret || u.Scheme != "ssh" {
			f.add("repository.url", "the URL holds a user name, which everybody could read")
		}
	}
	if s := r.Subfolder; s != "" && (path.IsAbs(s) || path.Clean(s) != s || s == ".." || strings.HasPrefix(s, "../") || strings.Contains(s, `\`)) {
		f.add("repository.subfolder", "%.200q is no clean relative path, such as %q", s, "servers/weather")
	}
}

func (f *findings) remote(where string, r *Remote) {
	f.endpoint(where+".url", r)
	f.placeholders(where+".url", r.URL, where+".variables", r.Variables)
	seen := map[string]bool{}
	for i := range r.Headers {
		h, at := &r.Headers[i], fmt.Sprintf("%s.headers[%d]", where, i)
		if name := strings.ToLower(h.Name); seen[name] {
			f.advise(at+".name", "the header %.100q is there twice", h.Name)
		} else {
			seen[name] = true
		}
		f.header(at, h)
	}
	if r.SupportedProtocolVersions != nil && len(r.SupportedProtocolVersions) == 0 {
		f.advise(where+".supportedProtocolVersions", "the list is empty: no client has a revision in common with it; leave it out if it is not known")
	}
	for i, v := range r.SupportedProtocolVersions {
		if _, known := mcp.ParseRevision(v); !known && !dateForm.MatchString(v) {
			f.advise(fmt.Sprintf("%s.supportedProtocolVersions[%d]", where, i), "%.100q is no revision of the protocol; those have names such as %q", v, mcp.Revisions()[0])
		}
	}
}

// endpoint checks where a remote is, as far as its URL is fixed.
//
// Spec: extensions/server-card docs/discovery#information-disclosure.
// Spec: extensions/server-card docs/discovery#transport-security.
func (f *findings) endpoint(where string, r *Remote) {
	u, err := url.Parse(placeholder.ReplaceAllString(r.URL, "x"))
	switch {
	case strings.HasPrefix(r.URL, "{"): // nobody knows
	case err != nil:
		f.add(where, "%.200q is no URL", r.URL)
	case u.User != nil:
		f.add(where, "the URL holds a user name, which everybody could read; describe a header for credentials in headers")
	case u.Hostname() == "":
		f.add(where, "%.200q has no host", r.URL)
	case private(u.Hostname()):
		f.advise(where, "%.100q is reached from one machine or network only; a card for the public must not name it", u.Hostname())
	case u.Scheme != "https":
		f.advise(where, "what goes to the endpoint can be read on its way; serve it over https")
	}
}

// private reports whether a host is one that only some machines reach.
func private(host string) bool {
	ip, err := netip.ParseAddr(host)
	return loopback.Is(host) || err == nil && (ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()) ||
		err != nil && (!strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal"))
}

// placeholders checks that a text and its variables fit together.
func (f *findings) placeholders(where, text, variables string, described map[string]Input) {
	used := map[string]bool{}
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
		if _, ok := described[m[1]]; !ok {
			f.add(where, "the placeholder {%.100s} has no description in variables, so that nobody knows what to put there", m[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(described)) {
		in, at := described[name], variables+"."+name
		if !used[name] {
			f.advise(at, "nothing refers to this variable")
		}
		f.input(at, &in)
		if in.Secret && in.Value != "" {
			f.secret(at + ".value")
		}
	}
}

func (f *findings) header(where string, h *Header) {
	switch {
	case !headerName.MatchString(h.Name):
		f.add(where+".name", "%.100q is no name of a header", h.Name)
	case ofClients(h.Name):
		f.advise(where+".name", "clients set the header %.100q themselves, and do not connect where a card does; leave it out", h.Name)
	}
	if strings.ContainsAny(h.Value+h.Default, "\r\n\x00") {
		f.add(where, "the value of a header has no line breaks")
	}
	f.placeholders(where+".value", h.Value, where+".variables", h.Variables)
	f.input(where, &h.Input)
	if (h.Secret || holdsCredentials(h.Name)) && h.Value != "" && !placeholder.MatchString(h.Value) {
		f.secret(where + ".value")
	} else if holdsCredentials(h.Name) && h.Default != "" && !h.Secret {
		f.secret(where + ".default")
	}
}

// holdsCredentials reports whether a header exists for credentials.
func holdsCredentials(name string) bool {
	return slices.Contains([]string{"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"}, strings.ToLower(name))
}

// secret reports a credential in a public document.
//
// Spec: extensions/server-card docs/discovery#information-disclosure.
func (f *findings) secret(where string) {
	f.add(where, "this is a secret, and everybody can read a card: leave it out, and let users supply it")
}

func (f *findings) input(where string, in *Input) {
	if in.Secret && in.Default != "" {
		f.secret(where + ".default")
	}
	for _, v := range []struct{ member, text string }{{"default", in.Default}, {"value", in.Value}} {
		switch {
		case v.text == "" || placeholder.MatchString(v.text):
		case !in.chosen(v.text):
			f.advise(where+"."+v.member, "%.100q is none of the choices", v.text)
		case !in.formed(v.text):
			f.advise(where+"."+v.member, "%.100q is no %s", v.text, in.Format)
		}
	}
}

// chosen reports whether a value is among the choices, if there are any.
func (in *Input) chosen(value string) bool {
	return len(in.Choices) == 0 || slices.Contains(in.Choices, value)
}

// formed reports whether a value is of the format.
func (in *Input) formed(value string) bool {
	switch in.Format {
	case "number":
		_, err := strconv.ParseFloat(value, 64)
		return err == nil
	case "boolean":
		return value == "true" || value == "false"
	}
	return true
}
