package naming

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

const (
	// maxName is what the APIs of all models take, in bytes.
	maxName = 64
	// separator stands after a backend's name, which has no underscore.
	separator = "__"
	// hashLength is that of the hash which ends a shortened name, in characters.
	hashLength = 8
)

// showName makes the name of a tool or a prompt.
func (b *Backend) showName(renamed map[string]string, own string) string {
	if shown, ok := renamed[own]; ok {
		return shown
	}
	full := b.name + separator + own
	if len(full) <= maxName && isPlain(full) && !isShortened(full) {
		return full
	}
	return shorten(full)
}

// ownName finds a tool or a prompt. Names that were given in place of others are known;
// the others say whose they are.
func (n *Names) ownName(given map[string]renamed, shown string, of func(*Backend) map[string]string) (b *Backend, own string, known bool) {
	if r, ok := given[shown]; ok {
		return r.backend, r.own, true
	}
	if len(shown) > maxName || !isPlain(shown) {
		return nil, "", false
	}
	b = n.byPrefix(shown)
	if b == nil || isShortened(shown) {
		return b, "", false
	}
	own = shown[len(b.name)+len(separator):]
	if _, ok := of(b)[own]; ok {
		return nil, "", false // it has another name now
	}
	return b, own, true
}

// byPrefix returns the backend that a name says it belongs to, or nil.
func (n *Names) byPrefix(shown string) *Backend {
	prefix, _, ok := strings.Cut(shown, separator)
	if !ok {
		return nil
	}
	return n.backends[prefix]
}

// shorten makes a name of one that is too long, or has characters that not all models
// take. What is left of it is followed by a hash of all of it.
func shorten(full string) string {
	var out strings.Builder
	for _, r := range full {
		if out.Len() == maxName-1-hashLength {
			break
		}
		if piece := string(r); isPlain(piece) {
			out.WriteString(piece)
		} else {
			out.WriteByte('_')
		}
	}
	sum := sha256.Sum256([]byte(full))
	return out.String() + "_" + base32.StdEncoding.EncodeToString(sum[:])[:hashLength]
}

// isShortened reports whether a name ends as shortened ones do. A name that does so by
// itself is shortened, too: otherwise it could be what another is shortened to.
func isShortened(name string) bool {
	at := len(name) - hashLength - 1
	if at < 0 || name[at] != '_' {
		return false
	}
	for _, c := range []byte(name[at+1:]) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// plain are the characters that all models take.
var plain = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") {
		set[c] = true
	}
	return set
}()

func isPlain(name string) bool {
	for i := range len(name) {
		if !plain[name[i]] {
			return false
		}
	}
	return true
}

// BackendName makes the name of a backend from what another program's configuration calls
// it. Different names may become the same.
func BackendName(text string) string {
	if ValidBackend(text) {
		return text
	}
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	name := out.String()
	name = strings.TrimRight(name[:min(len(name), 32)], "-")
	if name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(text))
	return "server-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:hashLength])
}
