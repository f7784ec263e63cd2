package oauth

import (
	"log/slog"
	"strings"
)

// Secret is a string that is not shown in logs, by the verbs of package fmt, or
// as JSON. string(s) is its value.
type Secret string

const hidden = "[secret]"

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// plain returns a server's text for an error: without secrets, without
// characters that would control a terminal, and shortened.
func plain(text string, secrets ...string) string {
	for _, s := range secrets {
		if len(s) > 3 { // a shorter one would tear words apart, and hides nothing
			text = strings.ReplaceAll(text, s, hidden)
		}
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	const limit = 300
	if cut := []rune(text); len(cut) > limit {
		text = string(cut[:limit]) + "…"
	}
	return text
}
