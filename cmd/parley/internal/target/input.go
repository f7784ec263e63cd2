package target

import (
	"fmt"
	"slices"
	"strings"
)

// Input is a value that a configuration file leaves to the user.
type Input struct {
	ID, Description string
	Password        bool     // it must not be shown
	Options         []string // the only values, if there are any
	Default         string
}

// InputVariable returns the name of the variable that has the value of an input.
func InputVariable(id string) string {
	return "PARLEY_INPUT_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, id)
}

// InputError says why there is no value for an input.
type InputError struct{ ID, Why string }

// Error says why.
func (e *InputError) Error() string { return e.Why }

// Answers answers for a user who has given values before, by the IDs of the inputs. As in
// a form, an empty value stands for the default.
func Answers(given map[string]string) func(*Input) (string, error) {
	return func(in *Input) (string, error) {
		value := given[in.ID]
		if value == "" {
			value = in.Default
		}
		switch {
		case value == "":
			return "", &InputError{in.ID, "give it a value"}
		case len(in.Options) > 0 && !slices.Contains(in.Options, value):
			return "", &InputError{in.ID, fmt.Sprintf("%q is none of its values: %s", value, strings.Join(in.Options, ", "))}
		}
		return value, nil
	}
}

// input returns what a file says about an input. One of which it says nothing may be a
// secret.
func (f *File) input(id string) *Input {
	if in := f.inputs[id]; in != nil {
		return in
	}
	return &Input{ID: id, Password: true}
}

// Inputs returns the inputs that an entry refers to, in the order in which they would be
// asked for.
func (e *Entry) Inputs() []*Input {
	var list []*Input
	r := resolver{file: e.File}
	for _, t := range e.texts() {
		r.replace(t, func(ref string) (string, error) {
			id, ok := strings.CutPrefix(ref, "input:")
			if ok && !slices.ContainsFunc(list, func(in *Input) bool { return in.ID == id }) {
				list = append(list, e.File.input(id))
			}
			return "", nil
		})
	}
	return list
}

// texts are what may have references.
func (e *Entry) texts() []text {
	list := append([]text{e.url, e.dir, e.command}, e.args...)
	list = append(list, e.envFile)
	for _, s := range slices.Concat(e.env, e.headers) {
		list = append(list, s.value)
	}
	return append(list, e.version)
}
