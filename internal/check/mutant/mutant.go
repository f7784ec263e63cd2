// Package mutant makes faulty peers out of good ones: switches at the wire that
// change what passes. Which faults there are is data: see Parse for the form.
package mutant

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// Mutant is a peer with one fault.
type Mutant struct {
	// Place is the file and line that it was read from.
	Place string
	// Row is the requirement that it breaks.
	Row string
	// Revision and Transport say where it is tried: stdio, http or http+sse.
	Revision, Transport string
	// Scenario is the one to be run, of a client's; "" means the usual one.
	Scenario string
	// Only is set if it has its fault in that scenario only, of all that are run.
	Only bool
	// Switches change what passes.
	Switches []Switch
}

// Switch changes the messages, or HTTP heads, that match.
type Switch struct {
	ToServer bool   // else to the client
	Kind     string // request, notification, result, error, any, http, event, stream, end, signal
	Method   string // of the message, or of the request that it answers; "*" is all
	Where    []condition
	Heads    []head
	Status   int    // that of the HTTP response, if it matters
	At       string // the path of the HTTP request, "" is any
	Carrying string // what is in its URL, its headers or its body
	Skip     int    // how many that match are left alone first
	Once     bool   // only one of those that match
	// After is a method that must have gone to the server before, on the same
	// connection; Elsewhere leaves the first connection alone.
	After     string
	Elsewhere bool
	Edits     []edit
}

// head is a header that the HTTP request must have, or must not.
type head struct {
	name string
	none bool
	is   string // its value, if that matters
}

// condition is a JSON pointer, without the slash in front, and the JSON that
// must be there; nil means anything.
type condition struct {
	path  string
	want  any
	none  bool // nothing may be there
	null  bool // null must be there
	asked bool // in the request that the message answers
}

// edit is a verb and its arguments.
type edit struct {
	verb string
	path string
	text string // JSON, a header's value, a duration
}

// Parse reads a list of mutants. A mutant is a line
//
//	ROW REVISION TRANSPORT [[only:]SCENARIO]
//
// followed by indented lines, each a switch:
//
//	to-client result tools/list: set /result/tools/0/name ""
//
// That is a direction (to-client or to-server), what is changed (request,
// notification, result, error, any; http for the head of an HTTP request or
// response; event for the fields of an event, stream for an event stream as a
// whole, end for the end of a process's input, signal for what a process is ended by:
// terminate or kill), a method or *, conditions, and after a colon edits, divided by " ; ".
//
// The method is that of the request, for answers; for HTTP that of the message
// that the request carries, or that of HTTP if there is none. Conditions are
//
//	where POINTER JSON    with POINTER           without POINTER
//	asked-with POINTER
//	asked POINTER JSON    header NAME            no-header NAME
//	header-is NAME VALUE  status CODE            after METHOD
//	elsewhere             once                   skip N
//	at PATH               carrying TEXT
//
// of the message, the request that it answers, the HTTP request and the HTTP
// response; "after" wants a method to have gone to the server before, "elsewhere"
// leaves the first connection alone, "once" changes only one message, and "skip"
// leaves the first ones alone; "at" is the path of the HTTP request, and
// "carrying" what is in its URL, headers or body. Edits of messages are
//
//	set POINTER JSON      delete POINTER        copy POINTER POINTER
//	replace JSON          text ANYTHING         raw OLD "QUOTED"
//	drop                  repeat                before JSON
//	after JSON            delay DURATION        fail CODE MESSAGE
//	succeed JSON          also METHOD (puts it on the open stream for that, too)
//	close (ends the process that is spoken to over lines)
//	flood POINTER N (repeats it N times, with a number that grows)
//
// "$id" in JSON is the ID of the message, "$method" its method, "$/path" whatever
// is there, and "$asked/path" what is there in the request that it answers. Edits of heads, of events, and of streams are
//
//	status CODE           header NAME VALUE     without-header NAME
//	body TEXT             body "QUOTED"         cut
//	alias-session count   alias-session PREFIX
//	field NAME VALUE      without-field NAME    drop
//	hang (it does not end after its last event; of an end or a signal, drop)
//	member POINTER JSON   without-member POINTER (of a body that is JSON)
//	param NAME VALUE      without-param NAME (of the URL or form of a request, or
//	of the URL in Location)
//	url URL               as HTTP-METHOD        request HTTP-METHOD URL [HEADER VALUE]
//
// The last three are for requests: they send one elsewhere, with another HTTP
// method, or one more without a body before it; and the status of a request
// keeps it from the server and is what the client gets.
//
// Whatever stands after a # at the beginning of a line is a comment.
func Parse(name, text string) ([]*Mutant, error) {
	var all []*Mutant
	var errs []error
	scanner := bufio.NewScanner(strings.NewReader(text))
	scanner.Buffer(nil, 1<<20)
	for n := 1; scanner.Scan(); n++ {
		line := scanner.Text()
		place := fmt.Sprintf("%s:%d", name, n)
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case line[0] != ' ' && line[0] != '\t':
			fields := strings.Fields(line)
			if len(fields) < 3 || len(fields) > 4 {
				errs = append(errs, fmt.Errorf("%s: want ROW REVISION TRANSPORT [SCENARIO]", place))
				continue
			}
			m := &Mutant{Place: place, Row: fields[0], Revision: fields[1], Transport: fields[2]}
			if len(fields) == 4 {
				m.Scenario, m.Only = strings.CutPrefix(fields[3], "only:")
			}
			all = append(all, m)
		case len(all) == 0:
			errs = append(errs, fmt.Errorf("%s: a switch before any mutant", place))
		default:
			s, err := parseSwitch(strings.TrimSpace(line))
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", place, err))
				continue
			}
			last := all[len(all)-1]
			last.Switches = append(last.Switches, s)
		}
	}
	for _, m := range all {
		if len(m.Switches) == 0 {
			errs = append(errs, fmt.Errorf("%s: a mutant without a switch", m.Place))
		}
	}
	return all, errors.Join(append(errs, scanner.Err())...)
}
