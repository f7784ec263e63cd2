package inspect

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// postMasked returns what somebody has typed as a server without what may be a secret, so
// that the page can keep it. What is a secret is decided here alone.
func (s *Server) postMasked(r *web.Request) (any, error) {
	var typed struct {
		Server string `json:"server"`
	}
	if err := r.Read(&typed); err != nil {
		return nil, err
	}
	typed.Server = maskedServer(typed.Server)
	return typed, nil
}

// maskedServer masks a URL or a command line as a connection does. Of what cannot be read
// nobody knows where its secrets are, so that nothing of it is left.
func maskedServer(text string) string {
	trimmed := strings.TrimSpace(text)
	if target.IsURL(trimmed) {
		if shown := target.MaskURL(trimmed); shown != target.Hidden {
			return shown
		}
		return ""
	}
	words, err := shellwords.Of(trimmed)
	if err != nil || strings.HasPrefix(trimmed, "{") { // a configuration, with secrets anywhere
		return ""
	}
	shown := target.MaskArgs(words)
	if slices.Equal(shown, words) {
		return text
	}
	for i, word := range shown {
		shown[i] = shellwords.Quote(word)
	}
	return strings.Join(shown, " ")
}

// aKey is a word that is masked wherever a word may be a key.
const aKey = "x0123456789abcdefghijklmnopqrstuvwxyz"

// masksOf returns the words that have a mask in the place of a secret. Whether a mask
// stands in such a place shows when a secret is put there.
func masksOf(words []string) []string {
	var masks []string
	tried := make([]string, len(words))
	for i, word := range words {
		tried[i] = strings.ReplaceAll(word, target.Hidden, aKey)
	}
	for i, shown := range target.MaskArgs(tried) {
		if shown != tried[i] && shown == words[i] {
			masks = append(masks, words[i])
		}
	}
	return masks
}

// hasMask reports whether a URL has a mask in the place of a secret.
func hasMask(u *url.URL) bool {
	parts := append(secretParts(u.String()), strings.Split(u.Path, "/")...)
	return slices.Contains(parts, target.Hidden)
}

// unknownMask is the error about a mask for which there is no secret here.
func unknownMask(field, masked string) error {
	return wrong(field, "type it again", "what %s stands for in %q is not known here any more", target.Hidden, masked)
}
