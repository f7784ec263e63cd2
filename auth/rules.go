package auth

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/internal/scope"
	"github.com/parley-mcp/parley/mcp"
)

// Rules say which scopes operations need in addition to Options.Scopes. An
// operation that no rule is about needs no more than those. If several rules
// apply to one operation, it needs the scopes of all of them.
//
// Spec: 2026-07-28 basic/authorization#scope-challenge-handling.
type Rules struct {
	// Methods are the scopes of methods, for example "tools/call". Only methods
	// that reach a server's middleware can have rules, which excludes those
	// that open, check or configure a connection. The scopes of a list are also
	// needed to be notified of its changes, and those of resources/read to
	// watch a resource.
	Methods map[string][]string
	// Tools and Prompts are the scopes of tools and prompts by name. Those of a
	// prompt are also needed to complete its arguments.
	Tools, Prompts map[string][]string
	// Resources are the scopes of resources: by URI; by a prefix followed by *,
	// such as "file:///home/*"; or by an RFC 6570 template. Those of a template
	// are also needed to complete its variables. A URI is matched both as it is
	// written and in its normal form, so that no spelling of it gets around a
	// rule.
	Resources map[string][]string
}

// rules are Rules that have been checked.
type rules struct {
	methods, tools, prompts map[string][]string
	resources               []resourceRule
}

// resourceRule applies to URIs that match its key: that equal one of its forms,
// or begin with one.
type resourceRule struct {
	forms    []string
	prefix   bool
	template *regexp.Regexp
	scopes   []string
}

// unreached reports whether middleware does not see a method, because
// transports answer it. Nothing would enforce a rule about it.
func unreached(method string) bool {
	m := mcp.MethodNamed(method)
	return m != nil && m.Connection && !m.Subscribes
}

func newRules(r *Rules) (*rules, error) {
	for name, list := range map[string]map[string][]string{"Methods": r.Methods, "Tools": r.Tools, "Prompts": r.Prompts, "Resources": r.Resources} {
		for key, scopes := range list {
			if err := checkScopes(scopes); err != nil {
				return nil, fmt.Errorf("auth.Rules.%s[%q]: %w", name, key, err)
			}
		}
	}
	for method := range r.Methods {
		if unreached(method) {
			return nil, fmt.Errorf("auth.Rules.Methods[%q]: requests of this method do not reach Enforce; what all requests need belongs in Options.Scopes", method)
		}
	}
	all := &rules{methods: r.Methods, tools: r.Tools, prompts: r.Prompts}
	for key, scopes := range r.Resources {
		rule, err := newResourceRule(key)
		if err != nil {
			return nil, fmt.Errorf("auth.Rules.Resources[%q]: %w", key, err)
		}
		rule.scopes = scopes
		all.resources = append(all.resources, rule)
	}
	return all, nil
}

func newResourceRule(key string) (resourceRule, error) {
	switch start, prefix := strings.CutSuffix(key, "*"); {
	case !strings.Contains(key, ":"):
		return resourceRule{}, errors.New("it has no scheme")
	case strings.Contains(key, "{"):
		t, err := uritemplate.New(key)
		if err != nil {
			return resourceRule{}, err
		}
		return resourceRule{forms: []string{key}, template: t.Regexp()}, nil
	default:
		return resourceRule{forms: []string{start, normalURI(start)}, prefix: prefix}, nil
	}
}

// resource returns the scopes that a resource needs, or a template by its text.
func (r *rules) resource(uri string) []string {
	if len(r.resources) == 0 {
		return nil
	}
	forms := []string{uri, normalURI(uri)}
	var scopes []string
	for _, rule := range r.resources {
		if rule.covers(forms[0]) || rule.covers(forms[1]) {
			scopes = scope.Union(scopes, rule.scopes)
		}
	}
	return scopes
}

func (r *resourceRule) covers(uri string) bool {
	for _, form := range r.forms {
		if uri == form || r.prefix && strings.HasPrefix(uri, form) {
			return true
		}
	}
	return r.template != nil && r.template.MatchString(uri)
}

// normalURI decodes what is percent-encoded, resolves dots in the path, and
// writes scheme and host in lower case.
func normalURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return uri
	}
	scheme = strings.ToLower(scheme)
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	authority, hasAuthority := strings.CutPrefix(rest, "//")
	if !hasAuthority {
		return scheme + ":" + rest
	}
	host, at, found := strings.Cut(authority, "/")
	if !found {
		return scheme + "://" + strings.ToLower(host)
	}
	clean := path.Clean("/" + at)
	if strings.HasSuffix(at, "/") && clean != "/" {
		clean += "/"
	}
	return scheme + "://" + strings.ToLower(host) + clean
}
