package serverprobe

import (
	"encoding/base64"
	"mime"
	"regexp"
	"slices"
	"strings"
)

var (
	uriForm   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	uriOthers = regexp.MustCompile(`[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+`)
	uriBroken = regexp.MustCompile(`%(?:[^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)`)
)

// notURI says why a text is no URI of RFC 3986, or "".
func notURI(text string) string {
	switch {
	case !uriForm.MatchString(text):
		return "it has no scheme"
	case uriOthers.MatchString(text):
		return "it contains " + strings.ToValidUTF8(uriOthers.FindString(text), "�")
	case uriBroken.MatchString(text):
		return "a percent sign is not followed by two hexadecimal digits"
	case strings.Count(text, "#") > 1:
		return "it has two fragments"
	default:
		return ""
	}
}

// isCustom reports whether a text does not begin with one of the schemes that
// the specification names.
func isCustom(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return !ok || !slices.Contains([]string{"http", "https", "file", "git"}, strings.ToLower(scheme))
}

// notBase64 reports whether a text is not base64 as JSON Schema's "byte" has it.
// Padding may be missing.
func notBase64(text string) bool {
	text = strings.TrimRight(text, "=")
	_, err := base64.RawStdEncoding.DecodeString(text)
	return err != nil || strings.ContainsAny(text, "\r\n")
}

// notMediaType reports whether a text is no media type.
func notMediaType(text string) bool {
	kind, _, err := mime.ParseMediaType(text)
	return err != nil || !strings.Contains(kind, "/")
}

// binaryTypes are media types of which no text can be made.
var binaryTypes = regexp.MustCompile(`^(?i)(audio/|video/|font/|image/(png|jpe?g|gif|webp|avif|bmp|tiff|x-icon|vnd\.microsoft\.icon)\b|application/(zip|gzip|x-tar|x-7z-compressed|wasm|vnd\.openxmlformats)\b)`)
