// Host tries the conversions of client/host on the types that the vendors publish for
// their APIs: what ours write, theirs read, and the other way round. It writes a line of
// JSON for each check. See ../README.md.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
)

// checks are what is tried of each API.
var checks = []struct {
	api, check string
	run        func() error
}{
	{"Anthropic Messages", "request", messagesRequest},
	{"Anthropic Messages", "response", messagesResponse},
	{"Anthropic Messages", "tools", messagesTools},
	{"Anthropic Messages", "results", messagesResults},
	{"OpenAI Responses", "request", responsesRequest},
	{"OpenAI Responses", "response", responsesResponse},
	{"OpenAI Responses", "tools", responsesTools},
	{"OpenAI Responses", "results", responsesResults},
	{"OpenAI Chat Completions", "request", chatRequest},
	{"OpenAI Chat Completions", "response", chatResponse},
	{"OpenAI Chat Completions", "tools", chatTools},
	{"OpenAI Chat Completions", "results", chatResults},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: host FOLDER")
		os.Exit(2)
	}
	out := json.NewEncoder(os.Stdout)
	for _, c := range checks {
		line := map[string]string{"api": c.api, "check": c.check}
		if err := c.run(); err != nil {
			line["error"] = err.Error()
		}
		if err := out.Encode(line); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// recorded reads a file with what was recorded of an API; the argument of this program is
// the folder client/host.
func recorded(file string) ([]byte, error) {
	return os.ReadFile(filepath.Join(os.Args[1], filepath.FromSlash(file)))
}

// through has a value of the vendor's read a recorded request, and compares what it writes
// of it.
func through[T any](file string) (*T, error) {
	doc, err := recorded(file)
	if err != nil {
		return nil, err
	}
	theirs := new(T)
	if err := json.Unmarshal(doc, theirs); err != nil {
		return nil, fmt.Errorf("%T does not read it: %w", theirs, err)
	}
	back, err := json.Marshal(theirs)
	if err != nil {
		return nil, err
	}
	return theirs, same(back, doc)
}

// into has ours read what a value of the vendor's writes.
func into[T any](theirs any) (ours T, err error) {
	doc, err := json.Marshal(theirs)
	if err != nil {
		return ours, err
	}
	return ours, json.Unmarshal(doc, &ours)
}

// same compares two documents.
func same(got, want []byte) error {
	var a, b any // numbers are float64, as in their types
	if err := json.Unmarshal(got, &a); err != nil {
		return err
	}
	if err := json.Unmarshal(want, &b); err != nil {
		return err
	}
	if at := differs("", a, b); at != "" {
		return fmt.Errorf("it differs at %s", at)
	}
	return nil
}

// differs returns where two values differ first; "" if they do not. A member that is null
// is as one that is missing: their types write neither.
func differs(at string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return at
		}
		for name := range a {
			if d := differs(at+"/"+name, a[name], b[name]); d != "" {
				return d
			}
		}
		for name := range b {
			if a[name] == nil && b[name] != nil {
				return fmt.Sprintf("%s/%s, which is missing", at, name)
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return at
		}
		for i := range a {
			if d := differs(fmt.Sprintf("%s/%d", at, i), a[i], b[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if a == b {
		return ""
	}
	return fmt.Sprintf("%s (%v, not %v)", at, a, b)
}

func equal(got, want any) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("it is %+v, not %+v", got, want)
	}
	return nil
}
