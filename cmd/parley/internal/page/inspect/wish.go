package inspect

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/mcp"
)

// wish is what somebody wants to be connected to, with all its secrets.
type wish struct {
	target.Target
	// name is what to call it; "" is what the target says.
	name string
	// as is as which client to log in; the zero value is as whichever was remembered.
	as     signin.Registration
	scopes []string // to ask for at each login
}

// shownClient is as which client somebody logs in, as the API shows it and takes it.
type shownClient struct {
	ID          string   `json:"id,omitzero"`
	Secret      string   `json:"secret,omitzero"` // masked in what is shown
	MetadataURL string   `json:"metadataUrl,omitzero"`
	Issuer      string   `json:"issuer,omitzero"`
	DPoP        bool     `json:"dpop,omitzero"`
	Scopes      []string `json:"scopes,omitzero"`
}

// showClient returns what is shown of a registration.
func showClient(as *signin.Registration, scopes []string) *shownClient {
	if as == nil || *as == (signin.Registration{}) && len(scopes) == 0 {
		return nil
	}
	s := &shownClient{ID: as.ClientID, MetadataURL: as.MetadataURL, Issuer: as.Issuer, DPoP: as.DPoP, Scopes: scopes}
	if as.SecretText != "" {
		s.Secret = target.Hidden
	}
	return s
}

// namedSecret is a variable or a header. Values travel in one direction only: what comes
// back is masked.
type namedSecret struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// title returns what the connection is called in lists.
func (w *wish) title() string {
	switch {
	case w.name != "":
		return w.name
	case w.Entry != nil:
		return w.Entry.Name
	}
	return w.String()
}

// asked returns how somebody wanted to be connected.
func (w *wish) asked() shownAsked {
	a := shownAsked{Transport: string(w.Over), Revision: "auto"}
	if w.Over == target.OverAny {
		a.Transport = "auto"
	}
	if w.Revision != (mcp.Revision{}) {
		a.Revision = w.Revision.String()
	}
	return a
}

// shownTarget returns the target as the API shows it.
func (w *wish) shownTarget() shownTarget {
	s := shownTarget{Kind: "command", Text: w.String(), Dir: w.Dir, Login: showClient(&w.as, w.scopes)}
	if w.URL != "" {
		s.Kind, s.URL = "url", w.MaskedURL()
	} else {
		s.Command = w.MaskedCommand()
	}
	if w.Entry != nil {
		s.Entry = &shownEntry{w.Entry.Name, w.Entry.File.Path}
	}
	for _, v := range w.Env {
		name, _, _ := strings.Cut(v, "=")
		s.Env = append(s.Env, namedSecret{name, target.Hidden})
	}
	for _, name := range slices.Sorted(maps.Keys(w.Header)) {
		s.Headers = append(s.Headers, namedSecret{name, target.Hidden})
	}
	return s
}

// redactor takes the secrets of the target out of what is shown.
func (w *wish) redactor() *redact.Redactor {
	secrets := slices.Concat(w.Secrets, secretWords(w.Command), secretParts(w.URL))
	for _, v := range w.Env {
		if name, value, _ := strings.Cut(v, "="); target.SecretName(name) {
			secrets = append(secrets, value)
		}
	}
	if w.as.SecretText != "" {
		secrets = append(secrets, w.as.SecretText)
	}
	return redact.New(w.Header.Clone(), secrets...)
}

// secretWords are the words of a command that are masked, or their values.
func secretWords(words []string) []string {
	var secrets []string
	for i, shown := range target.MaskArgs(words) {
		if shown == words[i] {
			continue
		}
		if target.IsURL(words[i]) {
			secrets = append(secrets, secretParts(words[i])...)
			continue
		}
		name, value, has := strings.Cut(words[i], "=")
		if has && strings.HasPrefix(shown, name+"=") {
			secrets = append(secrets, value)
		} else {
			secrets = append(secrets, words[i])
		}
	}
	return secrets
}

// secretParts are the parts of a URL that are masked.
func secretParts(address string) []string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return nil
	}
	var secrets []string
	if password, has := u.User.Password(); has {
		secrets = append(secrets, password)
	} else if u.User != nil {
		secrets = append(secrets, u.User.Username())
	}
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	if masked, err := url.Parse(target.MaskURL(address)); err == nil {
		parts := strings.Split(u.Path, "/")
		for i, part := range strings.Split(masked.Path, "/") {
			if i < len(parts) && part != parts[i] {
				secrets = append(secrets, parts[i])
			}
		}
	}
	return secrets
}

// env returns the value of a variable.
func (w *wish) env(name string) (string, bool) {
	for _, v := range slices.Backward(w.Env) {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value, true
		}
	}
	return "", false
}

// header returns the value of a header.
func (w *wish) header(name string) (string, bool) {
	values := w.Header[http.CanonicalHeaderKey(name)]
	return strings.Join(values, ", "), len(values) > 0
}
