package inspect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// form is what somebody fills in to be connected: exactly one of URL, Command, Args and
// Entry says to what.
type form struct {
	Title string `json:"title"`
	// URL is that of a server.
	URL string `json:"url"`
	// Command is a command line, read as a shell reads it, and Args the same in words.
	Command string   `json:"command"`
	Args    []string `json:"args"`
	// Entry is one of a configuration file, and Inputs are values for what the file leaves
	// to the user.
	Entry  *shownEntry   `json:"entry"`
	Inputs []namedSecret `json:"inputs"`
	// Env are added to the environment of a command, Headers to the requests to a URL.
	Env     []namedSecret `json:"env"`
	Headers []namedSecret `json:"headers"`
	// Dir is the folder that a command runs in.
	Dir string `json:"dir"`
	// Transport is "auto", "http" or "sse", and Revision "auto" or one to speak.
	Transport string `json:"transport"`
	Revision  string `json:"revision"`
	// Login says as which client to log in.
	Login *shownClient `json:"login"`
	// Like is a connection whose secrets to take where a value is masked. A form that names
	// no server means the server of that connection.
	Like string `json:"like"`
}

// wish returns what a form says. like is the connection that the form was filled in from,
// or nil. Errors are *web.Error and name the field.
func (s *Server) wish(ctx context.Context, f *form) (*wish, error) {
	w := &wish{name: strings.TrimSpace(f.Title)}
	var like *wish
	if c := s.byID(f.Like); c != nil {
		like = c.wished()
	}
	for _, read := range []func() error{
		func() error { return s.readTarget(ctx, w, f, like) },
		func() error { return w.readEnv(f.Env, like) },
		func() error { return w.readHeaders(f.Headers, like) },
		func() error { return w.readHow(f) },
		func() error { return w.readLogin(f.Login, like) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// wished returns what the connection is to.
func (c *Connection) wished() *wish {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wish
}

// wrong is an error about a field.
func wrong(field, hint, format string, args ...any) error {
	e := web.Errorf(http.StatusBadRequest, "bad_target", format, args...)
	e.Field, e.Hint = field, hint
	return e
}

// readTarget reads to what to connect.
func (s *Server) readTarget(ctx context.Context, w *wish, f *form, like *wish) error {
	if like != nil {
		w.Secrets = slices.Clone(like.Secrets)
	}
	given := 0
	for _, is := range []bool{f.URL != "", f.Command != "", len(f.Args) > 0, f.Entry != nil} {
		if is {
			given++
		}
	}
	switch {
	case given == 0 && like != nil:
		w.Target, w.as, w.scopes = like.Target, like.as, like.scopes
		w.Env = slices.Clone(like.Env)
		return nil
	case given == 0:
		return wrong("url", "a URL begins with http:// or https://; a command is what starts the server", "say which server: its URL, the command that starts it, or one of a configuration file")
	case given > 1:
		return wrong("url", "leave one of them empty", "there is more than one server in the form")
	case f.Entry != nil:
		return s.readEntry(ctx, w, f.Entry, f.Inputs)
	case len(f.Inputs) > 0:
		return wrong("inputs", "leave them out", "inputs are for a server of a configuration file")
	case f.URL != "":
		return w.readURL(strings.TrimSpace(f.URL), like)
	default:
		return w.readCommand(f, like)
	}
}

// readCommand reads a command, which a form has as a line or in words.
func (w *wish) readCommand(f *form, like *wish) error {
	field, words := "args", f.Args
	if len(words) == 0 {
		var err error
		field = "command"
		if words, err = shellwords.Of(strings.TrimSpace(f.Command)); err != nil || len(words) == 0 {
			return wrong(field, "quote what has blanks in it", "this is no command: %v", err)
		}
	}
	w.Command = unmaskedArgs(words, like)
	if masks := masksOf(w.Command); len(masks) > 0 {
		return unknownMask(field, masks[0])
	}
	w.Dir = strings.TrimSpace(f.Dir)
	return nil
}

// unmaskedArgs puts the words that were masked back, if the command is that of like.
func unmaskedArgs(words []string, like *wish) []string {
	if like == nil || len(words) != len(like.Command) {
		return words
	}
	shown := like.MaskedCommand()
	for i, word := range words {
		if word == shown[i] {
			words[i] = like.Command[i]
		}
	}
	return words
}

func (s *Server) readEntry(ctx context.Context, w *wish, e *shownEntry, inputs []namedSecret) error {
	if s.opts.Resolve == nil {
		return wrong("entry", "", "there are no configuration files here")
	}
	given := map[string]string{}
	for _, in := range inputs {
		given[in.Name] = in.Value
	}
	t, err := s.opts.Resolve(ctx, e.File, e.Name, given)
	if in, ok := errors.AsType[*target.InputError](err); ok {
		return wrong("inputs."+in.ID, "the file leaves this value to you", "%s: %s", in.ID, in.Why)
	}
	if err != nil {
		return wrong("entry", "mend the file, or fill in the form instead", "%v", err)
	}
	w.Target = *t
	return nil
}

// readURL reads a URL. One with a user and a password is taken for what it says.
func (w *wish) readURL(s string, like *wish) error {
	if like != nil && s == like.MaskedURL() {
		s = like.URL
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return wrong("url", "", "this is no URL: %v", unwrapped(err))
	case !target.IsURL(s) || u.Host == "":
		return wrong("url", "it begins with http:// or https://, as https://example.com/mcp does", "this is no URL of a server")
	case u.Fragment != "":
		return wrong("url", "leave out what begins with #", "a server's URL has no fragment")
	case hasMask(u):
		return unknownMask("url", s)
	}
	w.URL = s
	return nil
}

func unwrapped(err error) error {
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // url.Parse returns it so
		return e.Err
	}
	return err
}

func (w *wish) readEnv(list []namedSecret, like *wish) error {
	for i, v := range list {
		field := fmt.Sprintf("env[%d]", i)
		value, err := unmaskedValue(field, v, like, (*wish).env)
		switch {
		case err != nil:
			return err
		case w.URL != "":
			return wrong(field, "a URL gets its secrets by headers", "variables are for a command")
		case v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.Contains(value, "\x00"):
			return wrong(field, "a name has no = in it", "%q cannot be the name of a variable", v.Name)
		}
		w.Env = append(w.Env, v.Name+"="+value)
	}
	return nil
}

func (w *wish) readHeaders(list []namedSecret, like *wish) error {
	if len(list) > 0 && w.Header == nil {
		w.Header = http.Header{}
	}
	w.Header = w.Header.Clone()
	for i, h := range list {
		field := fmt.Sprintf("headers[%d]", i)
		value, err := unmaskedValue(field, h, like, (*wish).header)
		switch {
		case err != nil:
			return err
		case w.URL == "":
			return wrong(field, "a command gets its secrets by variables", "headers are for a URL")
		case h.Name == "" || strings.ContainsFunc(h.Name, notInName):
			return wrong(field, "as in Authorization or X-Api-Key", "%q cannot be the name of a header", h.Name)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return wrong(field, "a line break cannot be in it", "the value of %s cannot be that of a header", h.Name)
		}
		w.Header.Set(h.Name, value)
	}
	return nil
}

// notInName reports whether a character cannot stand in the name of a header (RFC 9110,
// section 5.6.2).
func notInName(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// unmaskedValue returns a value, or the one that was kept where it is masked.
func unmaskedValue(field string, v namedSecret, like *wish, of func(*wish, string) (string, bool)) (string, error) {
	if v.Value != target.Hidden {
		return v.Value, nil
	}
	if like != nil {
		if value, ok := of(like, v.Name); ok {
			return value, nil
		}
	}
	return "", wrong(field, "type it again", "the value of %s is not known here any more", v.Name)
}

// readHow reads the transport and the revision.
func (w *wish) readHow(f *form) error {
	switch t := target.Over(f.Transport); t {
	case "", "auto":
	case target.OverHTTP, target.OverSSE:
		if w.URL == "" {
			return wrong("transport", "", "a command speaks over its standard input and output")
		}
		w.Over = t
	default:
		return wrong("transport", "there are auto, http and sse", "there is no transport %q", f.Transport)
	}
	if f.Revision == "" || f.Revision == "auto" {
		return nil
	}
	var ok bool
	if w.Revision, ok = mcp.ParseRevision(f.Revision); !ok {
		return wrong("revision", "the page lists the revisions", "%q is not a released revision", f.Revision)
	}
	return nil
}

// readLogin reads as which client to log in.
func (w *wish) readLogin(c *shownClient, like *wish) error {
	if c == nil {
		return nil
	}
	secret, err := unmaskedValue("login.secret", namedSecret{"the client's secret", c.Secret}, like, func(w *wish, _ string) (string, bool) {
		return w.as.SecretText, w.as.SecretText != ""
	})
	w.as = signin.Registration{Issuer: c.Issuer, ClientID: c.ID, SecretText: secret, MetadataURL: c.MetadataURL, DPoP: c.DPoP}
	w.scopes = c.Scopes
	switch {
	case err != nil:
		return err
	case w.as == (signin.Registration{}) && len(c.Scopes) == 0:
		return nil
	case w.URL == "":
		return wrong("login", "a command gets its secrets by variables", "there is no login for a command")
	case secret != "" && (c.ID == "" || c.Issuer == ""):
		return wrong("login.secret", "name both", "a secret needs the client's ID and its issuer, so that it goes to nobody else")
	}
	if _, err := oauth.New(w.as.Options(w.URL, "", oauth.NewMemoryStore(), nil)); err != nil {
		return wrong("login", "", "%v", err)
	}
	return nil
}
