package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/internal/wire"
)

// Lens is how frames are looked at: with secrets masked, which is the zero value, or as
// they are.
type Lens struct {
	mask    *redact.Redactor
	secrets bool
}

// Lens returns the Lens for what the recorder has. With secrets, nothing is masked: only
// for somebody who has asked for that.
func (r *Recorder) Lens(secrets bool) Lens {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return Lens{r.mask, secrets}
}

// Text returns a text as it may be shown.
func (l Lens) Text(s string) string {
	if l.secrets {
		return s
	}
	return l.mask.Text(s)
}

// Header returns a header as it may be shown.
func (l Lens) Header(h map[string][]string) map[string][]string {
	if l.secrets || h == nil {
		return h
	}
	shown := make(map[string][]string, len(h))
	for name, values := range h {
		for _, value := range values {
			shown[name] = append(shown[name], l.mask.Header(name, value))
		}
	}
	return shown
}

// Frame returns a frame as it may be shown. Only texts are replaced, each by another one,
// so that JSON stays JSON, and everything else keeps its bytes.
func (l Lens) Frame(frame []byte) []byte {
	if l.secrets || len(frame) == 0 {
		return frame
	}
	masked := l.mask.Text(string(frame))
	if !json.Valid(frame) {
		return []byte(masked)
	}
	if masked == string(frame) && !bytes.Contains(frame, []byte(`\u`)) { // no text in it is written in another way
		return frame
	}
	return l.texts(frame)
}

// texts masks each text of JSON on its own.
func (l Lens) texts(frame []byte) []byte {
	var out []byte
	name, kept := "", 0
	for at := 0; at < len(frame); {
		if frame[at] != '"' {
			at++
			continue
		}
		end := wire.TextEnd(frame, at)
		text, _ := wire.Text(frame[at:end])
		if isName(frame[end:]) {
			name, at = text, end
			continue
		}
		if masked := l.member(name, text); masked != text {
			quoted, err := wire.Marshal(masked)
			if err == nil {
				out = append(append(out, frame[kept:at]...), quoted...)
				kept = end
			}
		}
		at = end
	}
	if out == nil {
		return frame
	}
	return append(out, frame[kept:]...)
}

// isName reports whether a text is the name of a member, by what comes after it.
func isName(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == ':'
		}
	}
	return false
}

// member returns the text of a member as it may be shown. What is secret by its name is
// known to the Redactor in the form of JSON.
func (l Lens) member(name, text string) string {
	if name != "" && utf8.ValidString(name) {
		probe := `"` + strings.ReplaceAll(name, `"`, "") + `":"x"`
		if l.mask.Text(probe) != probe {
			return redact.Hidden(text)
		}
	}
	return l.mask.Text(text)
}
