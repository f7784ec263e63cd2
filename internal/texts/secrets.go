package texts

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the table
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/tsv"
)

// Secret is a form of keys or tokens.
type Secret struct {
	ID string
	// Says is what it is.
	Says string
	// Source is who says that they have this form, and Date when.
	Source, Date string

	form     *regexp.Regexp // from a trigger on; the first group is the secret, if there is one
	triggers []string
	slashes  bool // it can go on for long, with slashes and pluses
	likely   func(secret []byte) bool
}

//go:embed secrets.tsv
var secretsTable string

// SecretForms returns all forms. They must not be changed.
var SecretForms = sync.OnceValue(func() []*Secret {
	all, err := readSecrets()
	if err != nil {
		panic("texts: " + err.Error()) // a test reads them
	}
	return all
})

// unlikely tells secrets from what has their form, where that is not rare.
var unlikely = map[string]func([]byte) bool{"openai-like": isRandom, "url": isPassword, named: isRandom}

func readSecrets() ([]*Secret, error) {
	const width = 6
	rows, err := tsv.Read("secrets.tsv", secretsTable, width)
	if err != nil {
		return nil, err
	}
	var all []*Secret
	for _, r := range rows {
		s := &Secret{ID: r[0], triggers: strings.Split(strings.ToLower(r[1]), ","), Says: r[3], Source: r[4], Date: r[5], likely: unlikely[r[0]], slashes: strings.Contains(r[2], "+/") && strings.Contains(r[2], ",}")}
		if s.form, err = regexp.Compile("^(?:" + r[2] + ")"); err != nil {
			return nil, fmt.Errorf("secrets.tsv: %s: %w", s.ID, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// named is the form of those that are known by the name before them.
const named = "named"

// longest is how much of a text a secret can take, in bytes.
const longest = 17_000

// at looks for a secret whose form begins at a place of a text. ok is false if there is
// none.
func (s *Secret) at(text []byte, at int) (f Finding, ok bool) {
	if at > 0 && s.follows(text[at], text[at-1]) {
		return f, false
	}
	if s.ID == named && !isAssigned(text[at:]) {
		return f, false
	}
	m := s.form.FindSubmatchIndex(text[at:min(len(text), at+longest)])
	if m == nil {
		return f, false
	}
	f = Finding{Secrets, s.ID, at + m[0], at + m[1]}
	if len(m) > 2 {
		f.Begin, f.End = at+m[2], at+m[3]
	}
	secret := text[f.Begin:f.End]
	return f, !isSample(secret) && (s.likely == nil || s.likely(secret))
}

// follows reports whether a form begins in the middle of what it could be a part of. That
// also keeps one part of a text from being looked at again and again.
func (s *Secret) follows(b, before byte) bool {
	return s.ID != named && isWord(b) && (isWord(before) || before == '-' || s.slashes && (before == '/' || before == '+'))
}

// isAssigned reports whether what follows a name can be a secret: it saves the pattern the
// many places where it is not.
func isAssigned(text []byte) bool {
	const near, least = 80, 16
	run, separated := 0, false
	for _, b := range text[:min(len(text), near)] {
		switch {
		case isWord(b), b == '+', b == '/', b == '~', b == '-':
			if run++; separated && run >= least {
				return true
			}
		default:
			run = 0
			separated = separated || b == ':' || b == '=' || b == ' ' || b == '\t' || b == '\n'
		}
	}
	return false
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

// samples are in secrets that are none.
var samples = [][]byte{[]byte("example"), []byte("xxxx"), []byte("your"), []byte("redacted"), []byte("placeholder"), []byte("changeme"), []byte("dummy"), []byte("notreal")}

// isSample reports whether a secret only shows what one looks like.
func isSample(secret []byte) bool {
	if len(secret) > 300 { // a private key, or a long token
		return false
	}
	lower := bytes.ToLower(secret)
	for _, s := range samples {
		if bytes.Contains(lower, s) {
			return true
		}
	}
	return false
}

// isRandom reports whether a text looks as if it had been drawn by lot, and not as if
// somebody had written it, as names and paths are.
func isRandom(text []byte) bool {
	const least = 16
	if len(text) < least || text[0] == '/' || isSample(text) {
		return false
	}
	var counts [256]int
	classes, before, turns := map[byte]int{}, byte(0), 0
	hex := true
	for _, b := range text {
		counts[b]++
		c := classOf(b)
		if classes[c]++; c != before && before != 0 {
			turns++
		}
		before = c
		hex = hex && (b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F')
	}
	const hexBits, bits, hexLeast = 3, 3.5, 32
	digits := classes['0']
	switch {
	case hex:
		return len(text) >= hexLeast && digits > 4 && digits < len(text)-4 && entropy(&counts, len(text)) >= hexBits
	case classes['a'] == 0 || classes['A'] == 0 || classes['-'] > len(text)/8:
		return false
	}
	return digits >= max(2, len(text)/16) && turns*5 >= len(text)*2 && entropy(&counts, len(text)) >= bits
}

// classOf tells letters, digits and the rest apart.
func classOf(b byte) byte {
	switch {
	case b >= '0' && b <= '9':
		return '0'
	case b >= 'a' && b <= 'z':
		return 'a'
	case b >= 'A' && b <= 'Z':
		return 'A'
	}
	return '-'
}

// entropy is that of the bytes of a text, in bits for each.
func entropy(counts *[256]int, length int) (bits float64) {
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(length)
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// isPassword reports whether a text is no word that stands for a password.
func isPassword(text []byte) bool {
	digits, letters := false, false
	for _, b := range text {
		c := classOf(b)
		digits, letters = digits || c == '0', letters || c == 'a' || c == 'A'
	}
	return digits && letters && !bytes.ContainsAny(text, "${}*()[]") && !bytes.Contains(bytes.ToLower(text), []byte("password"))
}

// Fingerprint tells secrets apart without giving them away.
func Fingerprint(secret []byte) string {
	const shown = 4
	sum := sha256.Sum256(secret)
	return hex.EncodeToString(sum[:shown])
}

// isSecretName reports whether a member of a document has a secret by its name, such as
// password or apiKey.
func isSecretName(name []byte) bool {
	const most = 64
	if len(name) > most {
		return false
	}
	var buffer [most]byte
	plain := buffer[:0]
	for _, b := range name {
		if c := classOf(b); c == 'A' {
			plain = append(plain, b+'a'-'A')
		} else if c != '-' {
			plain = append(plain, b)
		}
	}
	for _, word := range secretNames() {
		if bytes.Contains(plain, word) {
			return true
		}
	}
	return false
}

// secretNames are the names before secrets that have one, without what sets words apart.
var secretNames = sync.OnceValue(func() (names [][]byte) {
	for _, s := range SecretForms() {
		if s.ID != named {
			continue
		}
		for _, word := range s.triggers {
			names = append(names, []byte(strings.NewReplacer("_", "", "-", "").Replace(word)))
		}
	}
	return names
})

// Named returns the finding of a secret that is the whole text of a member with such a
// name. ok is false if it is no secret.
func Named(name, text []byte) (f Finding, ok bool) {
	const most = 300
	return Finding{Secrets, named, 0, len(text)}, len(text) <= most && isSecretName(name) && isRandom(text)
}
