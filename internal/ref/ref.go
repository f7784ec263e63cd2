// Package ref reads the references in the texts of configuration files that name servers:
// ${NAME}, ${env:NAME} and ${NAME:-TEXT}, as most programs write them, and what else stands
// in ${…}.
package ref

import (
	"fmt"
	"strings"
)

// Replace replaces the references in a text by what one returns for each, which gets what
// stands between the braces. It ends with the first error.
func Replace(text string, one func(ref string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, rest, ends := strings.Cut(after, "}")
		if !ends {
			return "", fmt.Errorf("the reference ${%s has no end", after)
		}
		value, err := one(name)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = rest
	}
}

// Parts returns the parts of a reference to a variable: its name, and what it is if it is
// not set.
func Parts(ref string) (name, preset string, hasPreset bool, err error) {
	name, preset, hasPreset = strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
	if name == "" || strings.ContainsAny(name, ": =") {
		err = fmt.Errorf("${%s} is no reference that parley knows", ref)
	}
	return name, preset, hasPreset, err
}

// Variable returns what a reference to a variable stands for.
func Variable(ref string, lookup func(name string) (string, bool)) (string, error) {
	name, preset, hasPreset, err := Parts(ref)
	if err != nil {
		return "", err
	}
	if value, ok := lookup(name); ok && (value != "" || !hasPreset) {
		return value, nil
	}
	if !hasPreset {
		return "", fmt.Errorf("the variable %s is not set; set it, or give a default in the file, as ${%s:-…}", name, name)
	}
	return preset, nil
}
