package inspect

import (
	"maps"
	"net/http"
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
		s.Kind, s.URL = "url", target.MaskURL(w.URL)
	} else {
		s.Command = target.MaskArgs(w.Command)
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
	secrets := make([]string, 0, len(w.Env))
	for _, v := range w.Env {
		if name, value, _ := strings.Cut(v, "="); target.SecretName(name) {
			secrets = append(secrets, value)
		}
	}
	return redact.New(w.Header.Clone(), secrets...)
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
