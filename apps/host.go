package apps

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/mcp"
)

// flatKey is how servers named a tool's app before there was MetaKey.
//
// Spec: extensions/apps 2026-01-26 specification#resource-discovery.
const flatKey = "ui/resourceUri"

// OfTool returns what a tool says about apps. A tool that says nothing has no app, and
// may be called by the model and by apps. With an error, which says what is wrong with
// the tool's _meta, what is returned may still be relied on: the parts that are wrong
// are left out, and who may call the tool is nobody if that is what is wrong.
func OfTool(t *mcp.Tool) (ToolUI, error) {
	var says struct {
		URI        any `json:"resourceUri"`
		Visibility any `json:"visibility"`
	}
	var flat any
	_, err := t.Meta.Get(MetaKey, &says)
	_, flatErr := t.Meta.Get(flatKey, &flat)
	if err != nil || flatErr != nil {
		return ToolUI{Visibility: []Visibility{}}, fmt.Errorf("tool %.100q: _meta: %w", t.Name, errors.Join(err, flatErr))
	}
	if says.URI == nil {
		says.URI = flat
	}
	var u ToolUI
	if u.Visibility, err = visibility(says.Visibility); err != nil {
		err = fmt.Errorf("tool %.100q: _meta.ui.visibility: %w", t.Name, err)
	}
	if says.URI == nil {
		return u, err
	}
	uri, _ := says.URI.(string)
	if wrong := checkURI(uri); wrong != nil {
		return u, errors.Join(err, fmt.Errorf("tool %.100q: _meta.ui.resourceUri: %w", t.Name, wrong))
	}
	u.ResourceURI = uri
	return u, err
}

// visibility keeps unknown values out: they are those of a later version.
func visibility(v any) ([]Visibility, error) {
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return []Visibility{}, errors.New("it is not a list")
	}
	known := []Visibility{}
	for _, entry := range list {
		if text, ok := entry.(string); ok && (text == string(VisibleToModel) || text == string(VisibleToApp)) {
			known = append(known, Visibility(text))
		}
	}
	return known, nil
}

// ForModel reports whether a model may see and call the tool. A host leaves all others
// out of what it tells its model.
//
// Spec: extensions/apps 2026-01-26 specification#visibility.
func (u ToolUI) ForModel() bool { return u.visible(VisibleToModel) }

// ForApp reports whether an app may call the tool. That is so only for apps of the same
// server, which a host keeps to by making an app's calls through the client that it has
// read the app with. A host refuses all other calls of apps.
//
// Spec: extensions/apps 2026-01-26 specification#visibility.
func (u ToolUI) ForApp() bool { return u.visible(VisibleToApp) }

func (u ToolUI) visible(to Visibility) bool {
	return u.Visibility == nil || slices.Contains(u.Visibility, to)
}

// Policy returns the Content-Security-Policy that a host must show the app under. It
// allows what the app declares and nothing else. Entries that are not origins are left
// out; Check tells of them.
//
// Spec: extensions/apps 2026-01-26 specification#host-behavior, specification#4-content-security-policy-enforcement.
func (u ResourceUI) Policy() string {
	c := u.CSP
	if c == nil {
		c = &CSP{}
	}
	static := joined(c.ResourceDomains, web())
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self' 'unsafe-inline'" + static,
		"style-src 'self' 'unsafe-inline'" + static,
		"img-src 'self' data:" + static,
		"font-src 'self'" + static,
		"media-src 'self' data:" + static,
		"connect-src" + or(joined(c.ConnectDomains, sockets()), " 'none'"),
		"frame-src" + or(joined(c.FrameDomains, web()), " 'none'"),
		"base-uri" + or(joined(c.BaseURIDomains, web()), " 'self'"),
		"object-src 'none'",
		"form-action 'none'",
	}, "; ")
}

// joined returns the entries that are origins, each after a space.
func joined(origins, schemes []string) string {
	var text strings.Builder
	for _, origin := range origins {
		if isOrigin(origin, schemes) {
			text.WriteString(" " + origin)
		}
	}
	return text.String()
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// Allow returns the value of a frame's attribute "allow" that grants the app all
// permissions it asks for. A host may grant fewer.
func (u ResourceUI) Allow() string {
	names := map[Permission]string{Camera: "camera", Microphone: "microphone", Geolocation: "geolocation", ClipboardWrite: "clipboard-write"}
	var features []string
	for _, p := range known() {
		if slices.Contains(u.Permissions, p) {
			features = append(features, names[p])
		}
	}
	return strings.Join(features, "; ")
}
