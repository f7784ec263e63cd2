package target

import (
	"net/url"
	"regexp"
	"strings"
)

// Hidden stands for a secret.
const Hidden = "***"

var (
	secretName = regexp.MustCompile(`(?i)(key|token|secret|passw|pwd|auth|credential|bearer|header|cookie|signature|dsn|connection)`)
	keyLike    = regexp.MustCompile(`^[A-Za-z0-9_\-+=.]{20,}$`)
	digit      = regexp.MustCompile(`[0-9]`)
	letter     = regexp.MustCompile(`[A-Za-z]`)
	onlyRefs   = regexp.MustCompile(`^(Bearer )?\$\{[^}]*\}$`)
)

// SecretName reports whether the name of a variable says that its value is a secret.
func SecretName(name string) bool { return secretName.MatchString(name) }

// MaskValue hides the value of a variable or header, unless it is a reference, which
// is no secret.
func MaskValue(value string) string {
	if value == "" || onlyRefs.MatchString(value) && !strings.Contains(value, ":-") {
		return value
	}
	return Hidden
}

// MaskURL hides what may be a secret in a URL: a password, the values of the query,
// and parts of the path that look like keys.
func MaskURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return Hidden
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), Hidden)
	} else if u.User != nil {
		u.User = url.User(Hidden)
	}
	parts := strings.Split(u.Path, "/")
	for i, p := range parts {
		parts[i] = maskWord(p)
	}
	u.Path, u.RawPath = strings.Join(parts, "/"), ""
	if u.RawQuery != "" {
		pairs := strings.Split(u.RawQuery, "&")
		for i, p := range pairs {
			if name, value, ok := strings.Cut(p, "="); ok {
				pairs[i] = name + "=" + MaskValue(value)
			} else {
				pairs[i] = maskWord(p)
			}
		}
		u.RawQuery = strings.Join(pairs, "&")
	}
	u.Fragment = ""
	return readable.Replace(u.String())
}

// readable undoes the escaping of what stands for a secret, and of references.
var readable = strings.NewReplacer("%2A%2A%2A", Hidden, "%7B", "{", "%7D", "}")

// MaskArgs hides what may be a secret in a command line: the values of options and
// variables with telling names, and what looks like a key. It errs on the side of
// hiding too much.
func MaskArgs(args []string) []string {
	masked := make([]string, len(args))
	secretNext := false
	for i, arg := range args {
		name, value, has := strings.Cut(arg, "=")
		switch {
		case i == 0:
			masked[i] = arg
		case secretNext && !strings.HasPrefix(arg, "-"):
			masked[i] = MaskValue(arg)
		case !has && strings.Contains(arg, "://"), IsURL(arg):
			masked[i] = MaskURL(arg)
		case has && !strings.Contains(name, "://") && (secretName.MatchString(name) || maskWord(value) != value):
			masked[i] = name + "=" + MaskValue(value)
		case has && strings.Contains(value, "://"):
			masked[i] = name + "=" + MaskURL(value)
		default:
			masked[i] = maskWord(arg)
		}
		secretNext = !has && strings.HasPrefix(arg, "-") && (secretName.MatchString(arg) || arg == "-H")
	}
	return masked
}

// maskWord hides a word that looks like a key.
func maskWord(s string) string {
	if keyLike.MatchString(s) && digit.MatchString(s) && letter.MatchString(s) && !strings.HasPrefix(s, "-") {
		return Hidden
	}
	return s
}

// Summary is what a file says about a server, without secrets and with its
// references as they stand.
type Summary struct {
	URL     string            `json:"url,omitzero"`
	Command string            `json:"command,omitzero"`
	Args    []string          `json:"args,omitzero"`
	Env     map[string]string `json:"env,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	Dir     string            `json:"cwd,omitzero"`
}

// Summary returns what may be shown of an entry.
func (e *Entry) Summary() Summary {
	s := Summary{Command: e.command.s, Dir: e.dir.s, Env: masked(e.env), Headers: masked(e.headers)}
	if e.url.s != "" {
		s.URL = MaskURL(e.url.s)
	}
	if e.command.s != "" {
		words := []string{e.command.s}
		for _, a := range e.args {
			words = append(words, a.s)
		}
		s.Args = MaskArgs(words)[1:]
	}
	return s
}

func masked(settings []setting) map[string]string {
	if settings == nil {
		return nil
	}
	m := make(map[string]string, len(settings))
	for _, s := range settings {
		m[s.name] = MaskValue(s.value.s)
	}
	return m
}
