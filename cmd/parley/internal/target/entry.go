package target

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// read reads what a file says about a server.
func (e *Entry) read(v hujson.Value) error {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return e.at.errorf("this is not an object")
	}
	if err := e.File.members(o, e.at, e.member); err != nil {
		return err
	}
	return e.check()
}

// member reads one member. The names are those of the most common programs.
func (e *Entry) member(name string, at place, v hujson.Value) (err error) {
	switch name {
	case "url":
		e.url, err = readText(at, v)
	case "command":
		e.command, err = readText(at, v)
	case "cwd":
		e.dir, err = readText(at, v)
	case "envFile":
		e.envFile, err = readText(at, v)
	case "revision":
		e.version, err = readText(at, v)
	case "type", "transport":
		e.kind, err = readText(at, v)
	case "args":
		e.args, err = readList(at, v)
	case "env":
		e.env, err = e.settings(at, v)
	case "headers":
		e.headers, err = e.settings(at, v)
	case "disabled":
		literal, _ := v.Value.(hujson.Literal)
		e.Disabled = literal.Bool()
	default:
		if e.File.strict {
			return at.errorf("there is no such member; there are url, command, args, env, envFile, cwd, headers, revision, type, disabled")
		}
		return e.usage(name, at, v)
	}
	return err
}

// check refuses entries that say nothing, or contradict themselves.
func (e *Entry) check() error {
	switch {
	case e.url.s != "" && e.command.s != "":
		return e.url.errorf("there is a command, too; a server has either a url or a command")
	case e.url.s == "" && e.command.s == "":
		return e.at.errorf("it has neither a url nor a command")
	}
	switch kind := e.kind.s; kind {
	case "":
	case "stdio":
		if e.url.s != "" {
			return e.kind.errorf("%q is for a command, but there is a url", kind)
		}
	case "http", "sse", "streamable-http", "streamableHttp":
		if e.url.s == "" {
			return e.kind.errorf("%q needs a url", kind)
		}
	default:
		return e.kind.errorf("%q is no known transport; there are stdio, http and sse", kind)
	}
	return nil
}

func readText(at place, v hujson.Value) (text, error) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return text{}, at.errorf("this is not a text")
	}
	return text{at, literal.String()}, nil
}

func readList(at place, v hujson.Value) ([]text, error) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, at.errorf("this is not a list")
	}
	texts := make([]text, 0, len(list.Elements))
	for i, element := range list.Elements {
		item, err := readText(place{at.file, element.StartOffset, fmt.Sprintf("%s[%d]", at.member, i)}, element)
		if err != nil {
			return nil, err
		}
		texts = append(texts, item)
	}
	return texts, nil
}

// settings reads variables or headers. Some programs allow numbers and booleans as
// values, and null for none.
func (e *Entry) settings(at place, v hujson.Value) ([]setting, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, at.errorf("this is not an object")
	}
	var list []setting
	err := e.File.members(o, at, func(name string, at place, v hujson.Value) error {
		literal, ok := v.Value.(hujson.Literal)
		switch {
		case !ok:
			return at.errorf("this is not a text")
		case name == "" || strings.ContainsAny(name, "=\x00\r\n"):
			return at.errorf("this cannot be a name")
		case literal.Kind() != 'n':
			list = append(list, setting{name, text{at, literal.String()}})
		}
		return nil
	})
	return list, err
}

// readInputs reads what a file leaves to the user.
func (f *File) readInputs(at place, v hujson.Value) error {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return at.errorf("this is not a list")
	}
	for i, element := range list.Elements {
		at := place{f, element.StartOffset, fmt.Sprintf("%s[%d]", at.member, i)}
		o, ok := element.Value.(*hujson.Object)
		if !ok {
			return at.errorf("this is not an object")
		}
		in := new(Input)
		if err := f.members(o, at, in.member); err != nil {
			return err
		}
		if in.ID == "" {
			return at.errorf("it has no id")
		}
		f.inputs[in.ID] = in
	}
	return nil
}

func (in *Input) member(name string, at place, v hujson.Value) (err error) {
	literal, _ := v.Value.(hujson.Literal)
	switch name {
	case "id":
		in.ID = literal.String()
	case "description":
		in.Description = literal.String()
	case "default":
		in.Default = literal.String()
	case "password":
		in.Password = literal.Bool()
	case "options":
		var options []text
		if options, err = readList(at, v); err == nil {
			for _, o := range options {
				in.Options = append(in.Options, o.s)
			}
		}
	}
	return err
}

// same reports whether two entries, of two files, say the same.
func (e *Entry) same(other *Entry) bool {
	texts := func(a, b text) bool { return a.s == b.s }
	settings := func(a, b setting) bool { return a.name == b.name && a.value.s == b.value.s }
	return texts(e.url, other.url) && texts(e.command, other.command) && texts(e.dir, other.dir) &&
		texts(e.envFile, other.envFile) && texts(e.version, other.version) &&
		slices.EqualFunc(e.args, other.args, texts) &&
		slices.EqualFunc(e.env, other.env, settings) && slices.EqualFunc(e.headers, other.headers, settings)
}
