package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// maxFile bounds a configuration file. Some programs keep their history in theirs.
const maxFile = 32 << 20

// File is a configuration file that names servers.
type File struct {
	Path string
	// Entries are in the order of the file.
	Entries []*Entry

	text   string
	inputs map[string]*Input
	strict bool // an unknown member of an entry is a mistake
}

// Entry is a server in a configuration file.
type Entry struct {
	Name string
	File *File
	// Disabled says that the program that the file is for does not use the server.
	Disabled bool
	// Tools are those that the program uses, and NoTools those that it does not; nil is all,
	// and none.
	Tools, NoTools []string
	// Beyond are members about what the program does with the server, and nobody else.
	Beyond []*Error
	// Err says why the entry cannot be used; nil if it can.
	Err error

	at                                  place
	url, command, dir, envFile, version text
	kind                                text // the transport
	args                                []text
	env, headers                        []setting
}

// text is a string of a file, in which references are not yet replaced.
type text struct {
	place
	s string
}

// setting is a variable or a header.
type setting struct {
	name  string
	value text
}

// Read reads a configuration file: one with "mcpServers" (Claude, Cursor and most
// others), one with "servers" (VS Code), or the settings of VS Code. All may have
// comments and trailing commas. A file named parley.json may have no members that
// this package does not know; in those of other programs they are ignored.
//
// The error is about the file as a whole. What is wrong with one of its servers is
// in Entry.Err. folder is the folder whose entries to read from a file that has
// entries by folder, as Claude Code's has.
func Read(path, folder string) (*File, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, &Error{File: path, Err: err}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // editors on Windows write it
	f := &File{Path: path, text: string(data), inputs: map[string]*Input{}, strict: filepath.Base(path) == ownName}
	doc, err := hujson.Parse(data)
	if err != nil {
		return nil, f.syntaxError(err)
	}
	root, ok := doc.Value.(*hujson.Object)
	if !ok {
		return nil, f.at(doc.StartOffset).errorf("this is not an object with the member mcpServers or servers")
	}
	return f, f.read(root, folder)
}

func readBounded(path string) ([]byte, error) {
	r, err := os.Open(path) //nolint:gosec // reading the file the user names is the purpose
	if err != nil {
		return nil, bare(err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("the file is larger than %d MiB", maxFile>>20)
	}
	return data, bare(err)
}

// bare removes the path from an error, where it stands already.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (f *File) at(offset int) place { return place{file: f, offset: offset} }

var syntaxAt = regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)

// syntaxError gives a mistake in the JSON the same form as all others.
func (f *File) syntaxError(err error) error {
	e := &Error{File: f.Path, Err: err}
	if m := syntaxAt.FindStringSubmatch(err.Error()); m != nil {
		e.Line, _ = strconv.Atoi(m[1])   // digits
		e.Column, _ = strconv.Atoi(m[2]) // digits
		e.Err = errors.New("this is not JSON: " + strings.TrimPrefix(err.Error(), m[0]))
	}
	return e
}

// read finds the lists of servers, wherever programs keep them.
func (f *File) read(root *hujson.Object, folder string) error {
	found := false
	err := f.members(root, f.at(0), func(name string, at place, v hujson.Value) error {
		switch name {
		case "mcpServers", "servers":
			found = true
			return f.servers(at, v)
		case "mcp": // VS Code's settings.json
			inner, ok := v.Value.(*hujson.Object)
			if !ok {
				return nil
			}
			return f.members(inner, at, func(name string, at place, v hujson.Value) error {
				switch name {
				case "servers":
					found = true
					return f.servers(at, v)
				case "inputs":
					return f.readInputs(at, v)
				}
				return nil
			})
		case "inputs":
			return f.readInputs(at, v)
		case "projects": // Claude Code's ~/.claude.json
			found = true
			return f.project(at, v, folder)
		case "$schema":
			return nil
		}
		if f.strict {
			return at.errorf("there is no such member; there are mcpServers and inputs")
		}
		return nil
	})
	if err == nil && !found && f.strict {
		err = f.at(0).errorf("the member mcpServers is missing")
	}
	return err
}

// project reads the servers of one folder.
func (f *File) project(at place, v hujson.Value, folder string) error {
	projects, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	return f.members(projects, at, func(name string, at place, v hujson.Value) error {
		own, ok := v.Value.(*hujson.Object)
		if !ok || filepath.ToSlash(name) != filepath.ToSlash(folder) {
			return nil
		}
		return f.members(own, at, func(name string, at place, v hujson.Value) error {
			if name == "mcpServers" {
				return f.servers(at, v)
			}
			return nil
		})
	})
}

// servers reads a list of servers.
func (f *File) servers(at place, v hujson.Value) error {
	list, ok := v.Value.(*hujson.Object)
	if !ok {
		return at.errorf("this is not an object with a member for each server")
	}
	return f.members(list, at, func(name string, at place, v hujson.Value) error {
		if f.find(name) != nil {
			return at.errorf("the file names this server twice")
		}
		e := &Entry{Name: name, File: f, at: at}
		e.Err = e.read(v)
		f.Entries = append(f.Entries, e)
		return nil
	})
}

func (f *File) find(name string) *Entry {
	for _, e := range f.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Only returns the entry of a file that has just one.
func (f *File) Only() (*Entry, error) {
	if len(f.Entries) == 1 {
		return f.Entries[0], nil
	}
	return nil, &Error{File: f.Path, Err: fmt.Errorf("it names %d servers; choose one with --server NAME%s", len(f.Entries), known([]Found{{File: f}}))}
}

// members calls each with the members of an object, and refuses duplicates.
func (f *File) members(o *hujson.Object, at place, each func(name string, at place, v hujson.Value) error) error {
	seen := make(map[string]bool, len(o.Members))
	for _, m := range o.Members {
		literal, _ := m.Name.Value.(hujson.Literal) // a name always is one
		name := literal.String()
		member := at.in(name, m.Value.StartOffset)
		if seen[name] {
			return member.errorf("the member stands here twice")
		}
		seen[name] = true
		if err := each(name, member, m.Value); err != nil {
			return err
		}
	}
	return nil
}
