package target

import (
	"errors"

	"github.com/tailscale/hujson"
)

// errOwnApproval is about members that no one else can honour.
var errOwnApproval = errors.New("this is about when the other program asks its user, and has no effect here")

// usage reads a member that says how a program uses the server: which of its tools, as those
// of Cline, Roo Code, Kilo Code, Windsurf and Kiro do with disabledTools, those of Gemini CLI
// with includeTools and excludeTools, those of Copilot with tools, and others with
// allowedTools.
func (e *Entry) usage(name string, at place, v hujson.Value) error {
	literal, _ := v.Value.(hujson.Literal)
	list, isList := v.Value.(*hujson.Array)
	switch name {
	case "enabled":
		e.Disabled = e.Disabled || literal.Kind() == 'f'
	case "disabledTools", "excludeTools":
		return readNames(at, v, &e.NoTools)
	case "includeTools", "allowedTools":
		return readNames(at, v, &e.Tools)
	case "tools":
		if isList { // in the files of others, it is something else
			return readNames(at, v, &e.Tools)
		}
	case "alwaysAllow", "autoApprove", "trust":
		if isList && len(list.Elements) > 0 || literal.Kind() == 't' {
			e.Beyond = append(e.Beyond, at.mistakef("%w", errOwnApproval))
		}
	}
	return nil
}

// readNames adds the names of a list.
func readNames(at place, v hujson.Value, into *[]string) error {
	list, err := readList(at, v)
	if err != nil {
		return err
	}
	if *into == nil {
		*into = []string{}
	}
	for _, name := range list {
		*into = append(*into, name.s)
	}
	return nil
}
