package lint

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"
)

// maxLined bounds a file whose lines are counted, in bytes.
const maxLined = 16 << 20

// spot is a place in a file whose line is wanted, and those within it.
type spot struct {
	line   int
	within map[string]*spot
}

// names splits a JSON pointer.
func names(pointer string) []string {
	if pointer == "" {
		return nil
	}
	return strings.Split(pointer[1:], "/")
}

// want adds a place.
func (s *spot) want(pointer string) {
	for _, name := range names(pointer) {
		if s.within == nil {
			s.within = map[string]*spot{}
		}
		if s.within[name] == nil {
			s.within[name] = new(spot)
		}
		s = s.within[name]
	}
}

// of returns the line of a place; one that is not there has the line of what it
// would be in.
func (s *spot) of(pointer string) int {
	line := s.line
	for _, name := range names(pointer) {
		if s = s.within[name]; s == nil || s.line == 0 {
			break
		}
		line = s.line
	}
	return line
}

// liner finds lines. What nobody wants is skipped.
type liner struct {
	doc           []byte
	dec           *json.Decoder
	skipped       json.RawMessage
	line, counted int
}

// value reads a value that is wanted, and what is wanted within it.
func (l *liner) value(s *spot) error {
	token, err := l.dec.Token()
	if err != nil {
		return err
	}
	// The token ends here, and strings of JSON have no line breaks.
	end := int(l.dec.InputOffset())
	l.line, l.counted = l.line+bytes.Count(l.doc[l.counted:end], []byte("\n")), end
	s.line = l.line
	open, isOpen := token.(json.Delim)
	if !isOpen {
		return nil
	}
	for i := 0; l.dec.More(); i++ {
		name := strconv.Itoa(i)
		if open == '{' {
			if token, err = l.dec.Token(); err != nil {
				return err
			}
			text, _ := token.(string) // names are
			name = jsonptr.Escape(text)
		}
		if next := s.within[name]; next != nil {
			err = l.value(next)
		} else {
			err = l.dec.Decode(&l.skipped)
		}
		if err != nil {
			return err
		}
	}
	_, err = l.dec.Token()
	return err
}

// number gives each finding of a file its line.
func (c *checker) number(all []*server) {
	files := map[*byte]*spot{} // by their first byte: several servers may stand in one
	var ofServer []*spot
	for _, s := range all {
		var root *spot
		if len(s.doc) > 0 && len(s.doc) <= maxLined {
			if root = files[&s.doc[0]]; root == nil {
				root = new(spot)
				files[&s.doc[0]] = root
			}
		}
		ofServer = append(ofServer, root)
	}
	inFile := func(f *placed) *spot {
		if f.server >= len(ofServer) { // of no server
			return nil
		}
		return ofServer[f.server]
	}
	for i := range c.found {
		if root := inFile(&c.found[i]); root != nil {
			root.want(c.found[i].Pointer)
		}
	}
	for _, s := range all {
		if root := ofServer[s.index]; root != nil && root.line == 0 {
			l := liner{doc: s.doc, dec: json.NewDecoder(bytes.NewReader(s.doc)), line: 1}
			_ = l.value(root) // up to a mistake, the lines are right
		}
	}
	for i := range c.found {
		if root := inFile(&c.found[i]); root != nil {
			c.found[i].Line = root.of(c.found[i].Pointer)
		}
	}
}
