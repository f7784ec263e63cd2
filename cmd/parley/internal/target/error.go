package target

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a mistake in a configuration file.
type Error struct {
	File string
	// Line and Column count from 1, columns in characters. They are 0 if the
	// mistake is in the file as a whole.
	Line, Column int
	// Member names the member, for example "mcpServers.github.args[1]"; "" if none.
	Member string
	Err    error
}

// Error returns "FILE:LINE:COLUMN: MEMBER: what is wrong".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Member != "" {
		b.WriteString(e.Member + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Mistakef returns a mistake at the place of an entry.
func (e *Entry) Mistakef(format string, args ...any) *Error { return e.at.mistakef(format, args...) }

// place is where something stands in a file.
type place struct {
	file   *File
	offset int
	member string
}

// errorf returns a mistake at a place, as any other error.
func (p place) errorf(format string, args ...any) error { return p.mistakef(format, args...) }

func (p place) mistakef(format string, args ...any) *Error {
	e := &Error{File: p.file.Path, Member: p.member, Err: fmt.Errorf(format, args...)}
	if p.offset >= 0 && p.offset <= len(p.file.text) {
		before := p.file.text[:p.offset]
		e.Line = strings.Count(before, "\n") + 1
		e.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	}
	return e
}

// in returns the place of a member of what is at p.
func (p place) in(name string, offset int) place {
	if p.member != "" {
		name = p.member + "." + name
	}
	return place{p.file, offset, name}
}
