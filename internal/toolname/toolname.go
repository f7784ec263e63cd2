// Package toolname makes one name of a server's name and that of one of its tools (or
// prompts), which the models of all vendors take. It depends on these two alone, so that a
// name stays what it is when other servers come and go. The gateway and package host use
// it.
//
//	SERVER__TOOL            if that fits
//	SERVER__TO_L_K5ZQX7BA   if it does not: what fits of it, and a hash of all of it
package toolname

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"strings"
)

const (
	// MaxLength is what the APIs of all models take, in bytes.
	MaxLength = 64
	// separator stands after a server's name, which has no underscore.
	separator = "__"
	// hashLength is that of the hash which ends a shortened name, in characters.
	hashLength = 8
)

// Show makes the name of a tool.
func Show(server, own string) string {
	full := server + separator + own
	if Fits(full) && !isShortened(full) {
		return full
	}
	return shorten(full)
}

// Split returns the server that a name says it belongs to, which need not exist, and the
// server's own name. exact is false for a shortened name, of which only the server's list
// of tools tells what it stands for. server is "" for a name that Show does not make.
func Split(shown string) (server, own string, exact bool) {
	server, own, ok := strings.Cut(shown, separator)
	switch {
	case !ok || !Fits(shown):
		return "", "", false
	case isShortened(shown):
		return server, "", false
	}
	return server, own, true
}

// Server returns the server that a text says it belongs to by what it begins with; "" for
// none.
func Server(shown string) string {
	server, _, ok := strings.Cut(shown, separator)
	if !ok {
		return ""
	}
	return server
}

// shorten makes a name of one that is too long, or has characters that not all models
// take. What is left of it is followed by a hash of all of it.
func shorten(full string) string {
	var out strings.Builder
	for _, r := range full {
		if out.Len() == MaxLength-1-hashLength {
			break
		}
		if piece := string(r); isPlain(piece) {
			out.WriteString(piece)
		} else {
			out.WriteByte('_')
		}
	}
	return out.String() + "_" + hash(full)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base32.StdEncoding.EncodeToString(sum[:])[:hashLength]
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

// Fits reports whether the models of all vendors take a name.
func Fits(name string) bool { return name != "" && len(name) <= MaxLength && isPlain(name) }

func isPlain(name string) bool {
	for i := range len(name) {
		if !plain[name[i]] {
			return false
		}
	}
	return true
}

// maxServer bounds the name of a server, in bytes.
const maxServer = 32

var serverName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// ValidServer reports whether a name can be that of a server: up to 32 lower-case letters,
// digits and hyphens, of which the first is no hyphen.
func ValidServer(name string) bool { return serverName.MatchString(name) }

// ServerFor makes the name of a server from what a configuration calls it. Different texts
// may become the same.
func ServerFor(text string) string {
	if ValidServer(text) {
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
	name = strings.TrimRight(name[:min(len(name), maxServer)], "-")
	if name != "" {
		return name
	}
	return "server-" + strings.ToLower(hash(text))
}
