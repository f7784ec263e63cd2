package mutant

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// verbs are the edits with the number of arguments that they take; -1 means
// that the rest of the line is one argument.
var verbs = map[string]struct{ path, text bool }{
	"set": {true, true}, "delete": {path: true}, "copy": {true, true},
	"replace": {text: true}, "text": {text: true}, "drop": {}, "repeat": {},
	"before": {text: true}, "after": {text: true}, "delay": {text: true},
	"fail": {true, true}, "succeed": {text: true},
	"status": {text: true}, "header": {true, true}, "without-header": {path: true},
	"body": {text: true}, "cut": {}, "alias-session": {text: true},
	"field": {true, true}, "without-field": {path: true},
	"flood": {true, true},
	"raw":   {true, true}, "also": {text: true}, "hang": {}, "close": {},
	"param": {true, true}, "member": {true, true}, "without-member": {path: true}, "without-param": {path: true},
	"url": {text: true}, "as": {text: true}, "request": {text: true},
}

func parseSwitch(line string) (Switch, error) {
	var s Switch
	head, tail, ok := strings.Cut(line, ": ")
	if !ok {
		return s, errors.New(`want "DIRECTION KIND METHOD [CONDITIONS]: EDITS"`)
	}
	fields := strings.Fields(head)
	if len(fields) < 3 {
		return s, errors.New("want a direction, a kind and a method before the colon")
	}
	switch fields[0] {
	case "to-server":
		s.ToServer = true
	case "to-client":
	default:
		return s, fmt.Errorf("%q is no direction", fields[0])
	}
	s.Kind, s.Method = fields[1], fields[2]
	if !slices.Contains([]string{"request", "notification", "result", "error", "any", "http", "event", "stream", "end", "signal"}, s.Kind) {
		return s, fmt.Errorf("%q is no kind of message", s.Kind)
	}
	if err := s.conditions(fields[3:]); err != nil {
		return s, err
	}
	for part := range strings.SplitSeq(tail, " ; ") {
		e, err := parseEdit(strings.TrimSpace(part))
		if err != nil {
			return s, err
		}
		s.Edits = append(s.Edits, e)
	}
	return s, nil
}

func (s *Switch) conditions(fields []string) error {
	for len(fields) > 0 {
		switch {
		case fields[0] == "at" && len(fields) > 1:
			s.At, fields = fields[1], fields[2:]
		case fields[0] == "carrying" && len(fields) > 1:
			s.Carrying, fields = fields[1], fields[2:]
		case fields[0] == "once":
			s.Once = true
			fields = fields[1:]
		case fields[0] == "elsewhere":
			s.Elsewhere = true
			fields = fields[1:]
		case fields[0] == "after" && len(fields) > 1:
			s.After = fields[1]
			fields = fields[2:]
		case fields[0] == "without" && len(fields) > 1:
			s.Where = append(s.Where, condition{path: strings.TrimPrefix(fields[1], "/"), none: true})
			fields = fields[2:]
		case fields[0] == "with" && len(fields) > 1:
			s.Where = append(s.Where, condition{path: strings.TrimPrefix(fields[1], "/")})
			fields = fields[2:]
		case fields[0] == "asked-with" && len(fields) > 1:
			s.Where = append(s.Where, condition{path: strings.TrimPrefix(fields[1], "/"), asked: true})
			fields = fields[2:]
		case (fields[0] == "header" || fields[0] == "no-header") && len(fields) > 1:
			s.Heads = append(s.Heads, head{name: fields[1], none: fields[0] == "no-header"})
			fields = fields[2:]
		case fields[0] == "header-is" && len(fields) > 2:
			s.Heads = append(s.Heads, head{name: fields[1], is: fields[2]})
			fields = fields[3:]
		case (fields[0] == "status" || fields[0] == "skip") && len(fields) > 1:
			if err := s.number(fields[0], fields[1]); err != nil {
				return err
			}
			fields = fields[2:]
		case (fields[0] == "where" || fields[0] == "asked") && len(fields) > 2:
			want, err := peer.Decode([]byte(fields[2]))
			if err != nil {
				return fmt.Errorf("%q is not JSON without spaces: %w", fields[2], err)
			}
			s.Where = append(s.Where, condition{path: strings.TrimPrefix(fields[1], "/"), want: want, null: want == nil, asked: fields[0] == "asked"})
			fields = fields[3:]
		default:
			return fmt.Errorf("%q is no condition: use once, skip N, elsewhere, after METHOD, with POINTER, without POINTER, where POINTER JSON, asked POINTER JSON, header NAME, no-header NAME, header-is NAME VALUE, status CODE", fields[0])
		}
	}
	return nil
}

// number sets a condition that is a number.
func (s *Switch) number(name, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if name == "skip" {
		s.Skip = n
	} else {
		s.Status = n
	}
	return nil
}

func parseEdit(text string) (edit, error) {
	verb, rest, _ := strings.Cut(text, " ")
	takes, ok := verbs[verb]
	if !ok {
		return edit{}, fmt.Errorf("%q is no edit", verb)
	}
	e := edit{verb: verb, text: rest}
	if takes.path {
		e.path, e.text, _ = strings.Cut(rest, " ")
		e.path = strings.TrimPrefix(e.path, "/")
	}
	return e, e.check(takes.text)
}

func (e *edit) check(text bool) error {
	if !text && e.text != "" {
		return fmt.Errorf("%s takes no %q", e.verb, e.text)
	}
	switch e.verb {
	case "set", "member", "replace", "before", "after", "succeed":
		if !json.Valid([]byte(e.text)) {
			return fmt.Errorf("%s: %q is not JSON", e.verb, e.text)
		}
	case "raw":
		_, err := strconv.Unquote(e.text)
		return err
	case "request":
		if len(strings.Fields(e.text)) < 2 {
			return errors.New("request: want an HTTP method and a URL")
		}
	case "flood":
		_, err := strconv.Atoi(e.text)
		return err
	case "delay":
		_, err := time.ParseDuration(e.text)
		return err
	}
	return nil
}
