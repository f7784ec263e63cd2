package apps

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"mime"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/content"
)

// IsMIMEType reports whether text is MIMEType, however it is written, and with
// whichever further parameters.
func IsMIMEType(text string) bool {
	essence, parameters, err := mime.ParseMediaType(text)
	return err == nil && essence == "text/html" && strings.EqualFold(parameters["profile"], "mcp-app")
}

// Check returns why a server must not offer the app, or nil. Of the document, it only
// checks that it is text and says that it is HTML5.
//
// Spec: extensions/apps 2026-01-26 specification#content-requirements.
func (a *App) Check() error {
	if err := checkURI(a.URI); err != nil {
		return err
	}
	switch {
	case a.Name == "":
		return errors.New("it has no name")
	case a.HTML == "":
		return errors.New("it has no HTML")
	case !utf8.ValidString(a.HTML):
		return errors.New("its HTML is not UTF-8")
	case !html5.MatchString(a.HTML):
		return fmt.Errorf("its HTML begins with %.40q, not with %q", a.HTML, "<!doctype html>")
	}
	return a.UI.Check()
}

// html5 finds the beginning of a document that says it is HTML5: comments may stand before the
// doctype, and the string for old tools in it.
var html5 = regexp.MustCompile(`(?is)^\x{feff}?(?:\s|<!--.*?-->)*<!doctype\s+html(?:\s+system\s+(?:"about:legacy-compat"|'about:legacy-compat'))?\s*>`)

// checkURI returns why a URI cannot be that of an app, or nil.
func checkURI(uri string) error {
	if rest, ok := strings.CutPrefix(uri, Scheme); !ok || rest == "" {
		return fmt.Errorf("uri %.100q does not begin with %q and a name, as that of an app does", uri, Scheme)
	}
	return content.URI(uri)
}

// Check returns why a tool must not say this, or nil.
//
// Spec: extensions/apps 2026-01-26 specification#visibility.
func (u ToolUI) Check() error {
	if u.ResourceURI != "" {
		if err := checkURI(u.ResourceURI); err != nil {
			return fmt.Errorf("resourceUri: %w", err)
		}
	}
	if u.Visibility != nil && len(u.Visibility) == 0 {
		return fmt.Errorf("visibility is empty: nobody could call the tool; it holds %q, %q or both, or is left out", VisibleToModel, VisibleToApp)
	}
	for _, v := range u.Visibility {
		if v != VisibleToModel && v != VisibleToApp {
			return fmt.Errorf("visibility %.100q is neither %q nor %q", v, VisibleToModel, VisibleToApp)
		}
	}
	return nil
}

// Check returns why an app must not ask for this, or nil.
func (u ResourceUI) Check() error {
	for _, p := range u.Permissions {
		if !slices.Contains(known(), p) {
			return fmt.Errorf("permission %.100q is none of %q", p, known())
		}
	}
	if u.Domain != "" && !isHost(u.Domain) && !isOrigin(u.Domain, web()) {
		return fmt.Errorf("domain %.100q is not one, such as %q", u.Domain, "app.example.com")
	}
	if u.CSP == nil {
		return nil
	}
	for _, d := range u.CSP.directives() {
		for _, origin := range d.origins {
			if !isOrigin(origin, d.schemes) {
				return fmt.Errorf("csp.%s: %.100q is not an origin, such as %q or %q, with one of the schemes %q",
					d.member, origin, "https://example.com", "https://*.example.com:8443", d.schemes)
			}
		}
	}
	return nil
}

func known() []Permission { return []Permission{Camera, Microphone, Geolocation, ClipboardWrite} }

func web() []string     { return []string{"https", "http"} }
func sockets() []string { return []string{"https", "http", "wss", "ws"} }

// domains are the origins in one member of a CSP.
type domains struct {
	member  string
	origins []string
	schemes []string
}

func (c *CSP) directives() []domains {
	return []domains{
		{"connectDomains", c.ConnectDomains, sockets()},
		{"resourceDomains", c.ResourceDomains, web()},
		{"frameDomains", c.FrameDomains, web()},
		{"baseUriDomains", c.BaseURIDomains, web()},
	}
}

// isOrigin reports whether text is an origin, perhaps for all names below one, and so
// can stand in a policy without changing what else is in it.
func isOrigin(text string, schemes []string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !slices.Contains(schemes, strings.ToLower(scheme)) {
		return false
	}
	host, port, hasPort := strings.Cut(rest, ":")
	if hasPort {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return false
		}
	}
	return isHost(strings.TrimPrefix(host, "*."))
}

// isHost reports whether text is a host's name, or an IPv4 address, in ASCII.
func isHost(text string) bool {
	if len(text) > 253 {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return true
}

func notInLabel(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-')
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
