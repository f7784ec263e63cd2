// Package redact takes secrets out of what is shown or kept: by the names of headers,
// parameters and members that carry them, and by values that are known to be secret.
package redact

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// shortest is how long a secret must be, in bytes, to be looked for in texts:
// taking out shorter ones would take the evidence with them, and they are not
// secrets.
const shortest = 6

// Redactor takes secrets out of texts. A nil Redactor knows none by value, and
// still redacts by name. It may be used by several goroutines.
type Redactor struct {
	headers []string // names, in the canonical form
	secrets []string // long enough to be looked for
	values  *strings.Replacer
}

// New makes a Redactor that also hides the headers that the user gave, wherever
// their values appear, and other secrets by value, such as tokens that were got
// on the way. Values of less than 6 bytes are hidden in their headers only.
func New(headers http.Header, secrets ...string) *Redactor {
	r := &Redactor{}
	all := slices.Clone(secrets)
	for name, values := range headers {
		r.headers = append(r.headers, http.CanonicalHeaderKey(name))
		for _, value := range values {
			all = append(all, value)
			if _, token, ok := strings.Cut(value, " "); ok { // of Bearer and the like
				all = append(all, strings.TrimSpace(token))
			}
		}
	}
	r.secrets = slices.DeleteFunc(all, func(s string) bool { return len(s) < shortest })
	r.values = replacer(r.secrets)
	return r
}

// replacer replaces the secrets in the forms in which they travel. Longer ones
// come first, so that one that contains another goes as a whole.
func replacer(secrets []string) *strings.Replacer {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), inJSON(s)} {
			pairs = append(pairs, form, Hidden(s))
		}
	}
	return strings.NewReplacer(pairs...)
}

// inJSON is a text as it stands between the quotes of JSON.
func inJSON(s string) string {
	doc, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return strings.Trim(string(doc), `"`)
}

// Hidden stands where a secret was. Its length helps whoever looks for a token that
// was cut or doubled.
func Hidden(secret string) string { return fmt.Sprintf("(%d bytes, not shown)", len(secret)) }

// memberNames are the names of members that are secret: what OAuth, registration and forms
// of login send.
const memberNames = `access_token|refresh_token|id_token|registration_access_token|client_secret|client_assertion|assertion|subject_token|actor_token|code_verifier|device_code|password|passwd|api_?key`

// Names of what is secret, in lower case.
var (
	secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Dpop"}
	headerParts   = regexp.MustCompile(`(?i)token|secret|password|api-?key|credential`)
	// Members of JSON bodies, and of JSON that stands in a text of such a body, where each
	// quote has a backslash before it and each backslash another one.
	member  = regexp.MustCompile(`(?i)("(?:` + memberNames + `)"\s*:\s*")((?:[^"\\]|\\.)*)("|$)`)
	escaped = regexp.MustCompile(`(?i)(\\"(?:` + memberNames + `)\\"(?:\s|\\[nrt])*:(?:\s|\\[nrt])*\\")((?:[^"\\]|\\[^"\\]|\\\\(?:\\["\\]|[^"\\]))*)(\\"|$)`)
	// Parameters of forms and URLs; a code is one only there.
	parameter = regexp.MustCompile(`(?i)((?:^|[?&#\s;])(?:access_token|refresh_token|id_token|client_secret|client_assertion|assertion|subject_token|actor_token|code_verifier|code|device_code|password|api_?key|token)=)([^&\s"'#;]+)`)
	bearer    = regexp.MustCompile(`(?i)\b((?:bearer|dpop)\s+)([A-Za-z0-9._~+/=-]{16,})`)
	userinfo  = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)([^/\s@"']+)@`)
)

// Text redacts a body, a message, a URL or a sentence.
func (r *Redactor) Text(s string) string {
	s = r.known(s)
	for _, form := range []*regexp.Regexp{member, escaped} {
		s = replace(form, s, func(m []string) string { return m[1] + Hidden(m[2]) + m[3] })
	}
	s = replace(parameter, s, func(m []string) string { return m[1] + Hidden(m[2]) })
	s = replace(bearer, s, func(m []string) string { return m[1] + Hidden(m[2]) })
	return replace(userinfo, s, func(m []string) string { return m[1] + Hidden(m[2]) + "@" })
}

// known takes out the secrets that are known by value.
func (r *Redactor) known(s string) string {
	if r == nil || r.values == nil {
		return s
	}
	return r.values.Replace(s)
}

func replace(re *regexp.Regexp, s string, with func(m []string) string) string {
	if !re.MatchString(s) {
		return s
	}
	return re.ReplaceAllStringFunc(s, func(found string) string {
		m := re.FindStringSubmatch(found)
		if m == nil || isHidden(m[2]) {
			return found // it was redacted by its value
		}
		return with(m)
	})
}

// hiddenBegin is what a form that ends at a space finds of what Hidden returns.
var hiddenBegin = regexp.MustCompile(`^\(\d+$`)

// isHidden reports whether a text stands where a secret was.
func isHidden(s string) bool {
	return strings.HasSuffix(s, ", not shown)") || hiddenBegin.MatchString(s)
}

// Header returns a value of a header as a report may show it.
func (r *Redactor) Header(name, value string) string {
	name = http.CanonicalHeaderKey(name)
	switch {
	case slices.Contains(secretHeaders, name), headerParts.MatchString(name), r != nil && slices.Contains(r.headers, name):
		if strings.HasSuffix(value, ", not shown)") {
			return value
		}
		return Hidden(value)
	case name == "Mcp-Session-Id":
		return session(value)
	}
	return r.Text(value)
}

// session shows enough of the ID of a session to tell it from others.
func session(id string) string {
	const shown = 4
	if len(id) < 4*shown || strings.HasSuffix(id, ", not shown)") {
		return id // too short to be a secret, which is a finding of its own
	}
	return id[:shown] + "… " + Hidden(id)
}

// Head redacts a request or status line with the headers below it.
func (r *Redactor) Head(head string) string {
	lines := strings.Split(head, "\n")
	for i, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if i == 0 || !ok {
			lines[i] = r.Text(line)
			continue
		}
		trimmed := strings.TrimSpace(value)
		if trimmed != "" {
			lines[i] = name + ": " + r.Header(name, trimmed)
		}
	}
	return strings.Join(lines, "\n")
}

// End takes out a secret of which a text that was cut has only the beginning.
func (r *Redactor) End(s string) string {
	if r == nil {
		return s
	}
	for _, secret := range r.secrets {
		for n := min(len(secret)-1, len(s)); n >= shortest/2; n-- {
			if rest, ok := strings.CutSuffix(s, secret[:n]); ok {
				return rest + Hidden(secret)
			}
		}
	}
	return s
}
