package content

import (
	"fmt"
	"mime"
	"strings"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// MIMEType checks a media type, with or without parameters.
//
// Spec: 2026-07-28 server/prompts#image-content.
func MIMEType(text string) error {
	essence, _, parameters := strings.Cut(text, ";")
	top, sub, slash := strings.Cut(strings.TrimRight(essence, " \t"), "/")
	ok := slash && isToken(top) && isToken(sub)
	if ok && parameters {
		_, _, err := mime.ParseMediaType(text)
		ok = err == nil
	}
	if !ok {
		return fmt.Errorf("mimeType %.100q is not a MIME type, such as %q", text, "image/png")
	}
	return nil
}

// optionalMIMEType is MIMEType for a member that may be missing.
func optionalMIMEType(text string) error {
	if text == "" {
		return nil
	}
	return MIMEType(text)
}

// isToken reports whether text is a token of RFC 9110.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+.^_`|~-", r)
	})
}

func isLetter(r rune) bool       { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func isDigit(r rune) bool        { return '0' <= r && r <= '9' }
func isAlphanumeric(r rune) bool { return isLetter(r) || isDigit(r) }

// timestamps are the forms of ISO 8601 that are in use; fractions of a second may
// follow in each that has seconds.
var timestamps = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly}

// Annotations checks annotations; nil has none.
//
// Spec: 2026-07-28 server/resources#annotations.
func Annotations(a *mcp.Annotations) error {
	if a == nil {
		return nil
	}
	for _, role := range a.Audience {
		if role != mcp.RoleUser && role != mcp.RoleAssistant {
			return fmt.Errorf("annotations: audience %.100q is neither %q nor %q", role, mcp.RoleUser, mcp.RoleAssistant)
		}
	}
	if err := Priority("priority", a.Priority); err != nil {
		return fmt.Errorf("annotations: %w", err)
	}
	if a.LastModified == "" {
		return nil
	}
	for _, layout := range timestamps {
		if _, err := time.Parse(layout, a.LastModified); err == nil {
			return nil
		}
	}
	return fmt.Errorf("annotations: lastModified %.100q is not an ISO 8601 time, such as %q", a.LastModified, "2025-01-12T15:00:58Z")
}

// Priority checks a member that is missing or from 0 to 1.
//
// Spec: 2026-07-28 client/sampling#capability-priorities.
func Priority(name string, p *float64) error {
	if p != nil && !(*p >= 0 && *p <= 1) { // so that NaN is refused, too
		return fmt.Errorf("%s %v is not between 0 and 1", name, *p)
	}
	return nil
}
