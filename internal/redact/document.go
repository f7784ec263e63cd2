package redact

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/parley-mcp/parley/internal/texts"
	"github.com/parley-mcp/parley/internal/wire"
)

// Thorough redacts a text that is kept: as Text does, and also what looks like a key or a
// token of one of the vendors that package texts knows.
func (r *Redactor) Thorough(s string) string {
	s = r.Text(s)
	found := texts.Find([]byte(s), texts.Result, texts.SetOf(texts.Secrets), nil)
	if len(found) == 0 {
		return s
	}
	var out strings.Builder
	at := 0
	for _, f := range found {
		if f.Begin < at { // it is gone with the one before
			continue
		}
		out.WriteString(s[at:f.Begin])
		out.WriteString(Hidden(s[f.Begin:f.End]))
		at = f.End
	}
	out.WriteString(s[at:])
	return out.String()
}

// Document redacts a JSON document that is kept: each of its texts as Thorough does, once
// escapes are decoded, and those that are JSON themselves as documents. Everything else
// stays as it is, byte for byte. A number that is a known secret is gone, too; what is left
// is no JSON then.
func (r *Redactor) Document(doc []byte) []byte {
	var out []byte
	name, copied := "", 0
	for at := 0; ; {
		begin, end, ok := nextText(doc, at)
		if !ok {
			break
		}
		text, _ := wire.Text(doc[begin:end])
		if isName(doc[end:]) || !isSame(doc[at:begin]) {
			name = ""
		}
		shown := r.inDocument(name, text)
		if isName(doc[end:]) {
			name = text
		}
		at = end
		if shown == text {
			continue
		}
		out = wire.AppendText(append(out, doc[copied:begin]...), shown)
		copied = end
	}
	if out = append(out, doc[copied:]...); r != nil && r.values != nil {
		return []byte(r.values.Replace(string(out)))
	}
	return out
}

// nextText finds the next text of a document from a place on, with its quotes. ok is false
// if there is none.
func nextText(doc []byte, from int) (begin, end int, ok bool) {
	n := bytes.IndexByte(doc[from:], '"')
	if n < 0 {
		return 0, 0, false
	}
	begin = from + n
	end = wire.TextEnd(doc, begin)
	return begin, end, end-begin > 1 && doc[end-1] == '"'
}

// isName reports whether what follows a text says that it is the name of a member.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// isSame reports whether what stands between a name or a text and another text says that
// both belong to the same member: it has the other text, or a list of both.
func isSame(between []byte) bool {
	return len(bytes.Trim(between, " \t\r\n:[,")) == 0
}

var secretMember = regexp.MustCompile(`^(?i:` + memberNames + `)$`)

// inDocument redacts a text of a document, which may be the value of a member.
func (r *Redactor) inDocument(member, text string) string {
	if member != "" && text != "" && !isHidden(text) {
		if _, named := texts.Named([]byte(member), []byte(text)); named || secretMember.MatchString(member) {
			return Hidden(text)
		}
	}
	if start := strings.TrimLeft(text, " \t\r\n"); start != "" && (start[0] == '{' || start[0] == '[') && json.Valid([]byte(text)) {
		return string(r.Document([]byte(text)))
	}
	return r.Thorough(text)
}
